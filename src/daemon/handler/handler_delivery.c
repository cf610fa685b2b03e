/*
 * handler_delivery.c - which run of a handler is next, and what follows its end.
 *
 *                  waiting record         pump              done, parked
 *     idle object ────────────────> ready ────────> running ────────────> idle
 *          ^                                           │ failed
 *          └───────────────── timer ────── delayed <───┘
 *
 * Normal path: start_run() hands the oldest records of ready objects to the kind (handler_batch.c);
 * handler_run_end() removes them. A failed run is repeated after a delay, and at last its records are
 * parked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"
#include "daemon/handler/handler_kind.h"

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
    struct handler *h = ctx;
    schedule_object(h, record->object);
    if (record->object->state == OBJECT_READY)
        task_schedule(h->host->clock, &h->pump); /* the batch may be full now */
}

static void start_run(struct handler *h)
{
    struct handler_record **records;
    size_t n = handler_batch_take(h, &records);
    struct handler_run *run;
    if (!n)
        return;
    run = h->settings.kind->start(h, records, n);
    run->handler = h;
    run->records = records;
    run->n_records = n;
    run->began_ms = clock_now_ms(h->host->clock);
    list_init(&run->node);
    list_push(&h->runs, &run->node);
    h->n_runs++;
}

void handler_start_runs(struct task *task)
{
    struct handler *h = container_of(task, struct handler, pump);
    bool over_budget = false;
    for (; !over_budget && handler_batch_is_ready(h);
         over_budget = clock_over_budget(h->host->clock))
        start_run(h);
    if (over_budget && handler_batch_is_ready(h))
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

/* What became of the records of a run. */
struct run_summary {
    const char *why; /* it failed */
    size_t n;        /* of all records */
    size_t parked, repeated, split;
    uint64_t delay_ms; /* of the first record that is repeated */
    uint32_t runs;     /* of the first record that is parked */
    uint64_t jitter;   /* of all delays, in thousandths: records of a batch stay together */
};

static uint64_t delay_of(const struct handler *h, const struct handler_record *record,
                         const struct run_summary *summary)
{
    uint64_t ms =
        backoff_ms(h->settings.backoff_min_ms, h->settings.backoff_max_ms, record->runs - 1);
    return ms + ms / JITTER_SHARE * summary->jitter / 1000;
}

/* The object waits before its next run, unless an earlier record of this run has delayed it. */
static void delay_object(struct handler *h, struct handler_object *object, uint64_t delay_ms)
{
    if (h->stopped || object->state != OBJECT_RUNNING)
        return;
    object->state = OBJECT_DELAYED;
    object->delay.fire = on_delay_end;
    timer_start(h->host->clock, &object->delay, delay_ms);
}

static void repeat(struct handler *h, struct handler_record *record, struct run_summary *summary)
{
    uint64_t delay_ms = delay_of(h, record, summary);
    if (!summary->repeated++)
        summary->delay_ms = delay_ms;
    handler_queue_move(&h->queue, record, RECORD_WAITING);
    delay_object(h, record->object, delay_ms);
    supersede(h, record);
}

static void park(struct handler *h, struct handler_record *record, struct run_summary *summary)
{
    if (!summary->parked++)
        summary->runs = record->runs;
    h->counters.parked++;
    handler_queue_park(&h->queue, record, summary->why, clock_wall_us(h->host->clock));
}

static void settle_record(struct handler *h, struct handler_record *record,
                          enum handler_outcome outcome, struct run_summary *summary)
{
    record->failures += outcome == HANDLER_FAILED;
    switch (outcome) {
    case HANDLER_DONE: handler_queue_remove(&h->queue, record); break; /* its object stays */
    case HANDLER_AGAIN: handler_queue_move(&h->queue, record, RECORD_WAITING); break;
    case HANDLER_SPLIT:
        summary->split++;
        record->alone = true;
        handler_queue_move(&h->queue, record, RECORD_WAITING);
        break;
    case HANDLER_REFUSED: park(h, record, summary); break;
    case HANDLER_RETRY:
    case HANDLER_FAILED:
        if (record->failures <= h->settings.retry_max) {
            repeat(h, record, summary);
        } else if (summary->n > 1) { /* perhaps only because of another record */
            record->failures = h->settings.retry_max;
            record->alone = true;
            repeat(h, record, summary);
        } else {
            park(h, record, summary);
        }
        break;
    }
}

const char *handler_run_name(const struct handler_run *run, char *buf, size_t size)
{
    if (run->n_records == 1)
        snprintf(buf, size, "%s", run->records[0]->object->key);
    else
        snprintf(buf, size, "%zu records", run->n_records);
    return buf;
}

/* The records are settled: @name describes them. */
static void log_failure(struct handler *h, const char *name, const char *why,
                        const struct run_summary *summary)
{
    size_t n = summary->n;
    char part[80] = "";
    if (summary->repeated) {
        if (summary->repeated < n)
            snprintf(part, sizeof(part), "%zu of ", summary->repeated);
        handler_log(h, INF_LOG_WARN, "%s%s: %s; repeated in %.1f s", part, name, why,
                    (double)summary->delay_ms / 1000);
    }
    if (summary->split)
        handler_log(h, INF_LOG_WARN, "%s: %s; repeated one by one", name, why);
    if (summary->parked) {
        part[0] = '\0';
        if (summary->parked < n)
            snprintf(part, sizeof(part), "%zu of ", summary->parked);
        handler_log(h, INF_LOG_ERROR,
                    "%s%s: %s; given up after %" PRIu32 " run%s; the record%s parked: see "
                    "'informerctl handler parked %s'",
                    part, name, why, summary->runs, summary->runs == 1 ? "" : "s",
                    n == 1 ? " is" : "s are", h->name);
    }
}

/* ---- the objects of a run that has ended ---- */

static void settle_object(struct handler *h, struct handler_object *object)
{
    if (object->state == OBJECT_RUNNING)
        object->state = OBJECT_IDLE;
    schedule_object(h, object);
    handler_object_release(&h->queue, object);
}

static void settle_run(struct handler *h, struct handler_run *run,
                       const struct handler_result *result, struct run_summary *summary)
{
    struct handler_object **objects = xcalloc(run->n_records, sizeof(struct handler_object *));
    size_t n_objects = 0;
    for (size_t i = 0; i < run->n_records; i++) {
        struct handler_record *record = run->records[i];
        if (!n_objects || objects[n_objects - 1] != record->object)
            objects[n_objects++] = record->object;
        settle_record(h, record, result->outcomes ? result->outcomes[i] : result->outcome, summary);
    }
    forget_parked(h);
    for (size_t i = 0; i < n_objects; i++)
        settle_object(h, objects[i]);
    free(objects);
}

const uint64_t handler_duration_bounds_ms[HANDLER_DURATION_BOUNDS] = {
    10, 50, 100, 500, 1000, 5000, 10 * 1000, 30 * 1000, 60 * 1000, 300 * 1000};

static void count_duration(struct handler_durations *durations, uint64_t ms)
{
    size_t at = 0;
    while (at < HANDLER_DURATION_BOUNDS && ms > handler_duration_bounds_ms[at])
        at++;
    durations->counts[at]++;
    durations->sum_ms += ms;
}

static void count_run(struct handler *h, const struct handler_run *run,
                      const struct handler_result *result)
{
    bool failed = result->outcome != HANDLER_DONE;
    uint64_t ms = clock_now_ms(h->host->clock) - run->began_ms;
    h->counters.runs++;
    h->counters.failures += failed;
    h->counters.run_ms += ms;
    count_duration(&h->counters.durations, ms);
    snprintf(h->last_error, sizeof(h->last_error), "%s", failed ? result->why : "");
}

static void free_run(struct handler *h, struct handler_run *run)
{
    list_remove(&run->node);
    h->n_runs--;
    free(run->records);
    free(run);
}

void handler_flush(struct task *task)
{
    journal_flush(container_of(task, struct handler, flush)->host->journal);
}

void handler_run_result(struct handler_run *run, const struct handler_result *result)
{
    struct handler *h = run->handler;
    struct run_summary summary = {.why = result->why ? result->why : "",
                                  .n = run->n_records,
                                  .jitter = h->host->rng ? rng_below(h->host->rng, 1000) : 0};
    uint64_t wait_ms =
        result->wait_ms < HANDLER_WAIT_MAX_MS ? result->wait_ms : HANDLER_WAIT_MAX_MS;
    char name[HANDLER_LOG_LINE / 2];
    count_run(h, run, result);
    handler_run_name(run, name, sizeof(name));
    settle_run(h, run, result, &summary);
    h->counters.retries += summary.repeated || summary.split;
    log_failure(h, name, result->why, &summary);
    free_run(h, run);
    if (wait_ms && !h->stopped)
        timer_start(h->host->clock, &h->wait, wait_ms);
    if (!h->stopped)
        task_schedule(h->host->clock, &h->pump);
    handler_update_hold(h);
    if (h->host->on_delivered)
        h->host->on_delivered(h->host);
    if (!h->stopped) {
        task_schedule(h->host->clock, &h->flush); /* saves that it has ended */
    } else {
        journal_flush(h->host->journal);
        h->host->on_run_end(h->host);
    }
}

void handler_run_end(struct handler_run *run, enum handler_outcome outcome, const char *why)
{
    handler_run_result(run, &(struct handler_result){.outcome = outcome, .why = why});
}

void handler_cancel_runs(struct handler *handler)
{
    list_for_each_safe(node, &handler->runs) {
        struct handler_run *run = container_of(node, struct handler_run, node);
        struct handler_record **records = run->records;
        for (size_t i = 0; i < run->n_records; i++) {
            handler_queue_move(&handler->queue, records[i], RECORD_WAITING);
            records[i]->object->state = OBJECT_IDLE;
        }
        list_remove(&run->node);
        handler->n_runs--;
        for (size_t i = 0; i < run->n_records; i++)
            handler_schedule_record(handler, records[i]);
        handler->settings.kind->cancel(run);
        free(records);
    }
}
