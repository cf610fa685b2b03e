/*
 * namespace_tracker.c - callbacks note what is wanted; what follows from that is done a little later, in
 * namespace_tracker_adjust(), where streams may be opened and freed.
 *
 *     selected          -> open
 *     deleted           -> open until its objects are all told, or for GRACE_MS
 *     left, or overdue  -> closed; what was told of it is told as gone, by slices; freed
 */
#include "daemon/watch/namespace_tracker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/glob.h"
#include "daemon/watch/watcher.h"

enum {
    GRACE_MS = 30 * 1000, /* that the objects of a deleted namespace have to be told */
    SLICE = 256,          /* objects told as gone before others have their turn */
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
    task_schedule(watcher_of(f)->journal->clock, &f->adjust);
}

/* ---- what namespaces do ---- */

static struct watch_stream *find(const struct watcher *w, const char *ns)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (strcmp(stream->ns, ns) == 0)
            return stream;
    }
    return NULL;
}

static void want(struct namespace_tracker *f, const char *ns)
{
    struct watcher *w = watcher_of(f);
    const struct conf_list *excluded = &w->conf->exclude_namespaces;
    struct watch_stream *stream = find(w, ns);
    if (glob_any((const char *const *)excluded->items, excluded->count, ns))
        return;
    if (!stream) {
        stream = watch_stream_new(w, ns);
        stream->followed = true;
        list_push(&w->streams, &stream->node);
    }
    f->selected += !stream->wanted;
    stream->wanted = true;
    stream->ending = false;
}

/* If its end was not seen it may have been either: time will tell, for the objects of one that was
 * deleted go too. */
static void let_go(struct namespace_tracker *f, const struct inf_event *gone)
{
    struct watcher *w = watcher_of(f);
    struct watch_stream *stream = find(w, inf_object_name(gone->old_object));
    if (!stream || !stream->wanted)
        return;
    f->selected--;
    stream->wanted = false;
    stream->deleted = selection_being_deleted(&w->selection, gone->old_object);
    stream->ending = stream->deleted || (!gone->final && !f->reselected);
    stream->ending_until_ms = clock_now_ms(w->journal->clock) + GRACE_MS;
    if (stream->ending)
        timer_start(w->journal->clock, &f->grace, GRACE_MS);
}

static void on_event(struct inf_handler *handler, const struct inf_event *event)
{
    struct namespace_tracker *f = namespace_tracker_of(handler);
    if (event->verb == INF_DELETED)
        let_go(f, event);
    else
        want(f, inf_object_name(event->new_object));
    namespace_tracker_adjust(f);
}

/* All that are there: some may have been excluded before. */
static void want_all(struct namespace_tracker *f)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *ns;
    while ((ns = inf_store_next(inf_informer_store(f->informer), &cursor)))
        want(f, inf_object_name(ns));
    inf_cursor_end(&cursor);
}

/* The first list of another selector: what is missing in it has left. */
static void on_gap(struct inf_handler *handler, const struct inf_gap *gap)
{
    struct namespace_tracker *f = namespace_tracker_of(handler);
    f->reselected = f->why && strcmp(gap->text, f->why) == 0;
    if (!f->reselected)
        return;
    want_all(f);
    namespace_tracker_adjust(f);
}

static void on_synced(struct inf_handler *handler)
{
    struct namespace_tracker *f = namespace_tracker_of(handler);
    f->synced = true;
    namespace_tracker_adjust(f);
}

static void on_grace_over(struct timer *timer)
{
    namespace_tracker_adjust(container_of(timer, struct namespace_tracker, grace));
}

/* ---- what follows from it ---- */

static void open_feed(struct namespace_tracker *f, struct watch_stream *stream)
{
    struct watcher *w = watcher_of(f);
    struct inf_error err = {0};
    if (f->open == NAMESPACE_TRACKER_MAX)
        return;
    if (watch_stream_open(stream, &err) < 0) { /* UNTESTED: the conf was checked */
        w->journal->log(w->journal->owner, INF_LOG_ERROR, err.text);
        return;
    }
    f->open++;
    stream->late = w->synced;
    watch_stream_begin(stream);
    if (w->told.held)
        inf_handler_pause(&stream->handler);
}

/* What it has not told yet it never will. */
static void close_feed(struct namespace_tracker *f, struct watch_stream *stream)
{
    watch_stream_close(stream);
    f->open--;
    stream->leaving = true;
}

/* One object that was told is told as gone. */
static bool tell_one(struct watcher *w, struct watch_stream *stream)
{
    const struct inf_object *object = reported_objects_take(&stream->told);
    struct journal_watch *told = watcher_named(w);
    struct inf_event gone = {.verb = INF_DELETED,
                             .origin = INF_LIVE,
                             .old_object = object,
                             .final = !stream->deleted,
                             .received_us = clock_wall_us(w->journal->clock)};
    if (!object)
        return false;
    told->id.why = stream->deleted ? "deleted" : SELECTION_NS_LEFT;
    journal_event(w->journal, told, &gone);
    told->id.why = NULL;
    inf_object_unref(object);
    return true;
}

/* True if there is more to tell than one slice, or than there is room for. */
static bool tell_some(struct watcher *w, struct watch_stream *stream)
{
    for (int i = 0; i < SLICE && !w->told.held; i++)
        if (!tell_one(w, stream))
            break;
    return !reported_objects_is_empty(&stream->told);
}

static bool is_over(struct watcher *w, const struct watch_stream *stream)
{
    return !stream->ending || reported_objects_is_empty(&stream->told) ||
           clock_now_ms(w->journal->clock) >= stream->ending_until_ms;
}

/* True if it has to be looked at again, without anything happening. */
static bool adjust_feed(struct namespace_tracker *f, struct watch_stream *stream)
{
    struct watcher *w = watcher_of(f);
    if (stream->informer && !stream->wanted && is_over(w, stream))
        close_feed(f, stream);
    if (stream->leaving && tell_some(w, stream))
        return !w->told.held;
    stream->leaving = false;
    if (stream->wanted && !stream->informer)
        open_feed(f, stream);
    else if (!stream->wanted && !stream->informer)
        watch_stream_free(stream);
    return false;
}

static void adjust(struct task *task)
{
    struct namespace_tracker *f = container_of(task, struct namespace_tracker, adjust);
    struct watcher *w = watcher_of(f);
    bool again = false;
    list_for_each_safe(node, &w->streams)
        again |= adjust_feed(f, container_of(node, struct watch_stream, node));
    watcher_check_synced(w);
    journal_flush(w->journal);
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
    task_init(&f->adjust, PHASE_PUMP, adjust);
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

/* Namespaces that are selected may be excluded now. */
static void let_go_excluded(struct namespace_tracker *f)
{
    struct watcher *w = watcher_of(f);
    const struct conf_list *excluded = &w->conf->exclude_namespaces;
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (!stream->wanted ||
            !glob_any((const char *const *)excluded->items, excluded->count, stream->ns))
            continue;
        f->selected--;
        stream->wanted = stream->deleted = stream->ending = false;
    }
}

void follower_change(struct namespace_tracker *f, const struct conf_watch *before, const char *why)
{
    struct watcher *w = watcher_of(f);
    struct inf_watch watch = watch_of_namespaces(w->conf);
    let_go_excluded(f);
    if (strcmp(before->namespace_selector, w->conf->namespace_selector) == 0) {
        want_all(f);
    } else {
        str_replace(&f->why, why);
        inf_informer_change(f->informer, &watch, why, NULL); /* its selector was checked */
    }
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        feed_change(stream, stream->ns, why);
    }
    namespace_tracker_adjust(f);
}

void namespace_tracker_close(struct namespace_tracker *f)
{
    free(f->why);
    f->why = NULL;
    timer_stop(watcher_of(f)->journal->clock, &f->grace);
    task_cancel(&f->adjust);
    inf_informer_close(f->informer);
    f->informer = NULL;
}

/* ---- how it is doing ---- */

bool namespace_tracker_complete(const struct namespace_tracker *f)
{
    if (!f->informer)
        return true;
    list_for_each(node, &watcher_of(f)->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->wanted && !stream->informer)
            return false;
    }
    return f->synced;
}

static bool is_over_limit(const struct namespace_tracker *f)
{
    return f->selected > NAMESPACE_TRACKER_MAX;
}

void namespace_tracker_status(const struct namespace_tracker *f, struct watcher_status *status)
{
    struct inf_status one;
    if (!f->informer)
        return;
    status->by_labels = true;
    inf_informer_status(f->informer, &one);
    one.synced &= namespace_tracker_complete(f);
    if (is_over_limit(f) && !one.error.code)
        err_set(&one.error, INF_ETOOBIG,
                "namespace_selector selects %zu namespaces, the limit is %d; select fewer, or "
                "watch all namespaces except exclude_namespaces",
                f->selected, NAMESPACE_TRACKER_MAX);
    else if (one.error.code)
        err_wrap(&one.error, "namespaces");
    watcher_status_add(status, &one, NULL);
    status->streams--; /* it is none of the watch's own */
    status->live -= watcher_stream_is_live(&one);
}
