/*
 * informer.c - a pipeline fed by an API server: the public face of both.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "core/index_path.h"
#include "core/pipeline.h"
#include "lib/client.h"

enum {
    INDEXES_MAX = 16, /* LIMIT: indexes of one informer */
};

struct inf_informer {
    struct list node; /* among the client's */
    char *who;
    struct shape shape;
    struct index_def indexes[INDEXES_MAX];
    char *index_names[INDEXES_MAX];
    struct inf_path *index_paths[INDEXES_MAX];
    size_t n_indexes;
    struct api_source *source;
    struct pipeline pipeline;
};

static bool is_secrets(const struct resource *resource)
{
    return strcmp(resource->name, "secrets") == 0 && !resource->group[0];
}

static void informer_free(struct inf_informer *informer)
{
    for (size_t i = 0; i < informer->n_indexes; i++) {
        inf_path_free(informer->index_paths[i]);
        free(informer->index_names[i]);
    }
    shape_free(&informer->shape);
    free(informer->who);
    free(informer);
}

static int check_index_name(const struct inf_informer *informer, const char *name,
                            struct inf_error *err)
{
    if (informer->n_indexes == INDEXES_MAX)
        return err_set(err, INF_EINVAL, "more than %d indexes", INDEXES_MAX);
    if (!name || !name[0] || strcmp(name, "namespace") == 0)
        return err_set(err, INF_EINVAL, "index '%s': use another name", name ? name : "");
    for (size_t i = 0; i < informer->n_indexes; i++)
        if (strcmp(informer->index_names[i], name) == 0)
            return err_set(err, INF_EINVAL, "index '%s': defined twice", name);
    return 0;
}

static int add_index(struct inf_informer *informer, const struct inf_index *index,
                     struct inf_error *err)
{
    size_t i = informer->n_indexes;
    struct inf_path *path;
    int rc = check_index_name(informer, index->name, err);
    if (rc < 0)
        return rc;
    path = inf_path_parse(index->path ? index->path : "", err);
    if (!path)
        return err_wrap(err, "index '%s'", index->name);
    informer->index_names[i] = xstrdup(index->name);
    informer->index_paths[i] = path;
    informer->indexes[i] = index_by_path(informer->index_names[i], path);
    informer->n_indexes++;
    return 0;
}

static int add_indexes(struct inf_informer *informer, const struct inf_watch *watch,
                       struct inf_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < watch->n_indexes; i++)
        rc = add_index(informer, &watch->indexes[i], err);
    return rc;
}

/* Takes over what @resource owns. */
static void connect_parts(struct inf_informer *informer, struct inf_client *client,
                          struct resource *resource, const struct inf_watch *watch)
{
    struct pipeline_settings settings = {.coalesce = watch->coalesce,
                                         .indexes = informer->indexes,
                                         .n_indexes = informer->n_indexes};
    struct siphash_key key = {rng_next(&client->rng), rng_next(&client->rng)};
    informer->who =
        watch->ns ? xasprintf("%s in %s", watch->resource, watch->ns) : xstrdup(watch->resource);
    shape_init(&informer->shape, is_secrets(resource), &client->digest);
    informer->source = api_source_new(&client->server, resource, watch->ns, &informer->shape);
    pipeline_init(&informer->pipeline, informer->who, api_source_source(informer->source),
                  &client->loop.clock, &key, client->user_log ? &client->log : NULL, &settings);
    list_push(&client->informers, &informer->node);
}

static int check_watch(const struct inf_watch *watch, struct inf_error *err)
{
    if (!watch->resource)
        return err_set(err, INF_EINVAL, "no resource named");
    return watch->ns ? resource_check_namespace(watch->ns, err) : 0;
}

struct inf_informer *inf_informer_open(struct inf_client *client, const struct inf_watch *watch,
                                       struct inf_error *err)
{
    struct inf_informer *informer = NEW(struct inf_informer);
    struct resource resource;
    if (check_watch(watch, err) < 0 || add_indexes(informer, watch, err) < 0 ||
        resource_parse(watch->resource, &resource, err) < 0) {
        informer_free(informer);
        return NULL;
    }
    connect_parts(informer, client, &resource, watch);
    pipeline_start(&informer->pipeline);
    return informer;
}

static void informer_on_gone(struct pipeline *pipeline)
{
    informer_free(container_of(pipeline, struct inf_informer, pipeline));
}

void inf_informer_close(struct inf_informer *informer)
{
    if (!informer)
        return;
    list_remove(&informer->node);
    pipeline_close(&informer->pipeline, informer_on_gone);
    api_source_close(informer->source);
}

void informer_close_all(struct inf_client *client)
{
    list_for_each_safe(node, &client->informers)
        inf_informer_close(container_of(node, struct inf_informer, node));
}

const struct inf_store *inf_informer_store(const struct inf_informer *informer)
{
    return informer->pipeline.store;
}

bool inf_informer_synced(const struct inf_informer *informer)
{
    return pipeline_synced(&informer->pipeline);
}

int inf_handler_add(struct inf_informer *informer, struct inf_handler *handler)
{
    return dispatch_add(&informer->pipeline.dispatch, handler);
}
