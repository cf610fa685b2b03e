/*
 * watcher.c - the streams of one watch: opening, reporting and closing them.
 *
 * Normal path: watcher_open(), watcher_begin(), then each stream reports to the consumers of the
 * watch (event_consumer.h); SYNCED follows when all streams are synced. watcher_check() finds what
 * is wrong with a conf, so opening a watch with a checked conf can't fail.
 */
#include "daemon/watch/watcher.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/builtin_resource.h"
#include "base/err.h"
#include "base/str.h"
#include "daemon/daemon_log.h"
#include "daemon/journal/noise.h"

/* ---- identity ---- */

const struct watch_stream *watcher_first(const struct watcher *w)
{
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->informer)
            return stream;
    }
    return NULL;
}

static void copy_string(char **copy, const char *string)
{
    if (cstr_eq(*copy, string))
        return;
    free(*copy);
    *copy = xstrdup_or_null(string);
}

/* The resource is known after discovery, and can change only with a list. A resource that was found
 * once is kept while no stream knows it. */
static void copy_resource(struct watcher *w)
{
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        struct inf_resource r;
        if (!stream->informer || !inf_informer_resource(stream->informer, &r))
            continue;
        copy_string(&w->resource.group, r.group);
        copy_string(&w->resource.version, r.version);
        copy_string(&w->resource.name, r.name);
        copy_string(&w->resource.kind, r.kind);
        return;
    }
}

static void watcher_set_conf(struct watcher *w, const struct conf_watch *conf)
{
    w->conf = conf;
    noise_free(w->noise);
    w->noise = noise_make(conf->ignore.items, conf->ignore.count);
}

static bool ignores(const struct conf_watch *conf, const char *preset)
{
    for (size_t i = 0; i < conf->ignore.count; i++)
        if (strcmp(conf->ignore.items[i], preset) == 0)
            return true;
    return false;
}

static bool is_resumed(const struct watcher *w)
{
    list_for_each(node, &w->streams)
        if (container_of(node, struct watch_stream, node)->saved.resumed)
            return true;
    return false;
}

void watcher_update_info(struct watcher *w)
{
    const struct watched_resource *r = &w->resource;
    const struct builtin_resource *builtin;
    const char *name, *kind;
    copy_resource(w);
    name = r->name ? r->name : w->conf->resource;
    builtin = builtin_resource_find(r->group ? r->group : "", name);
    kind = builtin ? builtin->kind : NULL;
    w->channel.info = (struct watch_info){
        .id = {.cluster = w->cluster->conf->name,
               .name = w->conf->name,
               .group = r->group,
               .version = r->version,
               .resource = name,
               .kind = r->kind ? r->kind : kind,
               .selection = &w->selection},
        .ignore_heartbeats = ignores(w->conf, "heartbeats"),
        .ignore_unchanged = w->conf->ignore.count > 0,
        .noise = w->noise,
        .resumed = is_resumed(w),
    };
}

void watcher_resolve(struct watcher *w, bool listed)
{
    if (w->resource.name && (!listed || w->info_is_current))
        return;
    watcher_update_info(w);
    w->info_is_current = true;
}

/* ---- all streams ---- */

/* NULL: several streams have no common version, and a resource that does not exist has none. */
static const char *version_of(const struct watcher *w)
{
    const struct watch_stream *only = watcher_first(w);
    const char *version;
    if (!only || namespace_tracker_is_active(&w->tracker) || w->streams.next != w->streams.prev)
        return NULL;
    version = inf_store_resource_version(inf_informer_store(only->informer));
    return version[0] ? version : NULL;
}

static bool is_synced(const struct watcher *w)
{
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->sm.state == STREAM_CLOSED ||
            (watch_stream_is_current(stream) && !inf_handler_synced(&stream->handler)))
            return false;
    }
    return namespace_tracker_complete(&w->tracker);
}

/* "4,500" */
static void put_grouped(struct buf *out, size_t n)
{
    if (n < 1000) {
        buf_printf(out, "%zu", n);
        return;
    }
    put_grouped(out, n / 1000);
    buf_printf(out, ",%03zu", n % 1000);
}

/* "watch pods: synced, 4,500 objects in 1.2s" */
static void log_synced(const struct watcher *w, const struct watcher_status *status)
{
    struct buf line = {0};
    buf_printf(&line, "watch %s: %s, ", w->conf->name,
               w->channel.info.resumed ? "resumed" : "synced");
    put_grouped(&line, status->objects);
    daemon_log_printf(w->cluster->log, INF_LOG_INFO, "%.*s object%s in %.1fs", (int)line.len,
                      line.bytes, status->objects == 1 ? "" : "s", (double)status->age_ms / 1000);
    buf_free(&line);
}

void watcher_check_synced(struct watcher *w)
{
    struct watcher_status status;
    if (w->synced || !is_synced(w))
        return;
    w->synced = true;
    watcher_status(w, &status);
    watcher_update_info(w);
    if (w->cluster->log_syncs)
        log_synced(w, &status);
    event_channel_synced(&w->channel, status.objects, version_of(w));
}

/* The tracker stops reporting deleted objects while the watch is held, so it has to be scheduled
 * afterwards. */
static void on_hold(struct event_channel *channel, bool hold)
{
    struct watcher *w = container_of(channel, struct watcher, channel);
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (!stream->informer)
            continue;
        if (hold)
            inf_handler_pause(&stream->handler);
        else
            inf_handler_resume(&stream->handler);
    }
    if (!hold && w->tracker.informer)
        namespace_tracker_adjust(&w->tracker);
}

/* ---- life ---- */

static int open_stream(struct watcher *w, const char *ns, struct inf_error *err)
{
    struct watch_stream *stream = watch_stream_new(w, ns);
    list_push(&w->streams, &stream->node);
    return watch_stream_open(stream, err);
}

/* With a namespace selector, the tracker opens the streams when it knows the namespaces. */
static int open_streams(struct watcher *w, struct inf_error *err)
{
    const struct conf_watch *conf = w->conf;
    int rc = namespace_tracker_open(&w->tracker, w, err);
    if (rc == 0 && !conf->namespaces.count && !conf->namespace_selector)
        rc = open_stream(w, NULL, err);
    for (size_t i = 0; rc == 0 && i < conf->namespaces.count; i++)
        rc = open_stream(w, conf->namespaces.items[i], err);
    return rc;
}

static void free_ended_streams(struct task *task)
{
    struct watcher *w = container_of(task, struct watcher, tidy);
    list_for_each_safe(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->informer && watch_stream_is_over(stream))
            watch_stream_discard(stream);
    }
}

void watcher_tidy(struct watcher *w)
{
    task_schedule(w->cluster->clock, &w->tidy);
}

struct watcher *watcher_open(const struct conf_watch *conf, struct cluster *cluster,
                             struct event_consumers *consumers, struct inf_error *err)
{
    struct watcher *w = NEW(struct watcher);
    list_init(&w->node);
    list_init(&w->streams);
    task_init(&w->tidy, PHASE_PUMP, free_ended_streams);
    watcher_set_conf(w, conf);
    w->cluster = cluster;
    w->opened_ms = clock_now_ms(cluster->clock);
    selection_init(&w->selection, conf);
    w->channel.on_hold = on_hold;
    event_channel_init(&w->channel, consumers);
    if (open_streams(w, err) < 0) {
        err_wrap(err, "watch '%s'", conf->name);
        watcher_close(w);
        return NULL;
    }
    watcher_update_info(w);
    return w;
}

/* A consumer may hold the watch at once, so the handlers are added first. */
void watcher_begin(struct watcher *w)
{
    list_for_each(node, &w->streams)
        watch_stream_begin(container_of(node, struct watch_stream, node));
    namespace_tracker_begin(&w->tracker);
    event_channel_open(&w->channel);
}

void watcher_cluster_identified(struct watcher *w)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        struct inf_error err;
        if (stream->informer) {
            saved_stream_update_id(stream);
        } else if (!namespace_tracker_is_active(&w->tracker)) {
            if (watch_stream_open(stream, &err) < 0)
                abort(); /* UNTESTED: watcher_check() has found it good */
            watch_stream_begin(stream);
            if (event_channel_is_held(&w->channel))
                inf_handler_pause(&stream->handler);
        }
    }
    watcher_update_info(w);
    if (namespace_tracker_is_active(&w->tracker))
        namespace_tracker_adjust(&w->tracker);
}

bool watcher_is_waiting(const struct watcher *w)
{
    list_for_each(node, &w->streams)
        if (container_of(node, struct watch_stream, node)->sm.state == STREAM_CLOSED)
            return true;
    return false;
}

void watcher_move(struct watcher *w, const struct conf_watch *conf, struct cluster *cluster)
{
    watcher_set_conf(w, conf);
    w->cluster = cluster;
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->informer)
            inf_informer_set_log_name(stream->informer, conf->name);
    }
    if (w->tracker.informer)
        inf_informer_set_log_name(w->tracker.informer, conf->name);
    watcher_update_info(w);
}

void watcher_note_restart(struct watcher *w, const char *why)
{
    event_channel_restarted(&w->channel, why);
}

void watcher_close(struct watcher *w)
{
    if (!w)
        return;
    list_remove(&w->node);
    event_channel_close(&w->channel);
    task_cancel(&w->tidy);
    namespace_tracker_close(&w->tracker);
    list_for_each_safe(node, &w->streams)
        watch_stream_free(container_of(node, struct watch_stream, node));
    selection_done(&w->selection);
    free(w->resource.group);
    free(w->resource.version);
    free(w->resource.name);
    free(w->resource.kind);
    noise_free(w->noise);
    free(w);
}
