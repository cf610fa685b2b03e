/*
 * shared.c - opens a cache, changes its watch while handlers stay registered, and closes it with
 * its last user.
 *
 * A change that affects only one of several users splits the cache: that user gets its own, which
 * starts with the same objects. All functions that take a watch fail with INF_EINVAL and change
 * nothing if it is invalid.
 */
#include "lib/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "core/state/state.h"
#include "lib/recorder.h"

static struct shared *shared_find(const struct inf_client *client,
                                  const struct definition *definition)
{
    list_for_each(node, &client->caches) {
        struct shared *s = container_of(node, struct shared, node);
        if (definition_equal(s->definition, definition))
            return s;
    }
    return NULL;
}

/* ---- parts ---- */

static bool is_secrets(const struct resource *resource)
{
    return strcmp(resource->name, "secrets") == 0 && !resource->group[0];
}

static void shared_on_found(void *ctx, const struct resource *found, const char *kind)
{
    struct shared *s = ctx;
    str_replace(&s->resource.group, found->group);
    str_replace(&s->resource.version, found->version);
    str_replace(&s->resource.name, found->name);
    if (kind)
        str_replace(&s->kind, kind);
    s->definition->shape.secrets = is_secrets(found);
}

static struct pipeline_settings settings_of(const struct shared *s)
{
    const struct definition *d = s->definition;
    const struct inf_watch *watch = &d->watch;
    return (struct pipeline_settings){
        .reflector = {.list_limiter = &s->client->list_limiter,
                      .stale_after_ms = s->client->stale_after_ms,
                      .optional = watch->optional,
                      .exclude_ns = watch->exclude_ns,
                      .n_exclude_ns = watch->n_exclude_ns},
        .coalesce = watch->coalesce,
        .indexes = d->indexes,
        .n_indexes = d->n_indexes,
        .packing = watch->compact ? s->packing : NULL,
        .budget = s->client->budget,
    };
}

static struct named_source *new_source(struct shared *s)
{
    struct definition *d = s->definition;
    return named_source_new(&s->client->server,
                            &(struct named_source_options){
                                .wanted = &d->wanted,
                                .discovery_cache = s->client->discovery_cache,
                                .on_found = shared_on_found,
                                .ctx = s,
                                .scope = {.ns = d->watch.ns,
                                          .label_selector = d->watch.label_selector,
                                          .field_selector = d->watch.field_selector,
                                          .shard = {d->watch.shard_index, d->watch.shard_count}},
                                .other_shards = &s->other_shards,
                                .ns_is_default = d->watch.ns_is_default,
                                .by_namespace = d->watch.n_exclude_ns > 0,
                                .shape = &d->shape,
                            });
}

/* ---- open and close ---- */

static void shared_free(struct shared *s)
{
    list_for_each_safe(node, &s->former) {
        list_remove(node);
        definition_free(container_of(node, struct definition, node));
    }
    definition_free(s->definition);
    resource_free(&s->resource);
    pack_context_unref(s->packing);
    recorder_free(s->recorder);
    free(s->kind);
    free(s);
}

/* A line begins with the resource. Prefixes it with the names of the watches, unless they are
 * equal. */
static void shared_on_log(struct log *log, enum log_level level, const char *line)
{
    struct shared *s = container_of(log, struct shared, log);
    struct buf names = {0};
    informer_put_log_names(s, &names);
    if (names.len && (strncmp(line, names.bytes, names.len) != 0 || !strchr(": ", line[names.len])))
        log_line(&s->client->log, level, "%.*s: %s", (int)names.len, names.bytes, line);
    else
        log_line(&s->client->log, level, "%s", line);
    buf_free(&names);
}

/* Takes ownership of @definition. Sends no request yet. */
static struct shared *shared_new(struct inf_client *client, struct definition *definition,
                                 struct pack_context *packing)
{
    struct shared *s = NEW(struct shared);
    struct siphash_key key = {rng_next(&client->rng), rng_next(&client->rng)};
    struct pipeline_settings settings;
    s->client = client;
    s->packing = pack_context_ref(packing);
    s->log = (struct log){.level = client->log.level, .emit = shared_on_log};
    s->definition = definition;
    list_init(&s->former);
    s->source = new_source(s);
    settings = settings_of(s);
    pipeline_init(&s->pipeline, definition->display_name, named_source_source(s->source),
                  &client->loop.clock, &key, client->user_log ? &s->log : NULL, &settings);
    list_push(&client->caches, &s->node);
    return s;
}

struct shared *shared_use(struct inf_client *client, const struct inf_watch *watch,
                          struct inf_error *err)
{
    struct definition *definition = definition_new(watch, &client->digest, err);
    struct shared *s;
    if (!definition)
        return NULL;
    s = shared_find(client, definition);
    if (s) {
        definition_free(definition);
    } else {
        s = shared_new(client, definition, client->packing);
        if (client->state)
            s->recorder = recorder_new(s, client->state);
        else
            pipeline_start(&s->pipeline);
    }
    s->users++;
    return s;
}

static bool take_from_stream(void *stream, size_t n, saved_object_fn *each, void *to)
{
    return state_stream_take(stream, n, each, to);
}

static bool move_stream(void *stream, struct inf_store *store, struct generation **ret_generation,
                        size_t *ret_damaged)
{
    return state_stream_move(stream, store, ret_generation, ret_damaged);
}

static void restore_stream(struct shared *s, struct inf_state_stream *stream, const char *why)
{
    const struct object_supply supply = {move_stream, take_from_stream, stream,
                                         inf_state_stream_count(stream)};
    const char *version = inf_state_stream_version(stream);
    if (strcmp(version, INF_POSITION_MIXED) == 0) {
        version = "";
        why = why ? why : "the earlier process ended while it reported the differences of a list";
    }
    pipeline_restore(&s->pipeline, &supply, version, inf_state_stream_written_us(stream), why);
}

/* What the cache packs is written as it is: both have the same context. */
void shared_start(struct shared *s, struct inf_state_stream *stream)
{
    struct pipeline_settings settings;
    if (stream) {
        pack_context_unref(s->packing);
        s->packing = pack_context_ref(state_pack_context(state_of_stream(stream)));
        settings = settings_of(s);
        pipeline_adjust(&s->pipeline, &settings);
    }
    if (stream && inf_state_stream_is_restored(stream))
        restore_stream(s, stream, NULL);
    else
        pipeline_start(&s->pipeline);
}

char *shared_state_id(const struct shared *s)
{
    return xasprintf("%s %s", s->client->connection->url, s->definition->content);
}

struct shared *shared_restore(struct inf_client *client, const struct inf_watch *watch,
                              struct inf_state_stream *stream, const char *why,
                              struct inf_error *err)
{
    bool restored = inf_state_stream_is_restored(stream);
    struct definition *definition = definition_new(watch, &client->digest, err);
    struct shared *s;
    if (!definition)
        return NULL;
    s = restored ? NULL : shared_find(client, definition);
    if (s) {
        definition_free(definition);
    } else {
        s = shared_new(client, definition, state_pack_context(state_of_stream(stream)));
        if (restored)
            restore_stream(s, stream, why);
        else
            pipeline_start(&s->pipeline);
    }
    s->users++;
    return s;
}

static void shared_on_gone(struct pipeline *pipeline)
{
    shared_free(container_of(pipeline, struct shared, pipeline));
}

void shared_leave(struct shared *s)
{
    if (--s->users)
        return;
    list_remove(&s->node);
    recorder_close(s->recorder);
    pipeline_close(&s->pipeline, shared_on_gone);
    named_source_close(s->source);
}

/* ---- changing ---- */

/* Applies the options of @definition that need no list, and frees it. */
static void shared_adjust(struct shared *s, struct definition *definition)
{
    struct pipeline_settings settings;
    definition_set_delivery(s->definition, definition);
    definition_free(definition);
    settings = settings_of(s);
    pipeline_adjust(&s->pipeline, &settings);
}

/* Keeps the former definition: generations use its indexes, and queued changes its shape. */
static void shared_redefine(struct shared *s, struct definition *definition, const char *why)
{
    struct named_source *before = s->source;
    struct pipeline_settings settings;
    list_push(&s->former, &s->definition->node);
    s->definition = definition;
    s->source = new_source(s);
    settings = settings_of(s);
    pipeline_change(&s->pipeline, definition->display_name, named_source_source(s->source),
                    &settings, why);
    named_source_close(before);
    recorder_redefined(s->recorder);
}

/* Gives @user a cache of its own, which starts with the objects of @s. */
static struct shared *shared_split(struct shared *s, struct definition *definition,
                                   struct inf_informer *user)
{
    struct shared *own = shared_new(s->client, definition, s->packing);
    own->users = 1;
    s->users--;
    pipeline_split(&s->pipeline, &own->pipeline, user);
    return own;
}

struct shared *shared_own(struct shared *s, struct inf_informer *user)
{
    struct inf_watch watch = {.resource = s->definition->watch.resource};
    struct definition *nothing;
    if (s->users == 1)
        return s;
    nothing = definition_new(&watch, &s->client->digest, NULL);
    nothing->unshareable = true;
    return shared_split(s, nothing, user);
}

struct shared *shared_withdraw(struct shared *s, struct inf_informer *user)
{
    struct shared *own = shared_own(s, user);
    own->definition->unshareable = true;
    return own;
}

struct shared *shared_carve(struct shared *s, const struct inf_watch *watch, const char *why,
                            struct inf_error *err)
{
    struct definition *definition = definition_new(watch, &s->client->digest, err);
    struct shared *part;
    if (!definition)
        return NULL;
    part = shared_new(s->client, definition, s->packing);
    part->users = 1;
    pipeline_carve(&s->pipeline, &part->pipeline, watch->ns);
    reflector_continue(&part->pipeline.reflector, s->pipeline.reflector.version, why);
    return part;
}

/* Changes in the FIFO of @s are newer than the store: the new stream delivers them again. */
struct shared *shared_separate(struct shared *s, const struct inf_watch *watch,
                               struct inf_informer *user, struct inf_error *err)
{
    struct definition *definition = definition_new(watch, &s->client->digest, err);
    struct shared *own;
    if (!definition)
        return NULL;
    if (!definition_equal(definition, s->definition)) {
        definition_free(definition);
        err_set(err, INF_EINVAL, "'%s' is not the watch of this informer", watch->resource);
        return NULL;
    }
    if (s->users == 1) {
        definition_free(definition);
        return s;
    }
    own = shared_split(s, definition, user);
    if (s->resource.name)
        shared_on_found(own, &s->resource, s->kind);
    reflector_resume(&own->pipeline.reflector, inf_store_resource_version(own->pipeline.store));
    return own;
}

struct shared *shared_change(struct shared *s, const struct inf_watch *watch,
                             struct inf_informer *user, const char *why, struct inf_error *err)
{
    struct definition *definition = definition_new(watch, &s->client->digest, err);
    struct shared *own;
    if (!definition)
        return NULL;
    if (definition_equal(definition, s->definition)) {
        definition_free(definition);
        return s;
    }
    if (s->users == 1) {
        if (definition_same_content(definition, s->definition))
            shared_adjust(s, definition);
        else
            shared_redefine(s, definition, why);
        return s;
    }
    own = shared_split(s, definition, user);
    reflector_continue(&own->pipeline.reflector, s->pipeline.reflector.version, why);
    return own;
}
