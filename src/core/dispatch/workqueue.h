/*
 * workqueue.h - the implementation of the work queue API (informer/queue.h), on any clock.
 *
 *      inf_queue_add ──────────────────> items.queued ── pump ──> worker->work() ── inf_queue_done
 *      inf_queue_add_after ── timer ──────────^  ^                                        │
 *      inf_queue_add_rate_limited ── limiter ────┴──── added meanwhile, or retried ───────┘
 *
 * Adds and ends of delays only queue keys; the pump passes them to the worker while workers are
 * free and the tick's budget lasts. The states of one key are shown in workitem.h.
 */
#ifndef CORE_DISPATCH_WORKQUEUE_H
#define CORE_DISPATCH_WORKQUEUE_H

#include "informer/queue.h"

#include "base/sm.h"
#include "core/dispatch/token_bucket.h"
#include "core/dispatch/workitem.h"

struct inf_queue {
    struct list node; /* in its opener's list of queues; closing removes it */
    struct deferred_free deferred_free;
    struct clock *clock;
    struct inf_worker *worker;
    void *data; /* the user's */
    inf_queue_closed_fn *on_closed;
    struct inf_queue_options options; /* without zeros */
    char *name;
    struct sm sm;
    struct task pump;
    struct task clear; /* drops keys, when draining or closed */
    struct workitems items;
    struct token_bucket bucket;
    struct inf_queue_stats stats; /* except ages, which inf_queue_stats() computes */
    uint64_t began_ms;            /* sum of the start times of all runs in progress */
};

/* @options and @log may be NULL. @hash_key prevents chosen keys from colliding. */
struct inf_queue *workqueue_new(struct clock *clock, struct inf_worker *worker,
                                const struct inf_queue_options *options,
                                const struct siphash_key *hash_key, struct log *log);

#endif
