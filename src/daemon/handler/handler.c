/*
 * handler.c - one handler: its settings, its records as an output of the journal, and what happens when
 * its queue is full. handler_delivery.c delivers the records.
 *
 * Normal path: put_change() adds a record, save() adds it to the state on disk, release() makes it
 * available for delivery. A full queue drops its oldest records, or holds the watches.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "daemon/handler/handler_kind.h"

enum {
    MINUTE_MS = 60 * 1000,
};

/* ---- the daemon's log ---- */

static const char *noun_of(const struct handler *handler)
{
    return handler->settings.kind->is_sink ? "sink" : "handler";
}

void handler_log(struct handler *handler, enum inf_log_level level, const char *fmt, ...)
{
    uint64_t now_ms = clock_now_ms(handler->host->clock);
    char line[HANDLER_LOG_LINE];
    int len = snprintf(line, sizeof(line), "%s %.200s: ", noun_of(handler), handler->name);
    va_list args;
    if (now_ms - handler->minute_ms >= MINUTE_MS) {
        handler->minute_ms = now_ms;
        handler->minute_lines = 0;
    }
    if (handler->minute_lines++ >= HANDLER_LOG_LINES) {
        handler->unlogged++;
        return;
    }
    if (handler->unlogged) {
        snprintf(line + len, sizeof(line) - (size_t)len,
                 "%" PRIu64 " further lines of the last minute were not logged", handler->unlogged);
        handler->unlogged = 0;
        handler->host->log(handler->host->owner, INF_LOG_WARN, line);
    }
    va_start(args, fmt);
    vsnprintf(line + len, sizeof(line) - (size_t)len, fmt, args);
    va_end(args);
    handler->host->log(handler->host->owner, level, line);
}

/* ---- a full queue ---- */

static bool is_droppable(const struct handler_record *r)
{
    return r->state != RECORD_RUNNING && r->state != RECORD_PARKED;
}

/* Drops records from the oldest one on until @target bytes are left; with @superseded only those that
 * have a newer one of the same object. Returns their number. */
static uint64_t drop_oldest(struct handler *h, size_t target, bool superseded)
{
    uint64_t dropped = 0;
    list_for_each_safe(node, &h->queue.records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (h->queue.bytes <= target)
            break;
        if (!is_droppable(r) || (superseded && r->of_object.next == &r->object->records))
            continue;
        if (!superseded && h->queue.tracks)
            handler_track_lose(h->queue.tracks, &r->span);
        handler_queue_remove(&h->queue, r);
        dropped++;
    }
    return dropped;
}

static size_t low_mark(const struct handler *h)
{
    return h->settings.queue_bytes / 4 * 3;
}

/* Makes room in a queue that is full. */
static void make_room(struct handler *h)
{
    uint64_t skipped;
    if (h->settings.overflow == HANDLER_COALESCE)
        h->counters.coalesced += drop_oldest(h, low_mark(h), true);
    if (h->queue.bytes <= h->settings.queue_bytes)
        return;
    skipped = drop_oldest(h, low_mark(h), false);
    h->counters.skipped += skipped;
    h->counters.gaps += skipped > 0;
    if (skipped)
        handler_log(h, INF_LOG_WARN,
                    "GAP: the queue is full (%zu bytes), %" PRIu64 " records that were not "
                    "delivered are skipped",
                    h->settings.queue_bytes, skipped);
}

void handler_update_hold(struct handler *handler)
{
    bool waits = handler->settings.overflow == HANDLER_WAIT && !handler->stopped;
    bool hold =
        waits && (handler->output.held ? handler->queue.bytes > low_mark(handler)
                                       : handler->queue.bytes > handler->settings.queue_bytes);
    if (hold == handler->output.held)
        return;
    handler->output.held = hold;
    journal_update_holds(handler->host->journal);
}

/* ---- as an output of the journal ---- */

/* "prod Pod shop/web-0": names the object in the log, and is the unit of order. */
static char *key_of(const struct change *change)
{
    struct buf key = {0};
    if (change->watch->cluster)
        buf_printf(&key, "%s ", change->watch->cluster);
    buf_printf(&key, "%s ", change->kind ? change->kind : "object");
    change_put_name(&key, change);
    buf_putc(&key, '\0');
    return key.bytes;
}

static void put_variable(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "INFORMERD_%s=%s%c", name, value ? value : "", '\0');
}

static void put_environment(struct buf *out, const struct handler *h, const struct change *change)
{
    buf_printf(out, "INFORMERD_SEQ=%" PRIu64 "%c", change->stamp.seq, '\0');
    put_variable(out, "LOG", change->stamp.log);
    put_variable(out, "HANDLER", h->name);
    put_variable(out, "CLUSTER", change->watch->cluster);
    put_variable(out, "WATCH", change->watch->name);
    put_variable(out, "TYPE", inf_verb_name(change->event->verb));
    put_variable(out, "KIND", change->kind);
    put_variable(out, "NAMESPACE", inf_object_namespace(change->object));
    put_variable(out, "NAME", inf_object_name(change->object));
}

/* With `latest` the record replaces all others of its object that do not run. */
static void drop_older(struct handler *h, const struct handler_record *newest)
{
    list_for_each_safe(node, &newest->object->records) {
        struct handler_record *r = container_of(node, struct handler_record, of_object);
        if (r == newest || r->state == RECORD_RUNNING)
            continue;
        handler_queue_remove(&h->queue, r);
        h->counters.coalesced++;
    }
}

static void put_change(struct journal_output *output, const struct change *change)
{
    struct handler *h = container_of(output, struct handler, output);
    struct buf env = {0}, line = {0};
    struct handler_record *record;
    struct handler_span span;
    char *key;
    if (!handler_replica_place(h, change, &span))
        return;
    key = key_of(change);
    put_environment(&env, h, change);
    jsonl_format.put_change(&line, change, &h->settings.record);
    record =
        handler_queue_add(&h->queue, key, change->event->received_us,
                          (struct str){env.bytes, env.len}, (struct str){line.bytes, line.len});
    handler_queue_set_span(record, &span);
    if (h->settings.deliver == HANDLER_LATEST)
        drop_older(h, record);
    if (h->queue.bytes > h->settings.queue_bytes && h->settings.overflow != HANDLER_WAIT)
        make_room(h);
    buf_free(&env);
    buf_free(&line);
    free(key);
}

static void save(struct journal_output *output)
{
    struct handler *h = container_of(output, struct handler, output);
    if (h->queue.tracks)
        handler_tracks_save(h->queue.tracks, /* again= */ false);
    handler_queue_save(&h->queue);
}

static void release(struct journal_output *output)
{
    struct handler *h = container_of(output, struct handler, output);
    handler_queue_release(&h->queue, handler_schedule_record, h);
    handler_update_hold(h);
}

static const struct journal_output_ops output_ops = {
    .put_change = put_change,
    .position = handler_replica_position,
    .save = save,
    .release = release,
};

/* ---- life ---- */

static void take_settings(struct handler *h, const struct handler_settings *settings,
                          struct filter *filter)
{
    if (h->part && h->settings.kind != settings->kind) { /* as a new handler with the same queue */
        handler_cancel_runs(h);
        h->settings.kind->close(h);
    }
    filter_free(h->output.filter);
    h->settings = *settings;
    h->settings.name = h->name;
    h->settings.filter = (struct filter_settings){0}; /* borrowed */
    h->settings.conf = NULL;
    settings->kind->configure(h, settings->conf);
    h->output.filter = filter;
    h->output.context = settings->record.context;
}

struct handler *handler_new(struct handler_host *host, const struct handler_settings *settings,
                            struct filter *filter, const struct handler_saved *saved)
{
    struct inf_state_queue *on_disk = saved->queue;
    struct handler *h = NEW(struct handler);
    h->host = host;
    h->name = xstrdup(settings->name);
    h->output.name = h->name;
    h->output.ops = &output_ops;
    task_init(&h->pump, PHASE_PUMP, handler_start_runs);
    task_init(&h->flush, PHASE_FLUSH, handler_flush);
    list_init(&h->ready);
    h->minute_ms = clock_now_ms(host->clock);
    list_init(&h->runs);
    list_init(&h->node);
    list_init(&h->output.node);
    handler_batch_init(h);
    handler_queue_init(&h->queue, &host->hash_key);
    h->queue.owner = h;
    if (host->replicated) {
        handler_tracks_init(&h->tracks, &host->hash_key, saved->tracks);
        h->queue.tracks = &h->tracks;
    }
    take_settings(h, settings, filter);
    if (on_disk && !handler_queue_restore(&h->queue, on_disk))
        handler_log(h, INF_LOG_ERROR,
                    "GAP: some of its records in the state on disk can't be read and are dropped");
    list_for_each(node, &h->queue.records)
        handler_schedule_record(h, container_of(node, struct handler_record, node));
    return h;
}

void handler_configure(struct handler *handler, const struct handler_settings *settings,
                       struct filter *filter)
{
    take_settings(handler, settings, filter);
    task_schedule(handler->host->clock, &handler->pump); /* concurrency may have grown */
    handler_queue_unpark(&handler->queue, 0, handler_schedule_record, handler);
    handler_update_hold(handler);
}

void handler_pause(struct handler *handler, bool paused)
{
    handler->paused = paused;
    task_schedule(handler->host->clock, &handler->pump);
}

void handler_stop(struct handler *handler)
{
    if (handler->settings.kind->stop)
        handler->settings.kind->stop(handler);
    handler->stopped = true;
    task_cancel(&handler->pump);
    task_cancel(&handler->flush);
    journal_flush(handler->host->journal); /* what that task would have saved */
    handler_batch_stop(handler);
    list_for_each_safe(node, &handler->queue.objects) {
        struct handler_object *object = container_of(node, struct handler_object, node);
        timer_stop(handler->host->clock, &object->delay);
        list_remove(&object->ready);
        if (object->state != OBJECT_RUNNING)
            object->state = OBJECT_IDLE;
        handler_object_release(&handler->queue, object);
    }
    handler_update_hold(handler);
}

void handler_free(struct handler *handler)
{
    handler_queue_free(&handler->queue);
    if (handler->queue.tracks)
        handler_tracks_free(&handler->tracks);
    filter_free(handler->output.filter);
    handler->settings.kind->close(handler);
    free(handler->name);
    free(handler);
}

/* ---- status ---- */

void handler_status(const struct handler *handler, struct handler_status *ret)
{
    const struct handler_queue *q = &handler->queue;
    const struct handler_record *first = handler_queue_first(q);
    int64_t age_us = first ? clock_wall_us(handler->host->clock) - first->time_us : 0;
    *ret = (struct handler_status){
        .name = handler->name,
        .noun = noun_of(handler),
        .state = handler->output.held             ? "full"
                 : handler->paused                ? "paused"
                 : handler_replica_waits(handler) ? "standby"
                 : handler->last_error[0]         ? "failing"
                 : handler->n_runs                ? "running"
                                                  : "idle",
        .reason = handler->last_error[0] ? handler->last_error : NULL,
        .length = handler_queue_length(q),
        .bytes = q->bytes,
        .oldest_ms = age_us > 0 ? (uint64_t)age_us / 1000 : 0,
        .running = handler->n_runs,
        .parked = q->counts[RECORD_PARKED],
        .paused = handler->paused,
        .held = handler->output.held,
        .counters = handler->counters,
    };
}
