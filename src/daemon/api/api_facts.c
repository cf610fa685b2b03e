/*
 * api_facts.c - requests the resources of a cluster once, and again when a resource is missing.
 *
 * A failed request leaves the facts as they were; it is repeated at most every AGAIN_MS.
 */
#include "daemon/api/api_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_string.h"
#include "daemon/api/api.h"
#include "daemon/api/api_park.h"
#include "daemon/watch/cluster.h"

enum {
    AGAIN_MS = 60 * 1000,
};

static void free_items(struct api_facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->items[i].group);
        free(f->items[i].version);
        free(f->items[i].name);
        free(f->items[i].short_names);
        free(f->items[i].categories);
    }
    free(f->items);
    f->items = NULL;
    f->count = 0;
}

static void facts_free(struct api_facts *f)
{
    free_items(f);
    free(f->cluster);
    free(f);
}

static char *make_array(const char *const *texts)
{
    struct buf out = {0};
    buf_putc(&out, '[');
    for (; texts && *texts; texts++) {
        if (out.len > 1)
            buf_putc(&out, ',');
        json_put_string(&out, str_of(*texts));
    }
    buf_puts(&out, "]");
    buf_putc(&out, '\0');
    return out.bytes;
}

static void facts_on_resources(struct inf_request *request,
                               const struct inf_api_resource *resources, size_t n,
                               const struct inf_error *err)
{
    struct api_facts *f = container_of(request, struct api_facts, request);
    f->requested = false;
    if (f->closing) {
        facts_free(f);
        return;
    }
    if (!err) {
        free_items(f);
        f->items = xcalloc(n + 1, sizeof(*f->items));
        for (f->count = 0; f->count < n; f->count++) {
            const struct inf_api_resource *from = &resources[f->count];
            f->items[f->count] = (struct api_fact){
                .group = xstrdup(from->resource.group),
                .version = xstrdup(from->resource.version),
                .name = xstrdup(from->resource.name),
                .namespaced = from->namespaced,
                .short_names = make_array(from->short_names),
                .categories = make_array(from->categories),
            };
        }
    }
    api_unpark_all(&f->waiters);
}

bool api_facts_read(struct api_facts *f, const struct cluster *cluster, bool missing)
{
    uint64_t now_ms = clock_now_ms(f->clock);
    bool due = !f->were_read || (missing && now_ms - f->read_ms >= AGAIN_MS);
    if (!f->requested && due &&
        inf_resources_request(cluster->client, &f->request, facts_on_resources) == 0) {
        f->requested = f->were_read = true;
        f->read_ms = now_ms;
    }
    return !f->requested || (f->count && !missing);
}

const struct api_fact *api_facts_find(const struct api_facts *f,
                                      const struct inf_resource *resource)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].name, resource->name) == 0 &&
            strcmp(f->items[i].group, resource->group) == 0 &&
            strcmp(f->items[i].version, resource->version) == 0)
            return &f->items[i];
    return NULL;
}

struct api_facts *api_facts_get(struct api *api, const struct cluster *cluster)
{
    struct api_facts *f;
    list_for_each(node, &api->facts) {
        f = container_of(node, struct api_facts, node);
        if (strcmp(f->cluster, cluster->conf->name) == 0)
            return f;
    }
    f = NEW(struct api_facts);
    f->cluster = xstrdup(cluster->conf->name);
    f->clock = api->clock;
    list_init(&f->waiters);
    list_push(&api->facts, &f->node);
    return f;
}

void api_facts_close(struct api_facts *f)
{
    list_remove(&f->node);
    if (f->requested) {
        f->closing = true;
        inf_request_cancel(&f->request);
    } else {
        facts_free(f);
    }
}
