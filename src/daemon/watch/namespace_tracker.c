/*
 * namespace_tracker.c - handler callbacks only record which namespaces are selected; the task
 * `adjust_streams` then opens, closes and frees streams, which is not allowed inside a callback.
 *
 *     selected           CLOSED -> OPEN
 *     deleted            OPEN -> ENDING until its objects are reported as deleted, or for GRACE_MS
 *     left, or overdue   -> LEAVING: ended; its reported objects are reported as deleted, then it
 *                        is freed
 *     selected again     ENDING -> OPEN, or LEAVING -> RETURNING -> OPEN
 *
 * With state on disk, a namespace that has saved objects and is not in the first list was deleted or
 * has left while the daemon did not run: its stream is opened with these objects and ended.
 *
 * Namespaces over NAMESPACE_TRACKER_MAX get no stream, and the watch is not
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
#include "daemon/watch/stream_id.h"
#include "daemon/watch/watcher.h"

enum {
    GRACE_MS = 30 * 1000, /* for deletions of all objects of a deleted namespace */
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

static struct watch_stream *find_stream_of(const struct watcher *w, struct str ns)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (str_eq(str_of(stream->ns), ns))
            return stream;
    }
    return NULL;
}

static struct watch_stream *find_stream(const struct watcher *w, const char *ns)
{
    return find_stream_of(w, str_of(ns));
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
    sm_move(&stream->sm, stream->sm.state == STREAM_OPEN ? (int)open_as : STREAM_LEAVING,
            "deselected");
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
        sm_move(&stream->sm, watch_stream_is_leaving(stream) ? STREAM_RETURNING : STREAM_OPEN,
                "selected again");
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
    if (!stream->informer) /* the cluster is not identified yet */
        return;
    f->open++;
    stream->late = w->synced;
    watch_stream_begin(stream);
    if (event_channel_is_held(&w->channel))
        inf_handler_pause(&stream->handler);
}

static bool must_leave(const struct watcher *w, const struct watch_stream *stream)
{
    if (stream->sm.state == STREAM_ENDING)
        return watch_stream_is_empty(stream) ||
               clock_now_ms(w->cluster->clock) >= stream->ending_until_ms;
    return stream->sm.state == STREAM_DESELECTED;
}

static void end_stream(struct namespace_tracker *f, struct watch_stream *stream)
{
    f->open--;
    watch_stream_leave(stream, stream->ns_deleted ? "namespace deleted" : SELECTION_NS_LEFT);
}

/* A stream that is LEAVING without an informer never was open. */
static void adjust_stream(struct namespace_tracker *f, struct watch_stream *stream)
{
    if (must_leave(watcher_of(f), stream))
        end_stream(f, stream);
    if (watch_stream_is_leaving(stream) && (!stream->informer || watch_stream_is_empty(stream))) {
        if (stream->sm.state == STREAM_LEAVING) {
            watch_stream_discard(stream);
            return;
        }
        saved_stream_drop(stream);
        watch_stream_close(stream);
        sm_move(&stream->sm, STREAM_CLOSED, "its objects are reported as deleted");
    }
    if (stream->sm.state == STREAM_CLOSED)
        open_stream(f, stream);
}

/* ---- namespaces of the last run ---- */

/* Reports the objects of the saved stream @id as deleted. */
static void end_saved(struct namespace_tracker *f, const char *id)
{
    struct watcher *w = watcher_of(f);
    struct str ns = stream_id_part(id, "namespace");
    char *name = xstrndup(ns.at, ns.len);
    struct watch_stream *stream = watch_stream_new(w, name);
    stream->left_unseen = true;
    list_push(&w->streams, &stream->node);
    open_stream(f, stream);
    sm_move(&stream->sm, stream->informer ? STREAM_DESELECTED : STREAM_LEAVING,
            "not selected any more");
    free(name);
}

/* The id of a saved stream of this watch whose namespace has no stream; NULL: none. @ret_undecided: whether
 * there may be one, when the cluster is identified. */
static const char *find_left_unseen(const struct namespace_tracker *f, bool *ret_undecided)
{
    const struct watcher *w = watcher_of(f);
    struct inf_state_stream *s = NULL;
    while ((s = inf_state_stream_next(w->cluster->state, s))) {
        const char *id = inf_state_stream_id(s);
        enum stream_match match =
            inf_state_stream_is_restored(s) ? stream_id_match_watch(id, w) : STREAM_OTHER;
        struct str ns = stream_id_part(id, "namespace");
        *ret_undecided |= match == STREAM_UNDECIDED;
        if (match == STREAM_SAME && !find_stream_of(w, ns))
            return id;
    }
    return NULL;
}

/* When the first list of namespaces is complete. */
static void end_left_unseen(struct namespace_tracker *f)
{
    bool undecided = false;
    const char *id;
    if (f->compared || !watcher_of(f)->cluster->state || !inf_handler_synced(&f->handler))
        return;
    while (f->open < NAMESPACE_TRACKER_MAX && (id = find_left_unseen(f, &undecided)))
        end_saved(f, id);
    f->compared = !undecided;
}

static void adjust_streams(struct task *task)
{
    struct namespace_tracker *f = container_of(task, struct namespace_tracker, adjust);
    struct watcher *w = watcher_of(f);
    end_left_unseen(f);
    list_for_each_safe(node, &w->streams)
        adjust_stream(f, container_of(node, struct watch_stream, node));
    watcher_check_synced(w);
    event_consumers_flush(w->channel.consumers);
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
        if (!watch_stream_is_leaving(stream))
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
