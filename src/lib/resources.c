/*
 * resources.c - lists the resources of a server.
 *
 * Normal path: all discovery documents are read, from the cache where possible, and reported together. A
 * group that does not respond is left out, with a warning. A failure of the whole server is reported as
 * it is; nothing is retried.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/discovery/lookup.h"
#include "lib/request.h"

struct resources {
    struct request request;
    inf_resources_cb *on_done;
    struct lookup lookup;
    const struct discovery *table; /* valid during the report; NULL: failed */
};

static void resources_report(struct request *request, const struct inf_error *why)
{
    struct resources *r = container_of(request, struct resources, request);
    size_t n = why ? 0 : r->table->n_resources;
    struct inf_api_resource *all = xcalloc(n + 1, sizeof(*all));
    for (size_t i = 0; i < n; i++) {
        const struct api_resource *a = &r->table->resources[i];
        all[i] = (struct inf_api_resource){
            .resource = {.group = a->group,
                         .version = a->version,
                         .name = a->name,
                         .kind = a->kind},
            .namespaced = a->namespaced,
            .preferred = discovery_is_preferred(r->table, a),
            .verbs = (const char *const *)a->verbs,
            .short_names = (const char *const *)a->short_names,
            .categories = (const char *const *)a->categories,
        };
    }
    r->on_done(request->user, why ? NULL : all, n, why);
    free(all);
}

static void resources_on_table(struct lookup *lookup, const struct discovery *table,
                               const struct inf_error *why)
{
    struct resources *r = container_of(lookup, struct resources, lookup);
    r->table = table;
    request_end(&r->request, why);
}

static void resources_stop(struct request *request)
{
    lookup_stop(&container_of(request, struct resources, request)->lookup);
}

static void resources_free(struct request *request)
{
    free(container_of(request, struct resources, request));
}

static const struct request_ops resources_ops = {
    .stop = resources_stop, .report = resources_report, .free = resources_free};

int inf_resources_request(struct inf_client *client, struct inf_request *request,
                          inf_resources_cb *on_done)
{
    struct resources *r = NEW(struct resources);
    int rc = request_start(&r->request, &resources_ops, client, request);
    if (rc < 0)
        return rc;
    r->on_done = on_done;
    r->lookup.on_table = resources_on_table;
    lookup_start_all(&r->lookup, client->discovery_cache, &client->loop.clock);
    return 0;
}
