/*
 * watcher.c - the streams of one watch: opening, reporting, changing and summing up their status.
 *
 * Normal path: watcher_open(), watcher_begin(), then each stream reports to the
 * consumers of the watch (event_consumer.h); SYNCED follows when all streams are synced. watcher_check() finds what is
 * wrong with a conf before anything is changed, so watcher_change() can't fail.
 */
#include "daemon/watch/watcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/err.h"

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
    free(*copy);
    *copy = string ? xstrdup(string) : NULL;
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
        .ignore_heartbeats = w->conf->ignore & CONF_IGNORE_HEARTBEATS,
        .ignore_unchanged = w->conf->ignore & CONF_IGNORE_UNCHANGED,
    };
}

void watcher_resolve(struct watcher *w)
{
    if (!w->resource.name)
        watcher_update_info(w);
}

/* ---- all streams ---- */

/* NULL: several streams have no common version, and a resource that does not exist has none. */
static const char *version_of(const struct watcher *w)
{
    const struct watch_stream *only = watcher_first(w);
    const char *version;
    if (!only || only->followed || w->streams.next != w->streams.prev)
        return NULL;
    version = inf_store_resource_version(inf_informer_store(only->informer));
    return version[0] ? version : NULL;
}

static bool is_synced(const struct watcher *w)
{
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->informer && !stream->synced)
            return false;
    }
    return namespace_tracker_complete(&w->tracker);
}

void watcher_check_synced(struct watcher *w)
{
    struct watcher_status status;
    if (w->synced || !is_synced(w))
        return;
    w->synced = true;
    watcher_status(w, &status);
    watcher_update_info(w);
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
            watch_stream_free(stream);
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
    w->conf = conf;
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

static void rename_streams(struct watcher *w)
{
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->informer)
            inf_informer_set_log_name(stream->informer, w->conf->name);
    }
    if (w->tracker.informer)
        inf_informer_set_log_name(w->tracker.informer, w->conf->name);
}

void watcher_move(struct watcher *w, const struct conf_watch *conf, struct cluster *cluster)
{
    w->conf = conf;
    w->cluster = cluster;
    rename_streams(w);
    watcher_update_info(w);
}

/* ---- changed conf ---- */

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
        if (!stream->ended && !inf_handler_synced(&stream->handler))
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
    if (before->namespace_selector || conf->namespace_selector)
        return before->namespace_selector && conf->namespace_selector;
    return (was && is) || (was < 2 && is < 2) || all_reported(w);
}

static struct watch_stream *find_stream(const struct watcher *w, const char *ns)
{
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->ns && strcmp(stream->ns, ns) == 0 && !stream->ended)
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
        if (!stream->ended)
            inf_store_select(inf_informer_store(stream->informer), ns, NULL, stop_at_first, &has);
        if (has)
            return stream;
    }
    return NULL;
}

static void split_off_namespace(struct watcher *w, struct watch_stream *from, const char *ns,
                                const char *why)
{
    struct watch_stream *part = watch_stream_carve(from, ns, why);
    list_push(&w->streams, &part->node);
    if (event_channel_is_held(&w->channel))
        inf_handler_pause(&part->handler);
}

/* Namespaces whose objects another stream would report as deleted. */
static void split_off_former(struct watcher *w, const char *why)
{
    const struct conf_list *list = &w->conf->namespaces;
    for (size_t i = 0; i < list->count; i++) {
        const char *ns = list->items[i];
        struct watch_stream *former = find_stream(w, ns) ? NULL : find_former(w, ns);
        if (former)
            split_off_namespace(w, former, ns, why);
    }
}

static void regroup_streams(struct watcher *w, const char *why)
{
    const struct conf_list *list = &w->conf->namespaces;
    split_off_former(w, why);
    list_for_each(node, &w->streams) {
        struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->ns && !stream->ended && !is_listed(list, stream->ns))
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
        if (!stream->ended)
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
        if (stream != first && !stream->ended)
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
    free(w);
}

/* ---- status ---- */

static uint64_t older(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Keeps the error that has lasted longest, with its namespace if there are several streams. */
static void take_error(struct inf_status *sum, const struct inf_status *one, const char *ns)
{
    if (!one->error.code || (sum->error.code && one->failing_for_ms <= sum->failing_for_ms))
        return;
    sum->error = one->error;
    sum->failing_for_ms = one->failing_for_ms;
    if (ns)
        err_wrap(&sum->error, "namespace '%s'", ns);
}

static void add_counters(struct inf_status *sum, const struct inf_status *one)
{
    sum->requests += one->requests;
    sum->skipped += one->skipped;
    sum->coalesced += one->coalesced;
    for (size_t code = 0; code < INF_ERRORS; code++) {
        sum->ends[code] += one->ends[code];
        sum->relists[code] += one->relists[code];
    }
}

void watcher_stream_leaves(struct watcher *w, const struct inf_informer *stream)
{
    struct inf_status now;
    if (!stream)
        return;
    inf_informer_status(stream, &now);
    add_counters(&w->past, &now);
}

void watcher_succeed(struct watcher *w, const struct watcher *old)
{
    struct watcher_status status;
    watcher_status(old, &status);
    add_counters(&w->past, &status.sum);
    event_channel_replace(&w->channel, &old->channel);
}

static void add_ages(struct inf_status *sum, const struct inf_status *one)
{
    sum->event_age_ms =
        one->event_age_ms < sum->event_age_ms ? one->event_age_ms : sum->event_age_ms;
    sum->bookmark_age_ms = older(sum->bookmark_age_ms, one->bookmark_age_ms);
    sum->heard_age_ms = older(sum->heard_age_ms, one->heard_age_ms);
    sum->held_for_ms = older(sum->held_for_ms, one->held_for_ms);
}

const struct watcher_status watcher_status_none = {
    .sum = {.synced = true, .event_age_ms = INF_NEVER},
};

bool watcher_stream_is_live(const struct inf_status *one)
{
    return one->synced && !one->stale && !one->held && !one->error.code;
}

void watcher_status_add(struct watcher_status *s, const struct inf_status *one, const char *ns)
{
    s->sum.synced &= one->synced;
    s->sum.waiting |= one->waiting;
    s->sum.stale |= one->stale;
    s->sum.held |= one->held;
    take_error(&s->sum, one, ns);
    add_ages(&s->sum, one);
    add_counters(&s->sum, one);
    s->sum.queued += one->queued;
    s->streams++;
    s->live += watcher_stream_is_live(one);
}

static void add_stream_status(struct watcher_status *s, const struct watch_stream *stream)
{
    const struct inf_store *store = inf_informer_store(stream->informer);
    struct inf_status one;
    inf_informer_status(stream->informer, &one);
    watcher_status_add(s, &one, stream->ns);
    s->objects += inf_store_count(store);
    s->bytes += inf_store_bytes(store);
    s->backlog += inf_handler_backlog(&stream->handler);
}

void watcher_status(const struct watcher *w, struct watcher_status *ret)
{
    *ret = watcher_status_none;
    add_counters(&ret->sum, &w->past);
    ret->age_ms = clock_now_ms(w->cluster->clock) - w->opened_ms;
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->informer)
            add_stream_status(ret, stream);
    }
    namespace_tracker_status(&w->tracker, ret);
}

size_t watcher_bytes(const struct watcher *w)
{
    size_t bytes = 0;
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        if (stream->informer)
            bytes += inf_store_bytes(inf_informer_store(stream->informer));
    }
    return bytes;
}

bool watcher_ready(const struct watcher_status *status)
{
    return status->sum.synced && !status->sum.stale && !status->sum.held;
}
