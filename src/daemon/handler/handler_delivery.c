/*
 * handler_delivery.c - which run of a handler is next, and what follows its end.
 *
 *                  waiting record         pump              done, parked
 *     idle object ────────────────> ready ────────> running ────────────> idle
 *          ^                                           │ failed
 *          └───────────────── timer ────── delayed <───┘
 *
 * Normal path: start_run() hands the oldest record of a ready object to the kind; handler_run_end()
 * removes it. A failed run is repeated after a delay, and at last its record is parked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/backoff.h"
#include "base/base.h"
#include "daemon/handler/handler.h"

enum {
    JITTER_SHARE = 4, /* a delay is prolonged by up to this part of it */
};

/* ---- the next run ---- */

/* An idle object whose first record can be delivered becomes ready. */
static void schedule_object(struct handler *h, struct handler_object *object)
{
    const struct handler_record *first = handler_object_first(object);
    if (h->stopped || object->state != OBJECT_IDLE || !first || first->state != RECORD_WAITING)
        return;
    object->state = OBJECT_READY;
    list_push(&h->ready, &object->ready);
    task_schedule(h->host->clock, &h->pump);
}

void handler_schedule_record(void *ctx, struct handler_record *record)
{
    schedule_object(ctx, record->object);
}

static void start_run(struct handler *h, struct handler_object *object)
{
    struct handler_record *record = handler_object_first(object);
    struct handler_run *run;
    object->state = OBJECT_IDLE;
    if (!record || record->state != RECORD_WAITING) { /* it was dropped meanwhile */
        handler_object_release(&h->queue, object);
        return;
    }
    object->state = OBJECT_RUNNING;
    handler_queue_move(&h->queue, record, RECORD_RUNNING);
    record->runs++;
    run = h->settings.kind->start(h, record);
    run->handler = h;
    run->record = record;
    run->began_ms = clock_now_ms(h->host->clock);
    list_init(&run->node);
    list_push(&h->runs, &run->node);
}

static bool can_start(const struct handler *h)
{
    return !h->stopped && !list_empty(&h->ready) &&
           h->queue.counts[RECORD_RUNNING] < h->settings.concurrency;
}

void handler_start_runs(struct task *task)
{
    struct handler *h = container_of(task, struct handler, pump);
    bool over_budget = false;
    for (; can_start(h) && !over_budget; over_budget = clock_over_budget(h->host->clock))
        start_run(h, container_of(list_pop(&h->ready), struct handler_object, ready));
    if (can_start(h))
        task_schedule(h->host->clock, task);
}

static void on_delay_end(struct timer *timer)
{
    struct handler_object *object = container_of(timer, struct handler_object, delay);
    struct handler *h = object->owner;
    object->state = OBJECT_IDLE;
    schedule_object(h, object);
    handler_object_release(&h->queue, object);
}

/* ---- the end of a run ---- */

/* Parked records are bounded: the oldest ones are dropped. */
static void forget_parked(struct handler *h)
{
    list_for_each_safe(node, &h->queue.records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (h->queue.parked_bytes <= HANDLER_PARKED_BYTES)
            return;
        if (r->state != RECORD_PARKED)
            continue;
        handler_queue_remove(&h->queue, r);
        h->counters.forgotten++;
    }
}

static void park(struct handler *h, struct handler_record *record, const char *why)
{
    h->counters.parked++;
    handler_log(h, INF_LOG_ERROR,
                "%s: %s; given up after %" PRIu32 " runs; the record is parked until the next "
                "reload",
                record->object->key, why, record->runs);
    handler_queue_move(&h->queue, record, RECORD_PARKED);
    forget_parked(h);
}

/* A record that has a newer one takes its failures along. */
static void supersede(struct handler *h, struct handler_record *record)
{
    struct list *next = record->of_object.next;
    if (h->settings.deliver != HANDLER_LATEST || next == &record->object->records)
        return;
    container_of(next, struct handler_record, of_object)->failures = record->failures;
    h->counters.coalesced++;
    handler_queue_remove(&h->queue, record);
}

static uint64_t delay_of(const struct handler *h, const struct handler_record *record)
{
    uint64_t ms =
        backoff_ms(h->settings.backoff_min_ms, h->settings.backoff_max_ms, record->runs - 1);
    return ms + (h->host->rng ? rng_below(h->host->rng, ms / JITTER_SHARE + 1) : 0);
}

static void repeat(struct handler *h, struct handler_record *record, const char *why)
{
    uint64_t delay_ms = delay_of(h, record);
    struct handler_object *object = record->object;
    h->counters.retries++;
    handler_log(h, INF_LOG_WARN, "%s: %s; repeated in %.1f s", object->key, why,
                (double)delay_ms / 1000);
    handler_queue_move(&h->queue, record, RECORD_WAITING);
    supersede(h, record);
    if (h->stopped)
        return;
    object->state = OBJECT_DELAYED;
    object->delay.fire = on_delay_end;
    timer_start(h->host->clock, &object->delay, delay_ms);
}

/* A run of @object has ended. */
static void settle(struct handler *h, struct handler_object *object)
{
    if (object->state == OBJECT_RUNNING)
        object->state = OBJECT_IDLE;
    schedule_object(h, object);
    handler_object_release(&h->queue, object);
    if (can_start(h))
        task_schedule(h->host->clock, &h->pump);
    handler_update_hold(h);
    journal_flush(h->host->journal); /* saves that it has ended */
    if (h->stopped)
        h->host->on_run_end(h->host);
}

void handler_run_end(struct handler_run *run, enum handler_outcome outcome, const char *why)
{
    struct handler *h = run->handler;
    struct handler_record *record = run->record;
    struct handler_object *object = record->object;
    h->counters.runs++;
    h->counters.failures += outcome != HANDLER_DONE;
    h->counters.run_ms += clock_now_ms(h->host->clock) - run->began_ms;
    snprintf(h->last_error, sizeof(h->last_error), "%s", outcome == HANDLER_DONE ? "" : why);
    list_remove(&run->node);
    free(run);
    record->failures += outcome == HANDLER_FAILED;
    if (outcome == HANDLER_DONE)
        handler_queue_remove(&h->queue, record); /* the object is not idle, so it stays */
    else if (record->failures > h->settings.retry_max)
        park(h, record, why);
    else
        repeat(h, record, why);
    settle(h, object);
}
