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

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/discovery/lease_json.h"
#include "lib/request.h"

enum {
    LEASE_NAME_MAX = 253, /* LIMIT: of Kubernetes */
};

struct lease_request {
    struct request request;
    inf_lease_cb *on_done;
    const char *json; /* valid during the report */
    struct lease_json response;
};

/* ---- the request ---- */

static void lease_report(struct request *request, const struct inf_error *why)
{
    struct lease_request *r = container_of(request, struct lease_request, request);
    r->on_done(request->user, why ? NULL : &r->response.lease, why ? NULL : r->json, why);
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
    if (lease_json_read(text, &r->response)) {
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
    lease_json_free(&r->response);
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
    return send_request(client, request, ns, "", "POST", lease_json_make(ns, name, lease), on_done);
}

int inf_lease_update(struct inf_client *client, struct inf_request *request, const char *ns,
                     const char *name, const char *json, const struct inf_lease *lease,
                     inf_lease_cb *on_done)
{
    char *body = is_writable(ns, name, lease) ? lease_json_change(json, lease) : NULL;
    if (!body)
        return -INF_EINVAL;
    return send_request(client, request, ns, name, "PUT", body, on_done);
}
