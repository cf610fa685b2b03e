/*
 * handler_batch.c - the records of the next run.
 *
 * A run takes up to batch_max records of the objects that are ready, in the order in which they became
 * ready, and with `each` all that wait for an object before those of the next one. If fewer records are
 * ready, the first one waits up to batch_within_ms for others. A record that was refused as part of a
 * batch (HANDLER_SPLIT) has a run of its own. With a rate, runs start at equal intervals.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/handler/handler_kind.h"

#define MINUTE_US (UINT64_C(60) * 1000 * 1000)

struct batch {
    struct handler_record **records;
    size_t count, max, bytes;
};

static size_t max_of(const struct handler *h)
{
    return h->settings.batch_max ? h->settings.batch_max : 1;
}

static struct handler_record *next_of_object(const struct handler_record *record)
{
    struct list *next = record->of_object.next;
    return next == &record->object->records ? NULL
                                            : container_of(next, struct handler_record, of_object);
}

/* ---- waiting for a full batch ---- */

/* The number of records that can be delivered now, at most @max. Sets *@ret_full if no further record is
 * to be waited for. */
static size_t count_ready(const struct handler *h, size_t max, bool *ret_full)
{
    size_t count = 0, bytes = 0;
    bool full = false;
    list_for_each(node, &h->ready) {
        const struct handler_object *object = container_of(node, struct handler_object, ready);
        for (const struct handler_record *r = handler_object_first(object);
             r && r->state == RECORD_WAITING && !full; r = next_of_object(r)) {
            count++;
            bytes += r->line_len;
            full = count == max || bytes >= HANDLER_BATCH_BYTES || r->alone;
        }
        if (full)
            break;
    }
    *ret_full = full;
    return count;
}

static void on_gathered(struct timer *timer)
{
    struct handler *h = container_of(timer, struct handler, gather);
    h->gathered = true;
    task_schedule(h->host->clock, &h->pump);
}

static void on_waited(struct timer *timer)
{
    struct handler *h = container_of(timer, struct handler, wait);
    task_schedule(h->host->clock, &h->pump);
}

void handler_batch_init(struct handler *handler)
{
    handler->gather.fire = on_gathered;
    handler->wait.fire = on_waited;
}

void handler_batch_stop(struct handler *handler)
{
    timer_stop(handler->host->clock, &handler->gather);
    timer_stop(handler->host->clock, &handler->wait);
}

/* ---- the rate ---- */

/* Whether the rate permits a run now; if not, starts the timer for the next one. Runs are due at equal
 * intervals; one may start up to HANDLER_BURST_MS before it is due, so that a late tick delays no other. */
static bool is_permitted(struct handler *h)
{
    uint64_t now_us = clock_now_ms(h->host->clock) * 1000;
    if (!h->settings.rate || h->next_us <= now_us + HANDLER_BURST_MS * 1000)
        return true;
    timer_start(h->host->clock, &h->wait, (h->next_us - now_us) / 1000 - HANDLER_BURST_MS + 1);
    return false;
}

static void use_permission(struct handler *h)
{
    uint64_t now_us = clock_now_ms(h->host->clock) * 1000;
    if (!h->settings.rate)
        return;
    h->next_us = (h->next_us > now_us ? h->next_us : now_us) + MINUTE_US / h->settings.rate;
}

bool handler_batch_is_ready(struct handler *handler)
{
    size_t max = max_of(handler);
    bool full;
    if (handler->stopped || handler->paused || handler_replica_waits(handler) ||
        list_empty(&handler->ready) || handler->wait.running ||
        handler->n_runs >= handler->settings.concurrency ||
        (handler->settings.kind->is_ready && !handler->settings.kind->is_ready(handler)))
        return false;
    if (max == 1 || !handler->settings.batch_within_ms || handler->gathered)
        return is_permitted(handler);
    count_ready(handler, max, &full);
    if (full)
        return is_permitted(handler);
    if (!handler->gather.running)
        timer_start(handler->host->clock, &handler->gather, handler->settings.batch_within_ms);
    return false;
}

/* ---- the records ---- */

static bool fits(const struct batch *b, const struct handler_record *record)
{
    return b->count < b->max && (!b->count || (!record->alone && !b->records[0]->alone &&
                                               b->bytes + record->line_len <= HANDLER_BATCH_BYTES));
}

static void take_record(struct handler *h, struct batch *b, struct handler_record *record)
{
    handler_queue_move(&h->queue, record, RECORD_RUNNING);
    record->runs++;
    b->records[b->count++] = record;
    b->bytes += record->line_len;
}

/* Takes the records of @object that wait. Returns false if the first one does not fit. */
static bool take_object(struct handler *h, struct batch *b, struct handler_object *object)
{
    struct handler_record *record = handler_object_first(object);
    object->state = OBJECT_IDLE;
    if (!record || record->state != RECORD_WAITING) { /* it was dropped meanwhile */
        handler_object_release(&h->queue, object);
        return true;
    }
    if (!fits(b, record)) {
        object->state = OBJECT_READY;
        list_push(h->ready.next, &object->ready); /* first again */
        return false;
    }
    object->state = OBJECT_RUNNING;
    for (; record && record->state == RECORD_WAITING && fits(b, record);
         record = next_of_object(record))
        take_record(h, b, record);
    return true;
}

size_t handler_batch_take(struct handler *handler, struct handler_record ***ret_records)
{
    bool full, more = true;
    struct batch b = {.max = count_ready(handler, max_of(handler), &full)};
    b.max = b.max ? b.max : 1;
    b.records = xcalloc(b.max, sizeof(struct handler_record *));
    while (more && b.count < b.max && !list_empty(&handler->ready))
        more = take_object(handler, &b,
                           container_of(list_pop(&handler->ready), struct handler_object, ready));
    timer_stop(handler->host->clock, &handler->gather);
    handler->gathered = false;
    if (b.count) {
        use_permission(handler);
    } else {
        free(b.records);
        b.records = NULL;
    }
    *ret_records = b.records;
    return b.count;
}
