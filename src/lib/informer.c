/*
 * informer.c - the caller's handle on a cache that it may share with other informers.
 *
 * The cache (lib/shared.c) is freed when its last informer closes; handlers are removed with their
 * informer. Counters are kept per cache; each handle subtracts what was counted before it was
 * opened.
 */
#include <stdlib.h>

#include "informer/state.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "core/store/store.h"
#include "kube/discovery/resource_name.h"
#include "lib/shared.h"

/* The counters of struct inf_status, which only grow. */
struct counters {
    struct reflector_counts reflector;
    uint64_t coalesced;
};

struct inf_informer {
    struct list node; /* among the client's */
    struct shared *shared;
    char *log_name; /* NULL: none */
    void *data;     /* the user's */
    inf_informer_closed_fn *on_closed;
    struct deferred_free deferred_free;
    struct counters before; /* of the cache when this handle was opened, modulo 2^64 */
};

void inf_informer_set_log_name(struct inf_informer *informer, const char *name)
{
    char *copy = name ? xstrdup(name) : NULL;
    free(informer->log_name);
    informer->log_name = copy;
}

void informer_put_log_names(const struct shared *shared, struct buf *out)
{
    list_for_each(node, &shared->client->informers) {
        const struct inf_informer *informer = informer_of_node(node);
        if (informer->shared == shared && informer->log_name)
            buf_printf(out, "%s%s", out->len ? ", " : "", informer->log_name);
    }
}

int inf_resource_check(const char *text, struct inf_error *err)
{
    struct resource_name name;
    int rc = resource_name_parse(text, &name, err);
    if (!rc)
        resource_name_free(&name);
    return rc;
}

bool inf_resource_is_cluster_scoped(const char *text)
{
    struct resource_name name;
    bool wide;
    if (resource_name_parse(text, &name, NULL) < 0)
        return false;
    wide = resource_name_scope(&name) == SCOPE_CLUSTER;
    resource_name_free(&name);
    return wide;
}

/* ---- counters ---- */

static struct counters counters_of(const struct shared *s)
{
    return (struct counters){.reflector = s->pipeline.reflector.counts,
                             .coalesced = s->pipeline.fifo.merged};
}

static void counters_subtract(struct counters *from, const struct counters *c)
{
    from->reflector.requests -= c->reflector.requests;
    from->reflector.skipped -= c->reflector.skipped;
    from->coalesced -= c->coalesced;
    for (size_t code = 0; code < INF_ERRORS; code++) {
        from->reflector.ends[code] -= c->reflector.ends[code];
        from->reflector.relists[code] -= c->reflector.relists[code];
    }
}

static struct counters counters_since_opened(const struct inf_informer *informer)
{
    struct counters now = counters_of(informer->shared);
    counters_subtract(&now, &informer->before);
    return now;
}

/* Continues with another cache, which no other informer has used; counters continue. */
static void informer_use_shared(struct inf_informer *informer, struct shared *s)
{
    struct counters so_far = counters_since_opened(informer);
    if (s == informer->shared)
        return;
    informer->shared = s;
    informer->before = (struct counters){0};
    counters_subtract(&informer->before, &so_far);
}

/* ---- opening and changing ---- */

/* @shared was opened for @watch and counts the informer as a user already. */
static struct inf_informer *informer_new(struct shared *shared, const struct inf_watch *watch)
{
    struct inf_informer *informer = NEW(struct inf_informer);
    informer->shared = shared;
    if (shared->users > 1)
        informer->before = counters_of(shared);
    inf_informer_set_log_name(informer, watch->log_name);
    list_push(&shared->client->informers, &informer->node);
    return informer;
}

struct inf_informer *inf_informer_open(struct inf_client *client, const struct inf_watch *watch,
                                       struct inf_error *err)
{
    struct shared *shared = shared_use(client, watch, err);
    return shared ? informer_new(shared, watch) : NULL;
}

struct inf_informer *inf_informer_restore_changed(struct inf_client *client,
                                                  const struct inf_watch *watch,
                                                  struct inf_state_stream *stream,
                                                  struct inf_handler *handler, const char *why,
                                                  struct inf_error *err)
{
    bool restored = inf_state_stream_is_restored(stream);
    struct inf_informer *informer;
    struct shared *shared;
    if (!dispatch_may_add(handler)) {
        err_set(err, INF_EINVAL, "the handler is registered, or a reserved field is not zero");
        return NULL;
    }
    shared = shared_restore(client, watch, stream, why, err);
    if (!shared)
        return NULL;
    informer = informer_new(shared, watch);
    if (restored)
        dispatch_add_knowing(&shared->pipeline.dispatch, handler, informer);
    else
        dispatch_add(&shared->pipeline.dispatch, handler, informer);
    return informer;
}

struct inf_informer *inf_informer_restore(struct inf_client *client, const struct inf_watch *watch,
                                          struct inf_state_stream *stream,
                                          struct inf_handler *handler, struct inf_error *err)
{
    return inf_informer_restore_changed(client, watch, stream, handler, NULL, err);
}

int inf_informer_change(struct inf_informer *informer, const struct inf_watch *watch,
                        const char *why, struct inf_error *err)
{
    struct inf_error ignored;
    struct shared *s = shared_change(informer->shared, watch, informer, why, err ? err : &ignored);
    if (!s)
        return err ? -err->code : -ignored.code;
    informer_use_shared(informer, s);
    inf_informer_set_log_name(informer, watch->log_name);
    return 0;
}

int inf_informer_separate(struct inf_informer *informer, const struct inf_watch *watch,
                          struct inf_error *err)
{
    struct inf_error ignored;
    struct shared *s = shared_separate(informer->shared, watch, informer, err ? err : &ignored);
    if (!s)
        return -INF_EINVAL;
    informer_use_shared(informer, s);
    return 0;
}

void inf_informer_end(struct inf_informer *informer, const char *why)
{
    informer_use_shared(informer, shared_withdraw(informer->shared, informer));
    reflector_end(&informer->shared->pipeline.reflector, why);
}

void inf_informer_merge(struct inf_informer *informer, struct inf_informer *other)
{
    informer_use_shared(informer, shared_own(informer->shared, informer));
    pipeline_merge(&other->shared->pipeline, &informer->shared->pipeline, other);
    inf_informer_close(other, NULL);
}

struct inf_informer *inf_informer_carve(struct inf_informer *informer,
                                        const struct inf_watch *watch, struct inf_handler *handler,
                                        const char *why, struct inf_error *err)
{
    struct inf_informer *part;
    struct shared *s;
    informer_use_shared(informer, shared_own(informer->shared, informer));
    s = shared_carve(informer->shared, watch, why, err);
    if (!s)
        return NULL;
    part = informer_new(s, watch);
    dispatch_add_knowing(&s->pipeline.dispatch, handler, part);
    return part;
}

/* In the reap phase: no handler of the informer is on the stack. */
static void informer_free_deferred(struct deferred_free *deferred_free)
{
    struct inf_informer *informer = container_of(deferred_free, struct inf_informer, deferred_free);
    if (informer->on_closed)
        informer->on_closed(informer);
    free(informer->log_name);
    free(informer);
}

void inf_informer_close(struct inf_informer *informer, inf_informer_closed_fn *on_closed)
{
    struct inf_client *client;
    if (!informer)
        return;
    client = informer->shared->client;
    informer->on_closed = on_closed;
    list_remove(&informer->node);
    request_informer_closed(client, informer);
    dispatch_remove_all(&informer->shared->pipeline.dispatch, informer);
    shared_leave(informer->shared);
    clock_free_later(&client->loop.clock, &informer->deferred_free, informer_free_deferred);
}

struct inf_informer *informer_of_node(struct list *node)
{
    return container_of(node, struct inf_informer, node);
}

void *inf_informer_data(const struct inf_informer *informer)
{
    return informer->data;
}

void inf_informer_set_data(struct inf_informer *informer, void *data)
{
    informer->data = data;
}

void informer_close_all(struct inf_client *client)
{
    list_for_each_safe(node, &client->informers)
        inf_informer_close(informer_of_node(node), NULL);
}

const struct inf_store *inf_informer_store(const struct inf_informer *informer)
{
    return informer->shared->pipeline.store;
}

bool inf_informer_resource(const struct inf_informer *informer, struct inf_resource *ret_resource)
{
    const struct shared *s = informer->shared;
    if (!s->resource.name)
        return false;
    *ret_resource = (struct inf_resource){.group = s->resource.group,
                                          .version = s->resource.version,
                                          .name = s->resource.name,
                                          .kind = s->kind};
    return true;
}

bool inf_informer_synced(const struct inf_informer *informer)
{
    return pipeline_synced(&informer->shared->pipeline);
}

int inf_handler_add(struct inf_informer *informer, struct inf_handler *handler)
{
    return dispatch_add(&informer->shared->pipeline.dispatch, handler, informer);
}

/* ---- status ---- */

static uint64_t age_ms(uint64_t now_ms, uint64_t then_ms)
{
    return then_ms ? now_ms - then_ms : INF_NEVER;
}

/* The host's time may have been set back since. */
static uint64_t restored_age_ms(const struct pipeline *p)
{
    int64_t now_us = clock_wall_us(p->clock);
    if (!pipeline_is_unconfirmed(p) || !p->restored_us || now_us < p->restored_us)
        return 0;
    return (uint64_t)(now_us - p->restored_us) / 1000;
}

void inf_informer_status(const struct inf_informer *informer, struct inf_status *ret_status)
{
    const struct pipeline *p = &informer->shared->pipeline;
    const struct reflector *r = &p->reflector;
    struct counters counters = counters_since_opened(informer);
    uint64_t now = clock_elapsed_ms(p->clock);
    *ret_status = (struct inf_status){
        .synced = pipeline_synced(p) && !r->redefined,
        .stale = freshness_is_stale(&r->freshness),
        .waiting = r->absent,
        .held = r->held && !p->restoring,
        .error = r->fault,
        .event_age_ms = age_ms(now, r->event_ms),
        .bookmark_age_ms = age_ms(now, r->bookmark_ms),
        .heard_age_ms = r->restored == RESTORED_NOT ? age_ms(now, r->freshness.sign_ms) : INF_NEVER,
        .failing_for_ms = r->fault.code ? now - r->failing_since_ms : 0,
        .held_for_ms = r->held && !p->restoring ? now - r->held_since_ms : 0,
        .requests = counters.reflector.requests,
        .skipped = counters.reflector.skipped,
        .queued = p->fifo.count,
        .coalesced = counters.coalesced,
        .list_objects = r->staged ? generation_count(r->staged) : 0,
        .list_bytes = r->staged ? generation_bytes(r->staged) : 0,
        .restored = pipeline_is_unconfirmed(p),
        .restored_age_ms = restored_age_ms(p),
        .other_shards = informer->shared->other_shards,
    };
    for (size_t code = 0; code < INF_ERRORS; code++) {
        ret_status->ends[code] = counters.reflector.ends[code];
        ret_status->relists[code] = counters.reflector.relists[code];
    }
}

const char *inf_status_name(const struct inf_status *status)
{
    if (status->held)
        return "held";
    if (status->stale)
        return "stale";
    switch (status->error.code) {
    case 0:
        return status->waiting    ? "waiting"
               : status->synced   ? "live"
               : status->restored ? "restored"
                                  : "syncing";
    case INF_EFORBIDDEN: return "forbidden";
    case INF_EUNAUTHORIZED: return "unauthorized";
    case INF_ENOTFOUND: return "not found";
    default: return "failing";
    }
}
