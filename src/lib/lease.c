/*
 * lease.c - the requests for a Lease. All writes of this library are here: POST and PUT of that object.
 *
 * Normal path: GET, then PUT of the same JSON with some fields replaced; its resourceVersion makes the
 * server refuse it if another client was faster. A response that is not a Lease is an error. Nothing is
 * retried.
 */
#include "informer/lease.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/timestamp.h"
#include "lib/request.h"

#define NOTE_KEY "informerd/positions"

enum {
    LEASE_NAME_MAX = 253, /* LIMIT: of Kubernetes */
};

struct lease_request {
    struct request request;
    inf_lease_cb *on_done;
    const char *json; /* valid during the report */
    yyjson_doc *doc;  /* of the response */
    struct inf_lease lease;
};

/* ---- reading ---- */

static const char *text_at(yyjson_val *object, const char *field)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, field));
    return text ? text : "";
}

static uint32_t number_at(yyjson_val *object, const char *field)
{
    int64_t value = yyjson_get_sint(yyjson_obj_get(object, field));
    return value > 0 && value <= INT32_MAX ? (uint32_t)value : 0;
}

static int64_t time_at(yyjson_val *object, const char *field)
{
    int64_t us;
    return timestamp_parse(text_at(object, field), &us) == 0 ? us : 0;
}

static bool read_lease(yyjson_val *root, struct inf_lease *ret)
{
    yyjson_val *metadata = yyjson_obj_get(root, "metadata"), *spec = yyjson_obj_get(root, "spec");
    *ret = (struct inf_lease){
        .version = text_at(metadata, "resourceVersion"),
        .holder = text_at(spec, "holderIdentity"),
        .duration_s = number_at(spec, "leaseDurationSeconds"),
        .transitions = number_at(spec, "leaseTransitions"),
        .acquired_us = time_at(spec, "acquireTime"),
        .renewed_us = time_at(spec, "renewTime"),
        .note = text_at(yyjson_obj_get(metadata, "annotations"), NOTE_KEY),
    };
    return strcmp(text_at(root, "kind"), "Lease") == 0 && ret->version[0];
}

/* ---- writing ---- */

static yyjson_mut_val *object_at(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *field)
{
    yyjson_mut_val *object = yyjson_mut_obj_get(parent, field);
    if (yyjson_mut_is_obj(object))
        return object;
    yyjson_mut_obj_remove_key(parent, field);
    return yyjson_mut_obj_add_obj(doc, parent, field);
}

static void put_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *field,
                     const char *text)
{
    yyjson_mut_obj_put(object, yyjson_mut_str(doc, field), yyjson_mut_strcpy(doc, text));
}

static void put_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *field,
                       uint32_t value)
{
    yyjson_mut_obj_put(object, yyjson_mut_str(doc, field), yyjson_mut_uint(doc, value));
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *field, int64_t us)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(us, time);
    put_text(doc, object, field, time);
}

/* @doc is the Lease as it was. Returns the text of the new one; the caller frees it. */
static char *write_lease(yyjson_mut_doc *doc, const struct inf_lease *lease)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *spec = object_at(doc, root, "spec");
    put_text(doc, spec, "holderIdentity", lease->holder);
    put_number(doc, spec, "leaseDurationSeconds", lease->duration_s);
    put_number(doc, spec, "leaseTransitions", lease->transitions);
    put_time(doc, spec, "acquireTime", lease->acquired_us);
    put_time(doc, spec, "renewTime", lease->renewed_us);
    if (lease->note)
        put_text(doc, object_at(doc, object_at(doc, root, "metadata"), "annotations"), NOTE_KEY,
                 lease->note);
    return yyjson_mut_write(doc, 0, NULL);
}

static char *make_lease(const char *ns, const char *name, const struct inf_lease *lease)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc), *metadata;
    char *text;
    yyjson_mut_doc_set_root(doc, root);
    put_text(doc, root, "apiVersion", "coordination.k8s.io/v1");
    put_text(doc, root, "kind", "Lease");
    metadata = object_at(doc, root, "metadata");
    put_text(doc, metadata, "name", name);
    put_text(doc, metadata, "namespace", ns);
    text = write_lease(doc, lease);
    yyjson_mut_doc_free(doc);
    return text;
}

/* NULL: @json is not a Lease. */
static char *change_lease(const char *json, const struct inf_lease *lease)
{
    yyjson_doc *before = yyjson_read(json, strlen(json), 0);
    yyjson_mut_doc *doc;
    struct inf_lease read;
    char *text = NULL;
    if (before && read_lease(yyjson_doc_get_root(before), &read)) {
        doc = yyjson_doc_mut_copy(before, NULL);
        text = write_lease(doc, lease);
        yyjson_mut_doc_free(doc);
    }
    yyjson_doc_free(before);
    return text;
}

/* ---- the request ---- */

static void lease_report(struct request *request, const struct inf_error *why)
{
    struct lease_request *r = container_of(request, struct lease_request, request);
    r->on_done(request->user, why ? NULL : &r->lease, why ? NULL : r->json, why);
}

static void lease_on_end(struct document *document, const char *text, const struct inf_error *why)
{
    struct lease_request *r = container_of(document, struct lease_request, request.document);
    struct inf_error other;
    if (!text) {
        request_end(&r->request, why);
        return;
    }
    r->json = text;
    r->doc = yyjson_read(text, strlen(text), 0);
    if (read_lease(yyjson_doc_get_root(r->doc), &r->lease)) {
        request_end(&r->request, NULL);
        return;
    }
    err_set(&other, INF_EDECODE, "the server sent something else than a Lease");
    request_end(&r->request, &other);
}

static void lease_stop(struct request *request)
{
    (void)request; /* only the document is in progress */
}

static void lease_free(struct request *request)
{
    struct lease_request *r = container_of(request, struct lease_request, request);
    yyjson_doc_free(r->doc);
    free(r);
}

static const struct request_ops lease_ops = {
    .stop = lease_stop, .report = lease_report, .free = lease_free};

/* A name of Kubernetes: what it consists of needs no escaping in a path. */
static bool is_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.");
    return len && len <= LEASE_NAME_MAX && !name[len] && name[0] != '.';
}

/* @name "": the collection. Frees @body, which is NULL for GET. */
static int send_request(struct inf_client *client, struct inf_request *user, const char *ns,
                        const char *name, const char *method, char *body, inf_lease_cb *on_done)
{
    struct lease_request *r = NEW(struct lease_request);
    int rc = request_start(&r->request, &lease_ops, client, user);
    char *path;
    if (rc == 0) {
        path = xasprintf("/apis/coordination.k8s.io/v1/namespaces/%s/leases%s%s", ns,
                         name[0] ? "/" : "", name);
        r->on_done = on_done;
        r->request.document.method = method;
        r->request.document.on_end = lease_on_end;
        document_start(&r->request.document, &client->server, path, body);
        free(path);
    }
    free(body);
    return rc;
}

int inf_lease_get(struct inf_client *client, struct inf_request *request, const char *ns,
                  const char *name, inf_lease_cb *on_done)
{
    if (!is_name(ns) || !is_name(name))
        return -INF_EINVAL;
    return send_request(client, request, ns, name, NULL, NULL, on_done);
}

static bool is_writable(const char *ns, const char *name, const struct inf_lease *lease)
{
    return is_name(ns) && is_name(name) && lease->duration_s &&
           (!lease->note || strlen(lease->note) <= INF_LEASE_NOTE_MAX);
}

int inf_lease_create(struct inf_client *client, struct inf_request *request, const char *ns,
                     const char *name, const struct inf_lease *lease, inf_lease_cb *on_done)
{
    if (!is_writable(ns, name, lease))
        return -INF_EINVAL;
    return send_request(client, request, ns, "", "POST", make_lease(ns, name, lease), on_done);
}

int inf_lease_update(struct inf_client *client, struct inf_request *request, const char *ns,
                     const char *name, const char *json, const struct inf_lease *lease,
                     inf_lease_cb *on_done)
{
    char *body = is_writable(ns, name, lease) ? change_lease(json, lease) : NULL;
    if (!body)
        return -INF_EINVAL;
    return send_request(client, request, ns, name, "PUT", body, on_done);
}
