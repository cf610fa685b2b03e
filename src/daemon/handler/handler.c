/*
 * handler.c - delivers the records of one handler: which run is next, what follows its end, and what
 * happens when the queue is full.
 *
 * Normal path: put_change() adds a record; once it is saved, its object becomes ready; start_run()
 * hands the oldest record of the object to the kind; handler_run_end() removes it. A failed run is
 * repeated after a delay, and at last its record is parked.
 *
 *                  waiting record         pump              done, parked
 *     idle object ────────────────> ready ────────> running ────────────> idle
 *          ^                                           │ failed
 *          └───────────────── timer ────── delayed <───┘
 */
#include "daemon/handler/handler.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"
#include "base/str.h"

enum {
    MINUTE_MS = 60 * 1000,
    JITTER_SHARE = 4, /* a delay is prolonged by up to this part of it */
};

/* ---- the daemon's log ---- */

void handler_log(struct handler *handler, enum inf_log_level level, const char *fmt, ...)
{
    uint64_t now_ms = clock_now_ms(handler->host->clock);
    char line[HANDLER_LOG_LINE];
    int len = snprintf(line, sizeof(line), "handler %.200s: ", handler->name);
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

static void schedule_record(void *ctx, struct handler_record *record)
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

static void start_runs(struct task *task)
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

static void settle(struct handler *h, struct handler_object *object);

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

static void update_hold(struct handler *h)
{
    bool waits = h->settings.overflow == HANDLER_WAIT && !h->stopped;
    bool hold = waits && (h->output.held ? h->queue.bytes > low_mark(h)
                                         : h->queue.bytes > h->settings.queue_bytes);
    if (hold == h->output.held)
        return;
    h->output.held = hold;
    journal_update_holds(h->host->journal);
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
    update_hold(h);
    journal_flush(h->host->journal); /* saves that it has ended */
    if (h->stopped)
        h->host->on_run_end(h->host);
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
    char *key = key_of(change);
    put_environment(&env, h, change);
    jsonl_format.put_change(&line, change, &h->settings.record);
    record =
        handler_queue_add(&h->queue, key, change->event->received_us,
                          (struct str){env.bytes, env.len}, (struct str){line.bytes, line.len});
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
    handler_queue_save(&container_of(output, struct handler, output)->queue);
}

static void release(struct journal_output *output)
{
    struct handler *h = container_of(output, struct handler, output);
    handler_queue_release(&h->queue, schedule_record, h);
    update_hold(h);
}

static const struct journal_output_ops output_ops = {
    .put_change = put_change,
    .save = save,
    .release = release,
};

/* ---- life ---- */

static void free_argv(const char *const *argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free((char *)(uintptr_t)argv[i]);
    free((void *)(uintptr_t)argv);
}

static const char *const *copy_argv(const char *const *argv)
{
    size_t n = 0;
    const char **copy;
    while (argv && argv[n])
        n++;
    copy = xcalloc(n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(argv[i]);
    return copy;
}

static void take_settings(struct handler *h, const struct handler_settings *settings,
                          struct filter *filter)
{
    const char *const *argv = copy_argv(settings->argv);
    free_argv(h->settings.argv);
    filter_free(h->output.filter);
    h->settings = *settings;
    h->settings.argv = argv;
    h->settings.name = h->name;
    h->settings.filter = (struct filter_settings){0}; /* borrowed */
    h->output.filter = filter;
    h->output.context = settings->record.context;
}

struct handler *handler_new(struct handler_host *host, const struct handler_settings *settings,
                            struct filter *filter, struct inf_state_queue *on_disk)
{
    struct handler *h = NEW(struct handler);
    h->host = host;
    h->name = xstrdup(settings->name);
    h->output.name = h->name;
    h->output.ops = &output_ops;
    task_init(&h->pump, PHASE_PUMP, start_runs);
    list_init(&h->ready);
    h->minute_ms = clock_now_ms(host->clock);
    list_init(&h->runs);
    list_init(&h->node);
    list_init(&h->output.node);
    take_settings(h, settings, filter);
    handler_queue_init(&h->queue, &host->hash_key);
    h->queue.owner = h;
    if (on_disk && !handler_queue_restore(&h->queue, on_disk))
        handler_log(h, INF_LOG_ERROR,
                    "GAP: some of its records in the state on disk can't be read and are dropped");
    list_for_each(node, &h->queue.records)
        schedule_record(h, container_of(node, struct handler_record, node));
    return h;
}

void handler_configure(struct handler *handler, const struct handler_settings *settings,
                       struct filter *filter)
{
    take_settings(handler, settings, filter);
    task_schedule(handler->host->clock, &handler->pump); /* concurrency may have grown */
    handler_queue_unpark(&handler->queue, schedule_record, handler);
    update_hold(handler);
}

void handler_stop(struct handler *handler)
{
    handler->stopped = true;
    task_cancel(&handler->pump);
    list_for_each_safe(node, &handler->queue.objects) {
        struct handler_object *object = container_of(node, struct handler_object, node);
        timer_stop(handler->host->clock, &object->delay);
        list_remove(&object->ready);
        if (object->state != OBJECT_RUNNING)
            object->state = OBJECT_IDLE;
        handler_object_release(&handler->queue, object);
    }
    update_hold(handler);
}

void handler_cancel_runs(struct handler *handler)
{
    list_for_each_safe(node, &handler->runs) {
        struct handler_run *run = container_of(node, struct handler_run, node);
        handler_queue_move(&handler->queue, run->record, RECORD_WAITING);
        run->record->object->state = OBJECT_IDLE;
        list_remove(&run->node);
        handler->settings.kind->cancel(run);
    }
}

void handler_free(struct handler *handler)
{
    handler_queue_free(&handler->queue);
    filter_free(handler->output.filter);
    free_argv(handler->settings.argv);
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
        .state = handler->output.held        ? "full"
                 : handler->last_error[0]    ? "failing"
                 : q->counts[RECORD_RUNNING] ? "running"
                                             : "idle",
        .reason = handler->last_error[0] ? handler->last_error : NULL,
        .length = handler_queue_length(q),
        .bytes = q->bytes,
        .oldest_ms = age_us > 0 ? (uint64_t)age_us / 1000 : 0,
        .running = q->counts[RECORD_RUNNING],
        .parked = q->counts[RECORD_PARKED],
        .held = handler->output.held,
        .counters = handler->counters,
    };
}
