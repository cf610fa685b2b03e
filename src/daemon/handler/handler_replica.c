/*
 * handler_replica.c - a handler in a group of replicas of which one delivers (replica: {mode: leader}).
 *
 * Normal path on a standby: records are queued as for a handler that is paused, and dropped when the leader
 * publishes a position that covers them. On the leader: positions advance as runs end, and are
 * published. Which of the two this process is, the host knows; see daemon/replica/replica.h. All kinds of handlers
 * pass here: no run is started unless the host leads at that moment.
 *
 * Positions that leave a gap are reported as one; nothing else here can fail.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "daemon/handler/handler_kind.h"

enum {
    UNUSED_MS = 10 * 60 * 1000, /* a track that neither the watch nor a leader has, is dropped */
};

bool handler_replica_waits(const struct handler *handler)
{
    return handler->host->replicated && !handler->host->leads(handler->host);
}

/* The caller frees the result. */
static char *key_of(const struct watch_id *watch, const char *stream)
{
    struct buf key = {0};
    buf_printf(&key, "%s\t%s\t%s", watch->cluster ? watch->cluster : "", watch->name, stream);
    buf_putc(&key, '\0');
    return key.bytes;
}

static struct handler_track *track_of(struct handler *h, const struct watch_id *watch,
                                      const char *stream)
{
    char *key = key_of(watch, stream);
    struct handler_track *track = handler_tracks_get(h->queue.tracks, key);
    track->used_ms = clock_now_ms(h->host->clock);
    free(key);
    return track;
}

/* Once for each track: at the begin of leading, or when the first list is complete, which may be later. */
static void report_gap(struct handler *h, struct handler_track *track)
{
    if (track->gap || !handler_track_has_gap(track))
        return;
    track->gap = true;
    h->counters.gaps++;
    handler_log(h, INF_LOG_WARN,
                "GAP: the last leader has delivered '%.200s' up to resource version %" PRIu64
                ", and this replica has all changes only from %" PRIu64 " on",
                track->key, track->covered, track->base);
}

bool handler_replica_place(struct handler *handler, const struct change *change,
                           struct handler_span *ret)
{
    const struct inf_event *event = change->event;
    struct handler_track_change placed;
    *ret = (struct handler_span){.track = NULL};
    if (!handler->queue.tracks || !change->stream)
        return true;
    placed = (struct handler_track_change){
        .version = handler_track_version(inf_object_resource_version(change->object)),
        .listed = handler_track_version(change->cache_version),
        .live = event->origin == INF_LIVE,
        .deleted = event->verb == INF_DELETED,
        .relist = event->origin == INF_RELIST,
    };
    return handler_track_place(track_of(handler, change->watch, change->stream), &placed, ret);
}

void handler_replica_position(struct journal_output *output, const struct watch_id *watch,
                              const char *stream, const char *version)
{
    struct handler *h = container_of(output, struct handler, output);
    struct handler_track *track;
    if (!h->queue.tracks)
        return;
    track = track_of(h, watch, stream);
    if (!version) {
        handler_track_rewind(h->queue.tracks, track);
        return;
    }
    handler_track_reach(h->queue.tracks, track, handler_track_version(version));
    if (!handler_replica_waits(h))
        report_gap(h, track);
}

/* A ready object without records would stay in the list of a standby, which starts no runs. */
static void drop_covered(void *ctx, struct handler_span *span)
{
    struct handler *h = ctx;
    struct handler_record *record = container_of(span, struct handler_record, span);
    struct handler_object *object = record->object;
    bool ready = object->state == OBJECT_READY;
    if (record->state == RECORD_RUNNING)
        return;
    handler_queue_remove(&h->queue, record);
    if (!ready || handler_object_first(object))
        return;
    list_remove(&object->ready);
    object->state = OBJECT_IDLE;
    handler_object_release(&h->queue, object);
}

void handler_replica_publish(struct handler *handler, const char *key, uint64_t version)
{
    struct handler_track *track = handler_tracks_get(handler->queue.tracks, key);
    track->used_ms = clock_now_ms(handler->host->clock);
    handler_track_publish(track, version);
    handler_track_each_covered(track, drop_covered, handler);
    handler_update_hold(handler);
    task_schedule(handler->host->clock, &handler->flush);
}

void handler_replica_tidy(struct handler *handler)
{
    uint64_t now_ms = clock_now_ms(handler->host->clock);
    list_for_each_safe(node, &handler->queue.tracks->list) {
        struct handler_track *track = container_of(node, struct handler_track, node);
        if (list_empty(&track->records) && now_ms - track->used_ms > UNUSED_MS)
            handler_tracks_drop(handler->queue.tracks, track);
    }
}

void handler_replica_each(struct handler *handler,
                          void (*each)(void *ctx, const struct handler *handler, const char *key,
                                       uint64_t version),
                          void *ctx)
{
    handler_replica_tidy(handler);
    list_for_each(node, &handler->queue.tracks->list) {
        const struct handler_track *track = container_of(node, struct handler_track, node);
        uint64_t version = handler_track_position(track);
        if (version)
            each(ctx, handler, track->key, version);
    }
}

void handler_replica_lead(struct handler *handler)
{
    list_for_each(node, &handler->queue.tracks->list) {
        struct handler_track *track = container_of(node, struct handler_track, node);
        track->gap = false;
        report_gap(handler, track);
    }
    task_schedule(handler->host->clock, &handler->pump);
}

void handler_replica_interrupt(struct handler *handler)
{
    if (handler->settings.kind->interrupt)
        handler->settings.kind->interrupt(handler);
    else
        handler_cancel_runs(handler);
    task_schedule(handler->host->clock, &handler->flush);
}
