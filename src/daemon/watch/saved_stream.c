/*
 * saved_stream.c - finds, notes and rebuilds the objects of a stream in the state on disk.
 *
 * Normal path: saved_stream_open() finds the stream by its id, then each event is noted, and each batch
 * ends with the position that the handler has reached. In the middle of the differences of a list that
 * is INF_POSITION_MIXED: then the next run lists and compares. If the state is suspended, notes are
 * ignored, and the stream is rebuilt afterwards.
 */
#include "daemon/watch/saved_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/stream_id.h"
#include "daemon/watch/watch_stream.h"
#include "daemon/watch/watcher.h"

static const char changed_between_runs[] =
    "its selection or its fields have changed since the last run; comparing with a new list";

/* ---- finding ---- */

static struct inf_state *state_for(const struct watch_stream *stream)
{
    return stream->watcher->cluster->state;
}

/* The stream of the last run that has the same objects, perhaps in another form. NULL: none. */
static struct inf_state_stream *find_comparable(const struct watch_stream *stream, const char *id)
{
    const struct inf_state *state = stream->watcher->cluster->state;
    struct inf_state_stream *found = NULL, *s = NULL;
    while ((s = inf_state_stream_next(state, s))) {
        const char *other = inf_state_stream_id(s);
        if (!inf_state_stream_is_restored(s) || stream_id_match(other, stream) != STREAM_SAME)
            continue;
        found = s;
        if (strcmp(stream_id_form(id), stream_id_form(other)) == 0)
            break;
    }
    return found;
}

bool saved_stream_must_wait(const struct watch_stream *stream)
{
    struct cluster *cluster = stream->watcher->cluster;
    struct inf_state_stream *s = NULL;
    bool undecided = false;
    if (!state_for(stream))
        return false;
    while ((s = inf_state_stream_next(cluster->state, s))) {
        enum stream_match match = inf_state_stream_is_restored(s)
                                      ? stream_id_match(inf_state_stream_id(s), stream)
                                      : STREAM_OTHER;
        if (match == STREAM_SAME)
            return false;
        undecided |= match == STREAM_UNDECIDED;
    }
    cluster->identity.awaited |= undecided;
    return undecided;
}

/* After a restart its objects are compared with a list. A stream that never was complete has no
 * position. */
static void mark_mixed(struct inf_state_stream *saved)
{
    if (inf_state_stream_version(saved)[0])
        inf_state_position(saved, INF_POSITION_MIXED);
}

/* ---- rebuilding ---- */

static void finish_rebuild(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    inf_cursor_end(&saved->walk);
    saved->state = SAVED_COMPLETE;
    saved_stream_update_id(stream);
    saved_stream_batch_end(stream);
}

/* Events that arrive meanwhile are noted as usual. While some wait to be delivered, the store is ahead of
 * what was reported: nothing is taken from it until saved_stream_batch_end(). */
static void rebuild_some(struct task *task)
{
    struct saved_stream *saved = container_of(task, struct saved_stream, rebuild);
    struct watch_stream *stream = container_of(saved, struct watch_stream, saved);
    const struct inf_store *store = inf_informer_store(stream->informer);
    const struct inf_object *object = NULL;
    if (!inf_handler_position(&stream->handler))
        return;
    do {
        object = inf_store_next(store, &saved->walk);
        if (object)
            inf_state_note(saved->stream, stream->informer,
                           &(struct inf_event){.verb = INF_ADDED, .new_object = object});
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
    mark_mixed(saved->stream);
    if (inf_handler_position(&stream->handler))
        start_rebuild(stream);
}

void saved_stream_emptied(struct watch_stream *stream)
{
    inf_state_position(stream->saved.stream, "");
    saved_stream_rebuild(stream, /* regrouped= */ false);
}

/* ---- events ---- */

void saved_stream_note(struct watch_stream *stream, const struct inf_event *event)
{
    if (stream->saved.state != SAVED_NOT)
        inf_state_note(stream->saved.stream, stream->informer, event);
}

/* Until the first list was reported completely there is no position: what a next run reports of it is
 * initial, too. */
static void save_position(struct watch_stream *stream)
{
    struct inf_state_stream *saved = stream->saved.stream;
    const char *version = inf_handler_checkpoint(&stream->handler);
    if (!version || strcmp(version, inf_state_stream_version(saved)) == 0)
        return;
    if (strcmp(version, INF_POSITION_MIXED) == 0)
        mark_mixed(saved);
    else
        inf_state_position(saved, version);
}

void saved_stream_batch_end(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    switch (saved->state) {
    case SAVED_NOT: break;
    case SAVED_COMPLETE:
        if (watch_stream_is_leaving(stream)) /* it lacks objects that exist */
            mark_mixed(saved->stream);
        else
            save_position(stream);
        break;
    case SAVED_OUTDATED:
    case SAVED_REGROUPED:
        if (inf_handler_position(&stream->handler))
            start_rebuild(stream);
        break;
    case SAVED_REBUILDING: task_schedule(saved->clock, &saved->rebuild); break;
    }
}

/* ---- life ---- */

void saved_stream_update_id(struct watch_stream *stream)
{
    struct saved_stream *saved = &stream->saved;
    char *id = stream_id_make(stream);
    if (saved->state == SAVED_COMPLETE && strcmp(inf_state_stream_id(saved->stream), id) != 0)
        inf_state_stream_rename(saved->stream, id);
    free(id);
}

static void log_same_cluster(const struct watcher *w, struct str before)
{
    const char *now = inf_client_server(w->cluster->client);
    if (!str_eq(before, str_of(now)))
        daemon_log_printf(w->cluster->log, INF_LOG_INFO,
                          "watch %s: %s is the same cluster as %.*s of the last run (uid %s)",
                          w->conf->name, now, STR_FMT(before), w->cluster->identity.uid);
}

static void use_found(struct watch_stream *stream, struct inf_state_stream *found, const char *id)
{
    const struct watcher *w = stream->watcher;
    stream->saved.stream = found;
    log_same_cluster(w, stream_id_part(inf_state_stream_id(found), "server"));
    if (strcmp(stream_id_form(inf_state_stream_id(found)), stream_id_form(id)) == 0) {
        saved_stream_update_id(stream);
        return;
    }
    stream->saved.state = SAVED_OUTDATED;
    mark_mixed(found);
    daemon_log_printf(w->cluster->log, INF_LOG_INFO, "watch %s: %s", w->conf->name,
                      changed_between_runs);
}

/* Uses the stream of the last run with the objects of @stream, or a new one. */
static void find_stream(struct watch_stream *stream)
{
    struct inf_state *state = stream->watcher->cluster->state;
    char *id = stream_id_make(stream);
    struct inf_state_stream *found = find_comparable(stream, id);
    if (found)
        use_found(stream, found, id);
    else
        stream->saved.stream = inf_state_stream(state, id);
    if (!found &&
        inf_state_stream_count(stream->saved.stream)) /* of a watch that this one replaces */
        stream->saved.state = SAVED_REGROUPED;
    free(id);
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
    char *id;
    if (!state_for(stream))
        return;
    id = stream_id_make(stream);
    start_saving(stream);
    stream->saved.stream = inf_state_stream(state_for(stream), id);
    saved_stream_rebuild(stream, /* regrouped= */ true);
    free(id);
}

struct inf_informer *saved_stream_open(struct watch_stream *stream, const struct inf_watch *watch,
                                       struct inf_error *err)
{
    struct cluster *cluster = stream->watcher->cluster;
    if (!state_for(stream))
        return inf_informer_open(cluster->client, watch, err);
    start_saving(stream);
    find_stream(stream);
    stream->saved.resumed = inf_state_stream_is_restored(stream->saved.stream);
    return inf_informer_restore_changed(
        cluster->client, watch, stream->saved.stream, &stream->handler,
        stream->saved.state == SAVED_OUTDATED ? changed_between_runs : NULL, err);
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
