/*
 * namespace_tracker.c - callbacks note what is wanted; what follows from that is done a little later, in
 * follower_adjust(), where feeds may be opened and freed.
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

static struct watcher *watcher_of(const struct follower *f)
{
    return container_of(f, struct watcher, follower);
}

static struct follower *follower_of(struct inf_handler *handler)
{
    return container_of(handler, struct follower, handler);
}

void follower_adjust(struct follower *f)
{
    task_schedule(watcher_of(f)->journal->clock, &f->adjust);
}

/* ---- what namespaces do ---- */

static struct feed *find(const struct watcher *w, const char *ns)
{
    list_for_each(node, &w->feeds) {
        struct feed *feed = container_of(node, struct feed, node);
        if (strcmp(feed->ns, ns) == 0)
            return feed;
    }
    return NULL;
}

static void want(struct follower *f, const char *ns)
{
    struct watcher *w = watcher_of(f);
    const struct conf_list *excluded = &w->conf->exclude_namespaces;
    struct feed *feed = find(w, ns);
    if (glob_any((const char *const *)excluded->items, excluded->count, ns))
        return;
    if (!feed) {
        feed = feed_new(w, ns);
        feed->followed = true;
        list_push(&w->feeds, &feed->node);
    }
    f->selected += !feed->wanted;
    feed->wanted = true;
    feed->ending = false;
}

/* If its end was not seen it may have been either: time will tell, for the objects of one that was
 * deleted go too. */
static void let_go(struct follower *f, const struct inf_event *gone)
{
    struct watcher *w = watcher_of(f);
    struct feed *feed = find(w, inf_object_name(gone->old_object));
    if (!feed || !feed->wanted)
        return;
    f->selected--;
    feed->wanted = false;
    feed->deleted = selection_being_deleted(&w->selection, gone->old_object);
    feed->ending = feed->deleted || (!gone->final && !f->reselected);
    feed->ending_until_ms = clock_now_ms(w->journal->clock) + GRACE_MS;
    if (feed->ending)
        timer_start(w->journal->clock, &f->grace, GRACE_MS);
}

static void on_event(struct inf_handler *handler, const struct inf_event *event)
{
    struct follower *f = follower_of(handler);
    if (event->verb == INF_DELETED)
        let_go(f, event);
    else
        want(f, inf_object_name(event->new_object));
    follower_adjust(f);
}

/* All that are there: some may have been excluded before. */
static void want_all(struct follower *f)
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
    struct follower *f = follower_of(handler);
    f->reselected = f->why && strcmp(gap->text, f->why) == 0;
    if (!f->reselected)
        return;
    want_all(f);
    follower_adjust(f);
}

static void on_synced(struct inf_handler *handler)
{
    struct follower *f = follower_of(handler);
    f->synced = true;
    follower_adjust(f);
}

static void on_grace_over(struct timer *timer)
{
    follower_adjust(container_of(timer, struct follower, grace));
}

/* ---- what follows from it ---- */

static void open_feed(struct follower *f, struct feed *feed)
{
    struct watcher *w = watcher_of(f);
    struct inf_error err = {0};
    if (f->open == FOLLOWER_MAX)
        return;
    if (feed_open(feed, &err) < 0) { /* UNTESTED: the conf was checked */
        w->journal->log(w->journal->owner, INF_LOG_ERROR, err.text);
        return;
    }
    f->open++;
    feed->late = w->synced;
    feed_begin(feed);
    if (w->told.held)
        inf_handler_pause(&feed->handler);
}

/* What it has not told yet it never will. */
static void close_feed(struct follower *f, struct feed *feed)
{
    feed_close(feed);
    f->open--;
    feed->leaving = true;
}

/* One object that was told is told as gone. */
static bool tell_one(struct watcher *w, struct feed *feed)
{
    const struct inf_object *object = told_take(&feed->told);
    struct journal_watch *told = watcher_named(w);
    struct inf_event gone = {.verb = INF_DELETED,
                             .origin = INF_LIVE,
                             .old_object = object,
                             .final = !feed->deleted,
                             .received_us = clock_wall_us(w->journal->clock)};
    if (!object)
        return false;
    told->id.why = feed->deleted ? "deleted" : SELECTION_NS_LEFT;
    journal_event(w->journal, told, &gone);
    told->id.why = NULL;
    inf_object_unref(object);
    return true;
}

/* True if there is more to tell than one slice, or than there is room for. */
static bool tell_some(struct watcher *w, struct feed *feed)
{
    for (int i = 0; i < SLICE && !w->told.held; i++)
        if (!tell_one(w, feed))
            break;
    return !told_is_empty(&feed->told);
}

static bool is_over(struct watcher *w, const struct feed *feed)
{
    return !feed->ending || told_is_empty(&feed->told) ||
           clock_now_ms(w->journal->clock) >= feed->ending_until_ms;
}

/* True if it has to be looked at again, without anything happening. */
static bool adjust_feed(struct follower *f, struct feed *feed)
{
    struct watcher *w = watcher_of(f);
    if (feed->informer && !feed->wanted && is_over(w, feed))
        close_feed(f, feed);
    if (feed->leaving && tell_some(w, feed))
        return !w->told.held;
    feed->leaving = false;
    if (feed->wanted && !feed->informer)
        open_feed(f, feed);
    else if (!feed->wanted && !feed->informer)
        feed_free(feed);
    return false;
}

static void adjust(struct task *task)
{
    struct follower *f = container_of(task, struct follower, adjust);
    struct watcher *w = watcher_of(f);
    bool again = false;
    list_for_each_safe(node, &w->feeds)
        again |= adjust_feed(f, container_of(node, struct feed, node));
    watcher_check_synced(w);
    journal_flush(w->journal);
    if (again)
        follower_adjust(f);
}

/* ---- life ---- */

static struct inf_watch watch_of_namespaces(const struct conf_watch *conf)
{
    return (struct inf_watch){.resource = "namespaces",
                              .log_name = conf->name,
                              .label_selector = conf->namespace_selector,
                              .metadata_only = true};
}

int follower_open(struct follower *f, struct watcher *w, struct inf_error *err)
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

void follower_begin(struct follower *f)
{
    if (f->informer)
        inf_handler_add(f->informer, &f->handler);
}

/* Namespaces that are selected may be excluded now. */
static void let_go_excluded(struct follower *f)
{
    struct watcher *w = watcher_of(f);
    const struct conf_list *excluded = &w->conf->exclude_namespaces;
    list_for_each(node, &w->feeds) {
        struct feed *feed = container_of(node, struct feed, node);
        if (!feed->wanted ||
            !glob_any((const char *const *)excluded->items, excluded->count, feed->ns))
            continue;
        f->selected--;
        feed->wanted = feed->deleted = feed->ending = false;
    }
}

void follower_change(struct follower *f, const struct conf_watch *before, const char *why)
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
    list_for_each(node, &w->feeds) {
        struct feed *feed = container_of(node, struct feed, node);
        feed_change(feed, feed->ns, why);
    }
    follower_adjust(f);
}

void follower_close(struct follower *f)
{
    free(f->why);
    f->why = NULL;
    timer_stop(watcher_of(f)->journal->clock, &f->grace);
    task_cancel(&f->adjust);
    inf_informer_close(f->informer);
    f->informer = NULL;
}

/* ---- how it is doing ---- */

bool follower_complete(const struct follower *f)
{
    if (!f->informer)
        return true;
    list_for_each(node, &watcher_of(f)->feeds) {
        const struct feed *feed = container_of(node, struct feed, node);
        if (feed->wanted && !feed->informer)
            return false;
    }
    return f->synced;
}

static bool is_over_limit(const struct follower *f)
{
    return f->selected > FOLLOWER_MAX;
}

void follower_status(const struct follower *f, struct watcher_status *status)
{
    struct inf_status one;
    if (!f->informer)
        return;
    status->by_labels = true;
    inf_informer_status(f->informer, &one);
    one.synced &= follower_complete(f);
    if (is_over_limit(f) && !one.error.code)
        err_set(&one.error, INF_ETOOBIG,
                "namespace_selector selects %zu namespaces, and %d is the limit; select fewer, or "
                "watch all of them with exclude_namespaces",
                f->selected, FOLLOWER_MAX);
    else if (one.error.code)
        err_wrap(&one.error, "namespaces");
    watcher_status_add(status, &one, NULL);
    status->streams--; /* it is none of the watch's own */
    status->live -= watcher_stream_is_live(&one);
}
