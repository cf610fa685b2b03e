/*
 * watch_stream.c - passes the events of one informer to the consumers of its watch, and changes what
 * the informer watches.
 *
 * Normal path: watch_stream_open(), watch_stream_begin(), then the handler's callbacks report to
 * the event_channel of the watch. The conf was validated before, so opening or changing an informer
 * can't fail at that point. If the event log of this stream blocks other watches of the same informer, the stream
 * continues with a separate one.
 */
#include "daemon/watch/watch_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/stream_id.h"
#include "daemon/watch/watcher.h"

static const struct sm_state stream_states[] = {
    [STREAM_CLOSED] = {"closed", SM_TO(STREAM_OPEN) | SM_TO(STREAM_LEAVING)},
    [STREAM_OPEN] = {"open", SM_TO(STREAM_ENDED) | SM_TO(STREAM_ENDING) | SM_TO(STREAM_DESELECTED)},
    [STREAM_ENDED] = {"ended", 0},
    [STREAM_ENDING] = {"ending", SM_TO(STREAM_OPEN) | SM_TO(STREAM_LEAVING)},
    [STREAM_DESELECTED] = {"deselected", SM_TO(STREAM_OPEN) | SM_TO(STREAM_LEAVING)},
    [STREAM_LEAVING] = {"leaving", SM_TO(STREAM_RETURNING)},
    [STREAM_RETURNING] = {"returning", SM_TO(STREAM_CLOSED) | SM_TO(STREAM_LEAVING)},
};

/* ---- why an object is gone ---- */

static bool same_resource(const struct watch_stream *a, const struct watch_stream *b)
{
    struct inf_resource of_a, of_b;
    return inf_informer_resource(a->informer, &of_a) && inf_informer_resource(b->informer, &of_b) &&
           strcmp(of_a.group, of_b.group) == 0 && strcmp(of_a.name, of_b.name) == 0;
}

/* Whether the cache of a stream of @other proves that the object of @gone still exists. */
static bool watcher_still_has(const struct watcher *other, const struct watch_stream *stream,
                              const struct inf_event *gone)
{
    const struct inf_object *last = inf_event_object(gone);
    const char *ns = inf_object_namespace(last), *name = inf_object_name(last);
    const char *version = inf_store_resource_version(inf_informer_store(stream->informer));
    list_for_each(node, &other->streams) {
        const struct watch_stream *s = container_of(node, struct watch_stream, node);
        const struct inf_store *all;
        if (!watch_stream_is_current(s) || (s->ns && strcmp(s->ns, ns) != 0) ||
            !same_resource(s, stream))
            continue;
        all = inf_informer_store(s->informer);
        if (selection_was_left(&stream->watcher->selection, gone, version,
                               inf_store_get(all, ns, name), inf_store_resource_version(all)))
            return true;
    }
    return false;
}

/*
 * Whether the object of @gone, a DELETED event of @stream, certainly exists. The server sends the
 * same event for a deletion and for an object that left the selection: the last state that was
 * selected. If another watch of the same cluster caches the same resource without selectors and with
 * all labels, and its cache has reached the version of the deletion, that cache shows which it was.
 * Otherwise it is unknown.
 */
static bool left_selection_for_certain(const struct watch_stream *stream,
                                       const struct inf_event *gone)
{
    const struct watcher *w = stream->watcher;
    if (!w->selection.labels)
        return false;
    list_for_each(node, &w->channel.consumers->channels) {
        const struct event_channel *channel = container_of(node, struct event_channel, node);
        const struct watcher *other = container_of(channel, struct watcher, channel);
        bool has_everything = !other->selection.selects && selection_keeps_labels(other->conf);
        if (other != w && other->cluster == w->cluster && has_everything &&
            watcher_still_has(other, stream, gone))
            return true;
    }
    return false;
}

/* Whether the object is in a namespace that the stream no longer watches. */
static bool left_the_stream(const struct watch_stream *stream, const struct inf_event *event)
{
    const char *ns = inf_object_namespace(inf_event_object(event));
    return stream->sm.state == STREAM_ENDED || (stream->ns && strcmp(stream->ns, ns) != 0);
}

/* What the end of @stream, whose namespace is no longer selected, reports as @event. Returns the reason;
 * NULL: unknown. */
static const char *describe_leaving(const struct watch_stream *stream, struct inf_event *event)
{
    if (stream->left_unseen) {
        event->origin = INF_RESUMED;
        return NULL;
    }
    event->origin = INF_LIVE;
    event->final = !stream->ns_deleted;
    return stream->ns_deleted ? "deleted" : SELECTION_NS_LEFT;
}

/* ---- handler ---- */

static struct watch_stream *stream_of(struct inf_handler *handler)
{
    return container_of(handler, struct watch_stream, handler);
}

static const char *track_of(struct watch_stream *stream)
{
    if (!stream->track)
        stream->track = stream_id_track(stream);
    return stream->track;
}

void watch_stream_report_position(struct watch_stream *stream)
{
    const char *version = stream->informer ? inf_handler_position(&stream->handler) : NULL;
    if (version)
        event_channel_position(&stream->watcher->channel, track_of(stream), version);
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    struct watch_stream *stream = stream_of(handler);
    struct watcher *w = stream->watcher;
    struct inf_event reported = *event;
    const char *reason = NULL;
    (void)informer;
    /* the first list of a namespace that was added later is not part of the initial sync */
    if (stream->late && event->origin == INF_INITIAL)
        reported.origin = INF_RELIST;
    if (watch_stream_is_leaving(stream) && stream->sm.state != STREAM_ENDED &&
        event->verb == INF_DELETED && event->origin != INF_LIVE)
        reason = describe_leaving(stream, &reported);
    else if ((event->origin == INF_RELIST || event->origin == INF_RESUMED) &&
             left_the_stream(stream, event))
        reason = SELECTION_NS_LEFT;
    else if (event->verb == INF_DELETED && left_selection_for_certain(stream, event))
        reason = SELECTION_LEFT;
    watcher_resolve(w, event->origin != INF_LIVE);
    w->channel.info.stream = track_of(stream);
    w->channel.info.cache_version =
        inf_store_resource_version(inf_informer_store(stream->informer));
    event_channel_event(&w->channel, &reported, reason);
    saved_stream_note(stream, event);
}

/* The caller frees the result. */
static char *in_namespace(const struct watch_stream *stream, const char *text)
{
    return stream->ns ? xasprintf("%s, in namespace %s", text, stream->ns) : xstrdup(text);
}

void watch_stream_gap(const struct watch_stream *stream, const struct inf_gap *gap)
{
    struct inf_gap reported = *gap;
    char *text = in_namespace(stream, gap->text);
    reported.text = text;
    watcher_update_info(stream->watcher);
    event_channel_gap(&stream->watcher->channel, stream->ns, &reported);
    free(text);
}

/* The end of a stream is no gap if its namespace left the selection. */
static void on_gap(struct inf_handler *handler, struct inf_informer *informer,
                   const struct inf_gap *gap)
{
    struct watch_stream *stream = stream_of(handler);
    (void)informer;
    if (gap->reason == INF_GAP_REWIND)
        event_channel_position(&stream->watcher->channel, track_of(stream), NULL);
    if (!watch_stream_is_leaving(stream) || stream->sm.state == STREAM_ENDED)
        watch_stream_gap(stream, gap);
}

static void on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    struct watch_stream *stream = stream_of(handler);
    (void)informer;
    watch_stream_report_position(stream);
    watcher_check_synced(stream->watcher);
}

static void on_freshness(struct inf_handler *handler, struct inf_informer *informer,
                         const struct inf_freshness *freshness)
{
    struct watch_stream *stream = stream_of(handler);
    struct inf_freshness reported = *freshness;
    char *text = in_namespace(stream, freshness->text);
    (void)informer;
    reported.text = text;
    watcher_update_info(stream->watcher);
    event_channel_freshness(&stream->watcher->channel, stream->ns, &reported);
    free(text);
}

/* Another watch of the same informer would have to wait for our event log. */
static void on_blocking(struct inf_handler *handler, struct inf_informer *informer)
{
    struct watch_stream *stream = stream_of(handler);
    struct watcher *w = stream->watcher;
    struct inf_watch watch = watch_stream_watch(w->conf, stream->ns);
    (void)informer;
    if (inf_informer_separate(stream->informer, &watch, NULL) == 0)
        daemon_log_printf(w->cluster->log, INF_LOG_INFO,
                          "watch %s: its event log cannot be written; it now uses a separate "
                          "stream so that other watches of the same objects continue",
                          w->conf->name);
}

static void on_batch_end(struct inf_handler *handler, struct inf_informer *informer)
{
    struct watch_stream *stream = stream_of(handler);
    (void)informer;
    stream->watcher->info_is_current = false; /* discovery may run before the next batch */
    watch_stream_report_position(stream);
    saved_stream_batch_end(stream);
    event_consumers_flush(stream->watcher->channel.consumers);
    if (watch_stream_is_over(stream))
        watcher_tidy(stream->watcher);
    else if (namespace_tracker_is_active(&stream->watcher->tracker) &&
             stream->sm.state != STREAM_OPEN && watch_stream_is_empty(stream))
        namespace_tracker_adjust(&stream->watcher->tracker);
}

/* ---- life ---- */

struct watch_stream *watch_stream_new(struct watcher *watcher, const char *ns)
{
    struct watch_stream *stream = NEW(struct watch_stream);
    list_init(&stream->node);
    sm_init(&stream->sm, stream_states, STREAM_CLOSED, "watch_stream", NULL);
    stream->watcher = watcher;
    stream->ns = ns ? xstrdup(ns) : NULL;
    return stream;
}

/* exclude_namespaces applies to a stream of all namespaces; a single namespace that is excluded
 * has no stream. */
struct inf_watch watch_stream_watch(const struct conf_watch *c, const char *ns)
{
    static const char *const nothing[] = {NULL};
    return (struct inf_watch){
        .resource = c->resource,
        .log_name = c->name,
        .ns = ns,
        .ns_is_default = c->ns_is_default,
        .exclude_ns = (const char *const *)c->exclude_namespaces.items,
        .n_exclude_ns = ns ? 0 : c->exclude_namespaces.count,
        .label_selector = c->label_selector,
        .field_selector = c->field_selector,
        /* `drop: []` is not the library's default */
        .drop = c->drop.items ? (const char *const *)c->drop.items : nothing,
        .n_drop = c->drop.count,
        .redact = (const char *const *)c->redact.items,
        .n_redact = c->redact.count,
        .reveal = c->reveal,
        .metadata_only = c->keep == CONF_KEEP_METADATA,
        .indexes = c->indexes.items,
        .n_indexes = c->indexes.count,
        .compact = c->cache == CONF_CACHE_COMPACT,
        .coalesce = c->coalesce,
        .optional = c->optional,
        .shard_index = (uint32_t)c->shard.index,
        .shard_count = (uint32_t)c->shard.count,
    };
}

static const struct inf_handler stream_handler = {
    .on_event = on_event,
    .on_gap = on_gap,
    .on_synced = on_synced,
    .on_freshness = on_freshness,
    .on_batch_end = on_batch_end,
    .on_blocking = on_blocking,
};

int watch_stream_open(struct watch_stream *stream, struct inf_error *err)
{
    struct inf_watch watch = watch_stream_watch(stream->watcher->conf, stream->ns);
    if (saved_stream_must_wait(stream))
        return 0;
    stream->handler = stream_handler;
    stream->informer = saved_stream_open(stream, &watch, err);
    if (!stream->informer)
        return -err->code;
    sm_move(&stream->sm, STREAM_OPEN, "opened");
    return 0;
}

void watch_stream_begin(struct watch_stream *stream)
{
    if (stream->informer && stream->saved.state == SAVED_NOT)
        inf_handler_add(stream->informer, &stream->handler);
}

void watch_stream_change(struct watch_stream *stream, const char *ns, const char *why)
{
    struct inf_watch watch;
    struct inf_error err;
    char *copy = ns ? xstrdup(ns) : NULL;
    free(stream->ns);
    stream->ns = copy;
    free(stream->track);
    stream->track = NULL;
    watch = watch_stream_watch(stream->watcher->conf, stream->ns);
    if (stream->informer && inf_informer_change(stream->informer, &watch, why, &err) < 0)
        abort(); /* UNTESTED: watcher_check() has found it good */
    saved_stream_rebuild(stream, /* regrouped= */ false);
}

void watch_stream_merge(struct watch_stream *stream, struct watch_stream *other)
{
    watcher_keep_counters(other->watcher, other->informer);
    inf_informer_merge(stream->informer, other->informer);
    other->informer = NULL; /* closed */
    saved_stream_rebuild(stream, /* regrouped= */ true);
    watch_stream_discard(other);
}

struct watch_stream *watch_stream_split_off(struct watch_stream *stream, const char *ns,
                                            const char *why)
{
    struct watch_stream *part = watch_stream_new(stream->watcher, ns);
    struct inf_watch watch = watch_stream_watch(stream->watcher->conf, part->ns);
    struct inf_error err;
    part->handler = stream_handler;
    part->informer = inf_informer_carve(stream->informer, &watch, &part->handler, why, &err);
    if (!part->informer)
        abort(); /* UNTESTED: watcher_check() has found it good */
    sm_move(&part->sm, STREAM_OPEN, "split off");
    saved_stream_begin(part);
    saved_stream_rebuild(stream, /* regrouped= */ true);
    return part;
}

bool watch_stream_is_leaving(const struct watch_stream *stream)
{
    return stream->sm.state == STREAM_ENDED || stream->sm.state == STREAM_LEAVING ||
           stream->sm.state == STREAM_RETURNING;
}

bool watch_stream_is_current(const struct watch_stream *stream)
{
    return stream->informer && !watch_stream_is_leaving(stream);
}

void watch_stream_leave(struct watch_stream *stream, const char *why)
{
    sm_move(&stream->sm, STREAM_LEAVING, "%s", why);
    inf_informer_end(stream->informer, why);
}

void watch_stream_end(struct watch_stream *stream, const char *why)
{
    sm_move(&stream->sm, STREAM_ENDED, "%s", why);
    inf_informer_end(stream->informer, why);
}

bool watch_stream_is_empty(const struct watch_stream *stream)
{
    return inf_handler_synced(&stream->handler) && !inf_handler_backlog(&stream->handler) &&
           !inf_store_count(inf_informer_store(stream->informer));
}

bool watch_stream_is_over(const struct watch_stream *stream)
{
    return stream->sm.state == STREAM_ENDED && !inf_handler_backlog(&stream->handler) &&
           !inf_store_count(inf_informer_store(stream->informer));
}

void watch_stream_close(struct watch_stream *stream)
{
    watcher_keep_counters(stream->watcher, stream->informer);
    inf_informer_close(stream->informer, NULL);
    stream->informer = NULL;
}

void watch_stream_discard(struct watch_stream *stream)
{
    saved_stream_drop(stream);
    watch_stream_free(stream);
}

void watch_stream_free(struct watch_stream *stream)
{
    saved_stream_close(stream);
    list_remove(&stream->node);
    watch_stream_close(stream);
    free(stream->ns);
    free(stream->track);
    free(stream);
}
