/*
 * access.c - resolves a resource name and checks our permissions for it.
 *
 * Normal path: the name is looked up by discovery, then one SelfSubjectAccessReview is posted for
 * `list` and one for `watch`. If discovery is forbidden to us, names that need no lookup (group and
 * version given, or core group) still work, without a kind. Any other failure is reported as it is;
 * nothing is retried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/discovery/lookup.h"
#include "kube/discovery/self_review.h"
#include "lib/request.h"

static const char *const verbs[] = {"list", "watch"};

struct access {
    struct request request;
    inf_access_cb *on_done;
    char *ns; /* NULL: all */
    struct resource_name wanted;
    bool only_resource;
    struct lookup lookup;
    struct resource resource;
    char *kind;
    bool namespaced;
    bool allowed[ARRAY_LEN(verbs)];
    size_t reviewed; /* number of verbs */
    char *reason;
};

static void access_report(struct request *request, const struct inf_error *why)
{
    struct access *a = container_of(request, struct access, request);
    struct inf_access result = {
        .resource = {.group = a->resource.group,
                     .version = a->resource.version,
                     .name = a->resource.name,
                     .kind = a->kind},
        .namespaced = a->namespaced,
        .list = a->allowed[0],
        .watch = a->allowed[1],
        .reason = a->reason ? a->reason : "",
    };
    a->on_done(request->user, why ? NULL : &result, why);
}

/* ---- permissions ---- */

static void access_review_next(struct access *a)
{
    char *body;
    if (a->only_resource || a->reviewed == ARRAY_LEN(verbs)) {
        request_end(&a->request, NULL);
        return;
    }
    body = self_review_access_body(&a->resource, a->ns, verbs[a->reviewed], NULL);
    document_start(&a->request.document, &a->request.client->server, self_review_access_path, body);
    free(body);
}

static void access_on_review(struct document *document, const char *text,
                             const struct inf_error *why)
{
    struct access *a = container_of(document, struct access, request.document);
    struct inf_error bad;
    char *reason = NULL;
    if (!text) {
        request_end(&a->request, why);
        return;
    }
    if (self_review_access_read(text, &a->allowed[a->reviewed], &reason, &bad) < 0) {
        request_end(&a->request, &bad);
        return;
    }
    if (!a->allowed[a->reviewed]) {
        free(a->reason);
        a->reason = reason;
    } else {
        free(reason);
    }
    a->reviewed++;
    access_review_next(a);
}

/* ---- the resource ---- */

static void access_set_resource(struct access *a, const struct api_resource *r)
{
    a->resource = (struct resource){xstrdup(r->group), xstrdup(r->version), xstrdup(r->name)};
    a->kind = xstrdup(r->kind);
    a->namespaced = r->namespaced;
}

static void access_on_found(struct lookup *lookup, const struct api_resource *found,
                            const struct inf_error *why)
{
    struct access *a = container_of(lookup, struct access, lookup);
    struct inf_error wrong;
    if (found && a->ns && !found->namespaced) {
        resource_name_refuse_scope(&a->wanted, found->name, &wrong);
        request_end(&a->request, &wrong);
    } else if (found) {
        access_set_resource(a, found);
        access_review_next(a);
    } else if (why->code == INF_EFORBIDDEN && resource_name_is_complete(&a->wanted, &a->resource)) {
        access_review_next(a);
    } else {
        request_end(&a->request, why);
    }
}

/* ---- start and stop ---- */

static void access_stop(struct request *request)
{
    lookup_stop(&container_of(request, struct access, request)->lookup);
}

static void access_free(struct request *request)
{
    struct access *a = container_of(request, struct access, request);
    resource_name_free(&a->wanted);
    resource_free(&a->resource);
    free(a->ns);
    free(a->kind);
    free(a->reason);
    free(a);
}

static const struct request_ops access_ops = {
    .stop = access_stop, .report = access_report, .free = access_free};

static int access_start(struct inf_client *client, struct inf_request *request,
                        const char *resource, const char *ns, bool only_resource,
                        inf_access_cb *on_done, struct inf_error *err)
{
    struct access *a = NEW(struct access);
    int rc = ns ? resource_check_namespace(ns, err) : 0;
    if (rc == 0)
        rc = resource_name_parse(resource, &a->wanted, err);
    if (rc < 0) {
        free(a);
        return rc;
    }
    rc = request_start(&a->request, &access_ops, client, request);
    if (rc < 0)
        return err_set(err, -rc, "the request is already active");
    a->ns = ns ? xstrdup(ns) : NULL;
    a->only_resource = only_resource;
    a->on_done = on_done;
    a->lookup.on_end = access_on_found;
    a->request.document.on_end = access_on_review;
    lookup_start(&a->lookup, client->discovery_cache, &client->loop.clock, &a->wanted,
                 DISCOVERY_CACHE_KEEP_MS);
    return 0;
}

int inf_access_request(struct inf_client *client, struct inf_request *request, const char *resource,
                       const char *ns, inf_access_cb *on_done, struct inf_error *err)
{
    return access_start(client, request, resource, ns, false, on_done, err);
}

int inf_resource_request(struct inf_client *client, struct inf_request *request,
                         const char *resource, const char *ns, inf_access_cb *on_done,
                         struct inf_error *err)
{
    return access_start(client, request, resource, ns, true, on_done, err);
}

/* ---- without a server ---- */

static char *put_text(char *at, const char **ret, const char *text)
{
    *ret = strcpy(at, text);
    return at + strlen(text) + 1;
}

struct inf_resource *inf_resource_known(const char *text)
{
    struct resource_name name;
    struct inf_resource *known = NULL;
    struct resource r;
    if (resource_name_parse(text, &name, NULL) < 0)
        return NULL;
    if (resource_name_is_complete(&name, &r)) {
        char *at;
        known = xmalloc(sizeof(*known) + strlen(r.group) + strlen(r.version) + strlen(r.name) + 3);
        *known = (struct inf_resource){.kind = NULL};
        at = put_text((char *)(known + 1), &known->group, r.group);
        at = put_text(at, &known->version, r.version);
        put_text(at, &known->name, r.name);
        resource_free(&r);
    }
    resource_name_free(&name);
    return known;
}
