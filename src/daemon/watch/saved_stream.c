/*
 * saved_stream.c - finds, notes and rebuilds the objects of a stream in the state on disk.
 *
 * Normal path: saved_stream_open() finds the stream by its id, then each event is noted with its
 * position. The position is valid only if everything before it was noted: after an event of a list it
 * is removed, and set again when the handler is current. A next run without a position lists and
 * compares. If the state is suspended, notes are ignored, and the stream is rebuilt afterwards.
 */
#include "daemon/watch/saved_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/watch_stream.h"
#include "daemon/watch/watcher.h"

enum {
    REBUILD_SLICE = 64, /* objects noted between two checks of the time budget */
};

/* ---- id ---- */

/* What a stream must have in common with another one to be comparable. */
static void put_head(struct buf *id, const struct watch_stream *stream)
{
    const struct watcher *w = stream->watcher;
    buf_printf(id, "server %s\nwatch %s\nresource %s\nnamespace %s\n\n",
               inf_client_server(w->cluster->client), w->conf->name, w->conf->resource,
               stream->ns ? stream->ns : "*");
}

static void put_list(struct buf *id, const char *name, const char *const *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(id, "%s %s\n", name, items[i]);
}

/* What determines which objects are selected, and which of their fields are kept. */
static void put_shape(struct buf *id, const struct inf_watch *watch)
{
    if (watch->label_selector)
        buf_printf(id, "labels %s\n", watch->label_selector);
    if (watch->field_selector)
        buf_printf(id, "fields %s\n", watch->field_selector);
    put_list(id, "exclude", watch->exclude_ns, watch->n_exclude_ns);
    put_list(id, "drop", watch->drop, watch->n_drop);
    put_list(id, "redact", watch->redact, watch->n_redact);
    if (watch->reveal)
        buf_puts(id, "reveal\n");
    if (watch->metadata_only)
        buf_puts(id, "metadata\n");
}

/* The caller frees it. @ret_head is the length of its first part. */
static char *stream_id(const struct watch_stream *stream, size_t *ret_head)
{
    struct inf_watch watch = watch_stream_watch(stream->watcher->conf, stream->ns);
    struct buf id = {0};
    put_head(&id, stream);
    *ret_head = id.len;
    put_shape(&id, &watch);
    buf_putc(&id, '\0');
    return id.bytes;
}

/* The stream of the last run that has the same objects, perhaps in another form. NULL: none. */
static struct inf_state_stream *find_comparable(const struct inf_state *state, const char *id,
                                                size_t head)
{
    struct inf_state_stream *found = NULL, *s = NULL;
    while ((s = inf_state_stream_next(state, s))) {
        const char *other = inf_state_stream_id(s);
        if (!inf_state_stream_is_restored(s) || strncmp(id, other, head) != 0)
            continue;
        if (strcmp(id, other) == 0)
            return s;
        found = s;
    }
    return found;
}

/* ---- rebuilding ---- */

static void finish_rebuild(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    size_t head;
    char *id = stream_id(stream, &head);
    if (strcmp(inf_state_stream_id(saved->stream), id) != 0)
        inf_state_stream_rename(saved->stream, id);
    free(id);
    inf_cursor_end(&saved->walk);
    saved->state = SAVED_COMPLETE;
    saved_stream_batch_end(stream);
}

/* Events that arrive meanwhile are noted as usual. */
static void rebuild_some(struct task *task)
{
    struct saved_stream *saved = container_of(task, struct saved_stream, rebuild);
    struct watch_stream *stream = container_of(saved, struct watch_stream, saved);
    const struct inf_store *store = inf_informer_store(stream->informer);
    const struct inf_object *object = NULL;
    do {
        for (size_t i = 0; i < REBUILD_SLICE; i++) {
            object = inf_store_next(store, &saved->walk);
            if (!object)
                break;
            inf_state_note(saved->stream, stream->informer,
                           &(struct inf_event){.verb = INF_ADDED, .new_object = object});
        }
    } while (object && !clock_over_budget(saved->clock));
    if (object)
        task_schedule(saved->clock, task);
    else
        finish_rebuild(stream);
    event_consumers_flush(stream->watcher->channel.consumers);
}

static void start_rebuild(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    if (saved->state == SAVED_REGROUPED) {
        char *id = xstrdup(inf_state_stream_id(saved->stream));
        inf_state_stream_drop(saved->stream);
        saved->stream = inf_state_stream(stream->watcher->cluster->state, id);
        free(id);
    }
    saved->state = SAVED_REBUILDING;
    task_schedule(saved->clock, &saved->rebuild);
}

void saved_stream_rebuild(struct watch_stream *stream, bool regrouped)
{
    struct saved_stream *saved = &stream->saved;
    if (saved->state == SAVED_NOT)
        return;
    task_cancel(&saved->rebuild);
    inf_cursor_end(&saved->walk);
    if (saved->state != SAVED_REGROUPED)
        saved->state = regrouped ? SAVED_REGROUPED : SAVED_OUTDATED;
    inf_state_position(saved->stream, "");
    if (inf_handler_position(&stream->handler))
        start_rebuild(stream);
}

/* ---- events ---- */

/* The order of a stream that coalesces changes is not that of their versions, and the version of a
 * deletion that was found by comparison is that of an earlier state. */
static bool has_position(const struct watch_stream *stream, const struct inf_event *event)
{
    return stream->saved.state == SAVED_COMPLETE && event->origin == INF_LIVE && event->final &&
           !stream->watcher->conf->coalesce;
}

void saved_stream_note(struct watch_stream *stream, const struct inf_event *event)
{
    struct saved_stream *saved = &stream->saved;
    if (saved->state == SAVED_NOT || event->origin == INF_RESYNC)
        return;
    inf_state_note(saved->stream, stream->informer, event);
    inf_state_position(saved->stream, has_position(stream, event)
                                          ? inf_object_resource_version(inf_event_object(event))
                                          : "");
}

void saved_stream_batch_end(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    const char *version;
    if ((saved->state == SAVED_OUTDATED || saved->state == SAVED_REGROUPED) &&
        inf_handler_position(&stream->handler))
        start_rebuild(stream);
    version = saved->state == SAVED_COMPLETE ? inf_handler_position(&stream->handler) : NULL;
    if (version && strcmp(version, inf_state_stream_version(saved->stream)) != 0)
        inf_state_position(saved->stream, version);
}

/* ---- life ---- */

/* Returns the stream of the last run with the objects of @stream, or a new one. */
static struct inf_state_stream *find_stream(struct watch_stream *stream, struct inf_state *state)
{
    size_t head;
    char *id = stream_id(stream, &head);
    struct inf_state_stream *found = find_comparable(state, id, head);
    if (!found) {
        found = inf_state_stream(state, id);
    } else if (strcmp(inf_state_stream_id(found), id) != 0) {
        stream->saved.state = SAVED_OUTDATED;
        inf_state_position(found, "");
        daemon_log_printf(stream->watcher->cluster->log, INF_LOG_INFO,
                          "watch %s: its selection or its fields have changed since the last run; "
                          "comparing with a new list",
                          stream->watcher->conf->name);
    }
    free(id);
    return found;
}

/* Not if namespaces are selected by label: what has to be reported as deleted when a namespace leaves
 * the selection is not saved. */
static struct inf_state *state_for(const struct watch_stream *stream)
{
    const struct watcher *w = stream->watcher;
    return w->conf->namespace_selector ? NULL : w->cluster->state;
}

static void start_saving(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    saved->state = SAVED_COMPLETE;
    saved->clock = stream->watcher->cluster->clock;
    task_init(&saved->rebuild, PHASE_PUMP, rebuild_some);
}

void saved_stream_begin(struct watch_stream *stream)
{
    size_t head;
    char *id = stream_id(stream, &head);
    if (state_for(stream)) {
        start_saving(stream);
        stream->saved.stream = inf_state_stream(state_for(stream), id);
        saved_stream_rebuild(stream, /* regrouped= */ true);
    }
    free(id);
}

struct inf_informer *saved_stream_open(struct watch_stream *stream, const struct inf_watch *watch,
                                       struct inf_error *err)
{
    struct cluster *cluster = stream->watcher->cluster;
    if (!state_for(stream))
        return inf_informer_open(cluster->client, watch, err);
    start_saving(stream);
    stream->saved.stream = find_stream(stream, cluster->state);
    stream->saved.resumed = inf_state_stream_is_restored(stream->saved.stream);
    stream->saved.was_synced =
        stream->saved.resumed && inf_state_stream_written_us(stream->saved.stream);
    return inf_informer_restore(cluster->client, watch, stream->saved.stream, &stream->handler,
                                err);
}

void saved_stream_close(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    if (saved->state == SAVED_NOT)
        return;
    task_cancel(&saved->rebuild);
    inf_cursor_end(&saved->walk);
    saved->state = SAVED_NOT;
    saved->stream = NULL;
}

void saved_stream_drop(struct watch_stream *stream)
{
    struct inf_state_stream *saved = stream->saved.stream;
    saved_stream_close(stream);
    if (saved)
        inf_state_stream_drop(saved);
}
