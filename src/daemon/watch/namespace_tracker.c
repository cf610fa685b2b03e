/*
 * namespace_tracker.c - handler callbacks only record which namespaces are selected; the task
 * `adjust_streams` then opens, closes and frees streams, which is not allowed inside a callback.
 *
 *     selected           CLOSED -> OPEN
 *     deleted            OPEN -> ENDING until its objects are reported as deleted, or for GRACE_MS
 *     left, or overdue   -> LEAVING: closed; its reported objects are reported as deleted, in
 *                        slices; then it is freed
 *     selected again     ENDING -> OPEN, or LEAVING -> RETURNING -> OPEN
 *
 * While the watch is held nothing is reported; the watcher schedules `adjust_streams`
 * again afterwards. Namespaces over NAMESPACE_TRACKER_MAX get no stream, and the watch is not
 * synced: its status has the error.
 */
#include "daemon/watch/namespace_tracker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/glob.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/watcher.h"

enum {
    GRACE_MS = 30 * 1000, /* for deletions of all objects of a deleted namespace */
    SLICE = 256,          /* objects reported as deleted before other tasks run */
};

static struct watcher *watcher_of(const struct namespace_tracker *f)
{
    return container_of(f, struct watcher, tracker);
}

static struct namespace_tracker *namespace_tracker_of(struct inf_handler *handler)
{
    return container_of(handler, struct namespace_tracker, handler);
}

void namespace_tracker_adjust(struct namespace_tracker *f)
{
    task_schedule(watcher_of(f)->cluster->clock, &f->adjust);
}

/* ---- events of namespaces ---- */

static struct watch_stream *find_stream(const struct watcher *w, const char *ns)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (strcmp(stream->ns, ns) == 0)
            return stream;
    }
    return NULL;
}

static bool is_selected(const struct watch_stream *stream)
{
    return stream->sm.state == STREAM_CLOSED || stream->sm.state == STREAM_OPEN ||
           stream->sm.state == STREAM_RETURNING;
}

/* @open_as is the next state if the stream is open: STREAM_ENDING or STREAM_DESELECTED. */
static void deselect_stream(struct namespace_tracker *f, struct watch_stream *stream,
                            bool ns_deleted, enum watch_stream_state open_as)
{
    f->selected--;
    stream->ns_deleted = ns_deleted;
    sm_move(&stream->sm, stream->informer ? (int)open_as : STREAM_LEAVING, "deselected");
}

static void select_namespace(struct namespace_tracker *f, const char *ns)
{
    struct watcher *w = watcher_of(f);
    const struct conf_list *excluded = &w->conf->exclude_namespaces;
    struct watch_stream *stream = find_stream(w, ns);
    if (glob_any((const char *const *)excluded->items, excluded->count, ns))
        return;
    if (!stream) {
        stream = watch_stream_new(w, ns);
        list_push(&w->streams, &stream->node);
        f->selected++;
    } else if (!is_selected(stream)) {
        sm_move(&stream->sm, stream->informer ? STREAM_OPEN : STREAM_RETURNING, "selected again");
        f->selected++;
    }
}

/* If the final state is unknown, the namespace may have been deleted or have left the selection.
 * It is treated as deleted: if that is wrong, GRACE_MS passes without deletions of its objects. */
static void deselect_namespace(struct namespace_tracker *f, const struct inf_event *gone)
{
    struct watcher *w = watcher_of(f);
    struct watch_stream *stream = find_stream(w, inf_object_name(gone->old_object));
    bool deleted = selection_being_deleted(&w->selection, gone->old_object);
    if (!stream || !is_selected(stream))
        return;
    if (!deleted && (gone->final || f->reselected)) {
        deselect_stream(f, stream, false, STREAM_DESELECTED);
        return;
    }
    deselect_stream(f, stream, deleted, STREAM_ENDING);
    stream->ending_until_ms = clock_now_ms(w->cluster->clock) + GRACE_MS;
    timer_start(w->cluster->clock, &f->grace, GRACE_MS);
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    struct namespace_tracker *f = namespace_tracker_of(handler);
    (void)informer;
    if (event->verb == INF_DELETED)
        deselect_namespace(f, event);
    else
        select_namespace(f, inf_object_name(event->new_object));
    namespace_tracker_adjust(f);
}

/* All namespaces in the store: some may have been excluded by the previous conf. */
static void select_all_namespaces(struct namespace_tracker *f)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *ns;
    while ((ns = inf_store_next(inf_informer_store(f->informer), &cursor)))
        select_namespace(f, inf_object_name(ns));
    inf_cursor_end(&cursor);
}

/* In the first list of a changed selector, a missing namespace has left the selection. */
static void on_gap(struct inf_handler *handler, struct inf_informer *informer,
                   const struct inf_gap *gap)
{
    struct namespace_tracker *f = namespace_tracker_of(handler);
    (void)informer;
    f->reselected = f->why && strcmp(gap->text, f->why) == 0;
    if (!f->reselected)
        return;
    select_all_namespaces(f);
    namespace_tracker_adjust(f);
}

static void on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    struct namespace_tracker *f = namespace_tracker_of(handler);
    (void)informer;
    namespace_tracker_adjust(f);
}

static void on_grace_over(struct timer *timer)
{
    namespace_tracker_adjust(container_of(timer, struct namespace_tracker, grace));
}

/* ---- streams ---- */

static void open_stream(struct namespace_tracker *f, struct watch_stream *stream)
{
    struct watcher *w = watcher_of(f);
    struct inf_error err = {0};
    if (f->open == NAMESPACE_TRACKER_MAX)
        return;
    if (watch_stream_open(stream, &err) < 0) { /* UNTESTED: the conf was checked */
        daemon_log_printf(w->cluster->log, INF_LOG_ERROR, "%s", err.text);
        return;
    }
    f->open++;
    stream->late = w->synced;
    watch_stream_begin(stream);
    if (event_channel_is_held(&w->channel))
        inf_handler_pause(&stream->handler);
}

/* Reports what the stream reported as deleted, in slices. True if objects are left after one slice,
 * or because the watch is held. */
static bool report_some_deleted(struct watcher *w, struct watch_stream *stream)
{
    for (int i = 0; i < SLICE && !event_channel_is_held(&w->channel); i++) {
        const struct inf_object *object = reported_objects_take(&stream->reported);
        struct inf_event gone = {.verb = INF_DELETED,
                                 .origin = INF_LIVE,
                                 .old_object = object,
                                 .final = !stream->ns_deleted,
                                 .received_us = clock_wall_us(w->cluster->clock)};
        if (!object)
            return false;
        event_channel_event(&w->channel, &gone, stream->ns_deleted ? "deleted" : SELECTION_NS_LEFT);
        inf_object_unref(object);
    }
    return !reported_objects_is_empty(&stream->reported);
}

static bool must_close(const struct watcher *w, const struct watch_stream *stream)
{
    if (stream->sm.state == STREAM_ENDING)
        return reported_objects_is_empty(&stream->reported) ||
               clock_now_ms(w->cluster->clock) >= stream->ending_until_ms;
    return stream->sm.state == STREAM_DESELECTED;
}

/* True if `adjust_streams` has to run again for this stream without waiting for an event. */
static bool adjust_stream(struct namespace_tracker *f, struct watch_stream *stream)
{
    struct watcher *w = watcher_of(f);
    if (must_close(w, stream)) { /* events that it has not reported yet are dropped */
        watch_stream_close(stream);
        f->open--;
        sm_move(&stream->sm, STREAM_LEAVING, "closed");
    }
    if (stream->sm.state == STREAM_LEAVING || stream->sm.state == STREAM_RETURNING) {
        if (report_some_deleted(w, stream))
            return !event_channel_is_held(&w->channel);
        if (stream->sm.state == STREAM_LEAVING) {
            watch_stream_free(stream);
            return false;
        }
        sm_move(&stream->sm, STREAM_CLOSED, "its objects are reported as deleted");
    }
    if (stream->sm.state == STREAM_CLOSED)
        open_stream(f, stream);
    return false;
}

static void adjust_streams(struct task *task)
{
    struct namespace_tracker *f = container_of(task, struct namespace_tracker, adjust);
    struct watcher *w = watcher_of(f);
    bool again = false;
    list_for_each_safe(node, &w->streams)
        again |= adjust_stream(f, container_of(node, struct watch_stream, node));
    watcher_check_synced(w);
    event_consumers_flush(w->channel.consumers);
    if (again)
        namespace_tracker_adjust(f);
}

/* ---- life ---- */

static struct inf_watch watch_of_namespaces(const struct conf_watch *conf)
{
    return (struct inf_watch){.resource = "namespaces",
                              .log_name = conf->name,
                              .label_selector = conf->namespace_selector,
                              .metadata_only = true};
}

int namespace_tracker_open(struct namespace_tracker *f, struct watcher *w, struct inf_error *err)
{
    struct inf_watch watch = watch_of_namespaces(w->conf);
    task_init(&f->adjust, PHASE_PUMP, adjust_streams);
    f->grace.fire = on_grace_over;
    f->handler =
        (struct inf_handler){.on_event = on_event, .on_gap = on_gap, .on_synced = on_synced};
    if (!w->conf->namespace_selector)
        return 0;
    f->informer = inf_informer_open(w->cluster->client, &watch, err);
    return f->informer ? 0 : -err->code;
}

void namespace_tracker_begin(struct namespace_tracker *f)
{
    if (f->informer)
        inf_handler_add(f->informer, &f->handler);
}

void namespace_tracker_change(struct namespace_tracker *f, const struct conf_watch *before,
                              const char *why)
{
    struct watcher *w = watcher_of(f);
    struct inf_watch watch = watch_of_namespaces(w->conf);
    const struct conf_list *excluded = &w->conf->exclude_namespaces;
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (is_selected(stream) &&
            glob_any((const char *const *)excluded->items, excluded->count, stream->ns))
            deselect_stream(f, stream, false, STREAM_DESELECTED);
    }
    if (strcmp(before->namespace_selector, w->conf->namespace_selector) == 0) {
        select_all_namespaces(f);
    } else {
        str_replace(&f->why, why);
        inf_informer_change(f->informer, &watch, why, NULL); /* its selector was checked */
    }
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        watch_stream_change(stream, stream->ns, why);
    }
    namespace_tracker_adjust(f);
}

void namespace_tracker_close(struct namespace_tracker *f)
{
    free(f->why);
    f->why = NULL;
    timer_stop(watcher_of(f)->cluster->clock, &f->grace);
    task_cancel(&f->adjust);
    inf_informer_close(f->informer, NULL);
    f->informer = NULL;
}

/* ---- status ---- */

bool namespace_tracker_is_active(const struct namespace_tracker *f)
{
    return f->informer != NULL;
}

bool namespace_tracker_complete(const struct namespace_tracker *f)
{
    if (!f->informer)
        return true;
    list_for_each(node, &watcher_of(f)->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->sm.state == STREAM_CLOSED || stream->sm.state == STREAM_RETURNING)
            return false;
    }
    return inf_handler_synced(&f->handler);
}

void namespace_tracker_status(const struct namespace_tracker *f, struct watcher_status *status)
{
    struct inf_status one;
    if (!f->informer)
        return;
    status->by_labels = true;
    inf_informer_status(f->informer, &one);
    one.synced &= namespace_tracker_complete(f);
    if (f->selected > NAMESPACE_TRACKER_MAX && !one.error.code)
        err_set(&one.error, INF_ETOOBIG,
                "namespace_selector selects %zu namespaces, the limit is %d; select fewer, or "
                "watch all namespaces except exclude_namespaces",
                f->selected, NAMESPACE_TRACKER_MAX);
    else if (one.error.code)
        err_wrap(&one.error, "namespaces");
    watcher_status_add(status, &one, NULL);
    status->streams--; /* it is not one of the watch's own streams */
    status->live -= watcher_stream_is_live(&one);
}
