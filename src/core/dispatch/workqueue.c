/*
 * workqueue.c - the work queue: keys in, at most one run per key at a time, retries with back-off.
 *
 * Normal path: inf_queue_add() queues a key, the pump calls the worker, inf_queue_done() ends the
 * run. An add fails if the queue is not open, holds keys_max keys, or the key is too long. A queue
 * that drains drops its delays and finishes what is queued; a closed queue drops everything.
 */
#include "core/dispatch/workqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"

/* Defaults of options that are zero; see informer/queue.h. Those for retries are client-go's. */
enum {
    WORKERS = 1,
    BASE_MS = 5,
    MAX_MS = 1000000,
    RETRIES_PER_SEC = 10,
    BURST = 100,
    KEYS_MAX = 1000000,
};

enum {
    SLICE = 100, /* keys dropped between two checks of the time budget */
};

enum queue_state {
    QUEUE_OPEN,
    QUEUE_DRAINING,
    QUEUE_DRAINED,
    QUEUE_CLOSED,
};

static const struct sm_state queue_states[] = {
    [QUEUE_OPEN] = {"open", SM_TO(QUEUE_DRAINING) | SM_TO(QUEUE_CLOSED)},
    [QUEUE_DRAINING] = {"draining", SM_TO(QUEUE_DRAINED) | SM_TO(QUEUE_CLOSED)},
    [QUEUE_DRAINED] = {"drained", SM_TO(QUEUE_CLOSED)},
    [QUEUE_CLOSED] = {"closed", 0},
};

/* ---- queueing ---- */

static void queue_ready_item(struct inf_queue *q, struct workitem *item)
{
    workitem_move(item, ITEM_QUEUED);
    q->stats.depth++;
    task_schedule(q->clock, &q->pump);
}

static void queue_add_item(struct inf_queue *q, struct workitem *item)
{
    switch (item->state) {
    case ITEM_RESTING: queue_ready_item(q, item); break;
    case ITEM_WORKING: item->state = ITEM_WORKING_STALE; break; /* queued when it is done */
    case ITEM_QUEUED:
    case ITEM_WORKING_STALE: q->stats.collapsed++; return;
    }
    q->stats.adds++;
}

/* Delays of a queue that drains or is closed have no effect; see queue_clear(). */
static void queue_on_delay_end(struct workitems *items, struct workitem *item)
{
    struct inf_queue *q = container_of(items, struct inf_queue, items);
    if (q->sm.state == QUEUE_OPEN)
        queue_add_item(q, item);
    else
        workitem_drop_if_idle(item);
}

/* A retry has no effect if a running delay ends earlier. It then takes no token, so that a key that
 * is retried often does not delay the others. */
static void queue_retry(struct inf_queue *q, struct workitem *item)
{
    uint64_t own_ms = backoff_ms(q->options.base_ms, q->options.max_ms, item->retries), all_ms;
    item->retries += item->retries < UINT32_MAX;
    q->stats.retries++;
    if (workitem_delay_ends_within(item, own_ms))
        return;
    all_ms = token_bucket_take(&q->bucket, clock_now_ms(q->clock));
    workitem_delay(item, own_ms > all_ms ? own_ms : all_ms);
}

/* ---- keys in: informer/queue.h ---- */

/* Finds or creates the item. Returns 0, -INF_ECLOSED or -INF_ETOOBIG. */
static int queue_admit_key(struct inf_queue *q, const char *key, struct workitem **ret_item)
{
    struct workitem *item = workitem_find(&q->items, key);
    bool room = q->items.by_key.count < q->options.keys_max && strlen(key) < INF_QUEUE_KEY_MAX;
    if (q->sm.state != QUEUE_OPEN)
        return -INF_ECLOSED;
    if (!item && !room) {
        q->stats.refused++;
        return -INF_ETOOBIG;
    }
    *ret_item = item ? item : workitem_new(&q->items, key);
    return 0;
}

int inf_queue_add(struct inf_queue *queue, const char *key)
{
    struct workitem *item;
    int rc = queue_admit_key(queue, key, &item);
    if (rc == 0)
        queue_add_item(queue, item);
    return rc;
}

int inf_queue_add_after(struct inf_queue *queue, const char *key, uint64_t delay_ms)
{
    struct workitem *item;
    int rc;
    if (!delay_ms)
        return inf_queue_add(queue, key);
    rc = queue_admit_key(queue, key, &item);
    if (rc == 0)
        workitem_delay(item, delay_ms);
    return rc;
}

int inf_queue_add_rate_limited(struct inf_queue *queue, const char *key)
{
    struct workitem *item;
    int rc = queue_admit_key(queue, key, &item);
    if (rc == 0)
        queue_retry(queue, item);
    return rc;
}

void inf_queue_forget(struct inf_queue *queue, const char *key)
{
    struct workitem *item = workitem_find(&queue->items, key);
    if (item)
        item->retries = 0;
}

uint32_t inf_queue_retries(const struct inf_queue *queue, const char *key)
{
    const struct workitem *item = workitem_find(&queue->items, key);
    bool dropped = item && item->state == ITEM_RESTING &&
                   queue->sm.state != QUEUE_OPEN; /* see queue_clear() */
    return item && !dropped ? item->retries : 0;
}

/* ---- keys out ---- */

int inf_queue_done(struct inf_queue *queue, const char *key, enum inf_work_outcome outcome)
{
    struct workitem *item = workitem_find(&queue->items, key);
    if (!item || (item->state != ITEM_WORKING && item->state != ITEM_WORKING_STALE))
        return -INF_ENOTFOUND;
    queue->stats.worked_ms += clock_now_ms(queue->clock) - item->since_ms;
    queue->stats.working--;
    queue->stats.done++;
    queue->began_ms -= item->since_ms;
    if (item->state == ITEM_WORKING_STALE)
        queue_ready_item(queue, item);
    else
        workitem_move(item, ITEM_RESTING);
    task_schedule(queue->clock, &queue->pump); /* a worker is free */
    if (outcome == INF_WORK_OK)
        item->retries = 0;
    else if (queue->sm.state == QUEUE_OPEN)
        queue_retry(queue, item);
    if (queue->sm.state != QUEUE_OPEN)
        workitem_end_delay(item);
    workitem_drop_if_idle(item);
    return 0;
}

/* ---- the pump ---- */

static bool queue_can_run(const struct inf_queue *q)
{
    return q->sm.state != QUEUE_CLOSED && q->stats.depth && q->stats.working < q->options.workers;
}

/* Runs only the keys that are queued when it starts: a worker that finishes at once and adds its
 * key again does not block the loop. */
static void queue_pump(struct task *task)
{
    struct inf_queue *q = container_of(task, struct inf_queue, pump);
    bool over_budget = false;
    for (size_t left = q->stats.depth; left && queue_can_run(q) && !over_budget; left--) {
        struct workitem *item = container_of(q->items.queued.next, struct workitem, node);
        uint64_t now_ms = clock_now_ms(q->clock);
        q->stats.queued_ms += now_ms - item->since_ms;
        q->stats.depth--;
        q->stats.working++;
        q->began_ms += now_ms;
        workitem_move(item, ITEM_WORKING);
        q->worker->work(q->worker, q, item->key);
        over_budget = clock_over_budget(q->clock);
    }
    if (queue_can_run(q))
        task_schedule(q->clock, &q->pump);
    if (q->sm.state == QUEUE_DRAINING && !q->stats.depth && !q->stats.working) {
        sm_move(&q->sm, QUEUE_DRAINED, "%llu runs completed", (unsigned long long)q->stats.done);
        if (q->worker->on_drained)
            q->worker->on_drained(q->worker, q);
    }
}

/* ---- numbers ---- */

size_t inf_queue_length(const struct inf_queue *queue)
{
    return queue->stats.depth;
}

static uint64_t age_of_oldest(const struct list *list, uint64_t now_ms)
{
    return list_empty(list) ? 0
                            : now_ms - container_of(list->next, struct workitem, node)->since_ms;
}

void inf_queue_stats(const struct inf_queue *queue, struct inf_queue_stats *ret_stats)
{
    uint64_t now_ms = clock_now_ms(queue->clock);
    *ret_stats = queue->stats;
    ret_stats->delayed = queue->sm.state == QUEUE_OPEN ? queue->items.delayed : 0;
    ret_stats->oldest_queued_ms = age_of_oldest(&queue->items.queued, now_ms);
    ret_stats->longest_worked_ms = age_of_oldest(&queue->items.working, now_ms);
    ret_stats->unfinished_ms = queue->stats.working * now_ms - queue->began_ms;
}

/* ---- the end ---- */

static void queue_free_deferred(struct deferred_free *deferred_free)
{
    struct inf_queue *q = container_of(deferred_free, struct inf_queue, deferred_free);
    if (q->on_closed)
        q->on_closed(q);
    workitems_free(&q->items);
    free(q->name);
    free(q);
}

/* Drops items in slices: delayed ones if the queue drains, all if it is closed. */
static void queue_clear(struct task *task)
{
    struct inf_queue *q = container_of(task, struct inf_queue, clear);
    bool (*drop)(struct workitems *, size_t) =
        q->sm.state == QUEUE_CLOSED ? workitems_drop : workitems_drop_resting;
    bool more;
    do
        more = drop(&q->items, SLICE);
    while (more && !clock_over_budget(q->clock));
    if (more)
        task_schedule(q->clock, &q->clear);
    else if (q->sm.state == QUEUE_CLOSED)
        clock_free_later(q->clock, &q->deferred_free, queue_free_deferred);
}

/* ---- life ---- */

static struct inf_queue_options options_with_defaults(const struct inf_queue_options *given)
{
    struct inf_queue_options o = given ? *given : (struct inf_queue_options){0};
    o.name = o.name ? o.name : "queue";
    o.workers = o.workers ? o.workers : WORKERS;
    o.base_ms = o.base_ms ? o.base_ms : BASE_MS;
    o.max_ms = o.max_ms ? o.max_ms : MAX_MS;
    o.retries_per_sec = o.retries_per_sec ? o.retries_per_sec : RETRIES_PER_SEC;
    o.burst = o.burst ? o.burst : BURST;
    o.keys_max = o.keys_max ? o.keys_max : KEYS_MAX;
    return o;
}

struct inf_queue *workqueue_new(struct clock *clock, struct inf_worker *worker,
                                const struct inf_queue_options *options,
                                const struct siphash_key *hash_key, struct log *log)
{
    struct inf_queue *q = NEW(struct inf_queue);
    q->clock = clock;
    q->worker = worker;
    q->options = options_with_defaults(options);
    q->options.name = q->name = xstrdup(q->options.name);
    list_init(&q->node);
    task_init(&q->pump, PHASE_PUMP, queue_pump);
    task_init(&q->clear, PHASE_PUMP, queue_clear);
    workitems_init(&q->items, clock, hash_key, queue_on_delay_end);
    token_bucket_init(&q->bucket, q->options.retries_per_sec, q->options.burst,
                      clock_now_ms(clock));
    sm_init(&q->sm, queue_states, QUEUE_OPEN, q->name, log);
    return q;
}

void inf_queue_drain(struct inf_queue *queue)
{
    if (queue->sm.state != QUEUE_OPEN)
        return;
    sm_move(&queue->sm, QUEUE_DRAINING, "%zu queued, %zu in progress, %zu delayed and dropped",
            queue->stats.depth, queue->stats.working, queue->items.delayed);
    task_schedule(queue->clock, &queue->clear);
    task_schedule(queue->clock, &queue->pump);
}

void inf_queue_close(struct inf_queue *queue, inf_queue_closed_fn *on_closed)
{
    if (!queue)
        return;
    queue->on_closed = on_closed;
    sm_move(&queue->sm, QUEUE_CLOSED, "close requested");
    task_cancel(&queue->pump);
    list_remove(&queue->node);
    task_schedule(queue->clock, &queue->clear);
}

void *inf_queue_data(const struct inf_queue *queue)
{
    return queue->data;
}

void inf_queue_set_data(struct inf_queue *queue, void *data)
{
    queue->data = data;
}
