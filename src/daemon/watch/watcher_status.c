/*
 * watcher_status.c - sums up the status of the streams of a watch.
 *
 * A watch is as good as its worst stream: flags are combined, ages are the oldest, and the error is
 * the one that has lasted longest. Counters never decrease: those of closed streams are kept in
 * `past`. Nothing here can fail.
 */
#include "base/base.h"
#include "base/err.h"
#include "daemon/watch/watcher.h"

static uint64_t older(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_counters(struct inf_status *sum, const struct inf_status *one)
{
    sum->requests += one->requests;
    sum->skipped += one->skipped;
    sum->coalesced += one->coalesced;
    sum->other_shards += one->other_shards;
    for (size_t code = 0; code < INF_ERRORS; code++) {
        sum->ends[code] += one->ends[code];
        sum->relists[code] += one->relists[code];
    }
}

void watcher_keep_counters(struct watcher *w, const struct inf_informer *stream)
{
    struct inf_status now;
    if (!stream)
        return;
    inf_informer_status(stream, &now);
    add_counters(&w->past, &now);
}

void watcher_continue_counters(struct watcher *w, const struct watcher *old)
{
    struct watcher_status status;
    watcher_status(old, &status);
    add_counters(&w->past, &status.sum);
    event_channel_replace(&w->channel, &old->channel);
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
    struct inf_status *sum = &s->sum;
    sum->synced &= one->synced;
    sum->waiting |= one->waiting;
    sum->stale |= one->stale;
    sum->held |= one->held;
    if (one->error.code && (!sum->error.code || one->failing_for_ms > sum->failing_for_ms)) {
        sum->error = one->error;
        sum->failing_for_ms = one->failing_for_ms;
        if (ns)
            err_wrap(&sum->error, "namespace '%s'", ns);
    }
    if (one->event_age_ms < sum->event_age_ms)
        sum->event_age_ms = one->event_age_ms;
    sum->bookmark_age_ms = older(sum->bookmark_age_ms, one->bookmark_age_ms);
    sum->heard_age_ms = older(sum->heard_age_ms, one->heard_age_ms);
    sum->held_for_ms = older(sum->held_for_ms, one->held_for_ms);
    add_counters(sum, one);
    sum->queued += one->queued;
    sum->list_objects += one->list_objects;
    sum->list_bytes += one->list_bytes;
    s->streams++;
    s->live += watcher_stream_is_live(one);
}

void watcher_status(const struct watcher *w, struct watcher_status *ret)
{
    *ret = watcher_status_none;
    add_counters(&ret->sum, &w->past);
    ret->age_ms = clock_now_ms(w->cluster->clock) - w->opened_ms;
    list_for_each(node, &w->streams) {
        const struct watch_stream *stream = container_of(node, struct watch_stream, node);
        const struct inf_store *store;
        struct inf_status one;
        if (stream->sm.state == STREAM_CLOSED && !namespace_tracker_is_active(&w->tracker))
            watcher_status_add(ret,
                               &(struct inf_status){.error = w->cluster->identity.error,
                                                    .event_age_ms = INF_NEVER,
                                                    .heard_age_ms = INF_NEVER},
                               stream->ns);
        if (!stream->informer)
            continue;
        inf_informer_status(stream->informer, &one);
        if (stream->sm.state == STREAM_LEAVING || stream->sm.state == STREAM_RETURNING)
            add_counters(&ret->sum, &one);
        else
            watcher_status_add(ret, &one, stream->ns);
        store = inf_informer_store(stream->informer);
        ret->objects += inf_store_count(store);
        ret->bytes += inf_store_bytes(store);
        ret->backlog += inf_handler_backlog(&stream->handler);
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
