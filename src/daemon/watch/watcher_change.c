/*
 * watcher_change.c - applies a changed conf to a running watch.
 *
 * Normal path: watcher_check() validates the conf before anything is changed, watcher_can_change()
 * decides between a change and a restart, and watcher_change() changes the streams: namespaces are
 * added, ended, merged into one stream of all namespaces or split off from it. After
 * watcher_check() nothing can fail.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/err.h"
#include "daemon/conf/conf_same.h"
#include "daemon/watch/watcher.h"

int watcher_check(const struct conf_watch *conf, struct inf_error *err)
{
    struct inf_watch watch = watch_stream_watch(conf, NULL);
    int rc = conf->namespaces.count ? 0 : inf_watch_check(&watch, err);
    for (size_t i = 0; rc == 0 && i < conf->namespaces.count; i++) {
        watch = watch_stream_watch(conf, conf->namespaces.items[i]);
        rc = inf_watch_check(&watch, err);
    }
    return rc < 0 ? err_wrap(err, "watch '%s'", conf->name) : 0;
}

static bool all_reported(const struct watcher *w)
{
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (watch_stream_is_current(stream) && !inf_handler_synced(&stream->handler))
            return false;
    }
    return true;
}

/* A stream of all namespaces can be split into several, or several merged into one, only after
 * all their objects were reported. */
bool watcher_can_change(const struct watcher *w, const struct conf_watch *conf)
{
    const struct conf_watch *before = w->conf;
    size_t was = before->namespaces.count, is = conf->namespaces.count;
    if (watcher_is_waiting(w) && !before->namespace_selector)
        return conf_watch_same(before, conf);
    if (before->namespace_selector || conf->namespace_selector)
        return before->namespace_selector && conf->namespace_selector;
    return (was && is) || (was < 2 && is < 2) || all_reported(w);
}

static struct watch_stream *find_stream(const struct watcher *w, const char *ns)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->ns && strcmp(stream->ns, ns) == 0 && watch_stream_is_current(stream))
            return stream;
    }
    return NULL;
}

static bool is_listed(const struct conf_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* Adds a namespace. After the initial sync its objects are reported with a RELIST. */
static void add_stream_late(struct watcher *w, const char *ns, const char *why)
{
    struct inf_gap gap = {
        .reason = INF_GAP_RELIST, .text = why, .received_us = clock_wall_us(w->cluster->clock)};
    struct watch_stream *stream = watch_stream_new(w, ns);
    struct inf_error err;
    list_push(&w->streams, &stream->node);
    if (watch_stream_open(stream, &err) < 0)
        abort(); /* UNTESTED: watcher_check() has found it good */
    stream->late = w->synced;
    if (stream->late)
        watch_stream_gap(stream, &gap);
    watch_stream_begin(stream);
    if (event_channel_is_held(&w->channel))
        inf_handler_pause(&stream->handler);
}

static bool stop_at_first(void *ctx, const struct inf_object *object)
{
    (void)object;
    *(bool *)ctx = true;
    return false;
}

/* A stream of another namespace that still has objects of @ns: it had all namespaces before, and
 * has not been listed since. */
static struct watch_stream *find_former(const struct watcher *w, const char *ns)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        bool has = false;
        if (watch_stream_is_current(stream))
            inf_store_select(inf_informer_store(stream->informer), ns, NULL, stop_at_first, &has);
        if (has)
            return stream;
    }
    return NULL;
}

static void split_off_namespace(struct watcher *w, struct watch_stream *from, const char *ns,
                                const char *why)
{
    struct watch_stream *part = watch_stream_split_off(from, ns, why);
    list_push(&w->streams, &part->node);
    if (event_channel_is_held(&w->channel))
        inf_handler_pause(&part->handler);
}

/* From some namespaces to others. */
static void regroup_streams(struct watcher *w, const char *why)
{
    const struct conf_list *list = &w->conf->namespaces;
    /* namespaces whose objects another stream would report as deleted */
    for (size_t i = 0; i < list->count; i++) {
        const char *ns = list->items[i];
        struct watch_stream *former = find_stream(w, ns) ? NULL : find_former(w, ns);
        if (former)
            split_off_namespace(w, former, ns, why);
    }
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->ns && watch_stream_is_current(stream) && !is_listed(list, stream->ns))
            watch_stream_end(stream, why);
    }
    for (size_t i = 0; i < list->count; i++) {
        struct watch_stream *stream = find_stream(w, list->items[i]);
        if (stream)
            watch_stream_change(stream, stream->ns, why);
        else
            add_stream_late(w, list->items[i], why);
    }
}

static struct watch_stream *first_running_stream(const struct watcher *w)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (watch_stream_is_current(stream))
            return stream;
    }
    return NULL; /* UNTESTED: a watch has one */
}

/* From some namespaces to all. */
static void merge_streams(struct watcher *w, const char *why)
{
    struct watch_stream *first = first_running_stream(w);
    list_for_each_safe(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream != first && watch_stream_is_current(stream))
            watch_stream_merge(first, stream);
    }
    watch_stream_change(first, NULL, why);
}

/* From all namespaces to some. */
static void split_streams(struct watcher *w, const char *why)
{
    const struct conf_list *list = &w->conf->namespaces;
    struct watch_stream *whole = first_running_stream(w);
    for (size_t i = 1; i < list->count; i++)
        split_off_namespace(w, whole, list->items[i], why);
    watch_stream_change(whole, list->items[0], why);
}

void watcher_change(struct watcher *w, const struct conf_watch *conf, struct cluster *cluster,
                    const char *why)
{
    const struct conf_watch *before = w->conf;
    watcher_move(w, conf, cluster);
    selection_done(&w->selection);
    selection_init(&w->selection, conf);
    if (conf->namespace_selector)
        namespace_tracker_change(&w->tracker, before, why);
    else if (before->namespaces.count && conf->namespaces.count)
        regroup_streams(w, why);
    else if (conf->namespaces.count)
        split_streams(w, why);
    else
        merge_streams(w, why);
}
