/*
 * workqueue.h - how the work queue of informer/queue.h is made, on any clock; the rest is that API.
 *
 *      inf_queue_add ──────────────────> items.queued ── pump ──> worker->work() ── inf_queue_done
 *      inf_queue_add_after ── timer ──────────^  ^                                        │
 *      inf_queue_add_rate_limited ── limiter ────┴──── added meanwhile, or retried ───────┘
 *
 * Adds and the ends of delays only put keys in line; the pump hands them out, while workers are
 * free and the tick's budget lasts. What may happen to one key is drawn in workitem.h.
 */
#ifndef CORE_DISPATCH_WORKQUEUE_H
#define CORE_DISPATCH_WORKQUEUE_H

#include "informer/queue.h"

#include "base/sm.h"
#include "core/dispatch/retry_limiter.h"
#include "core/dispatch/workitem.h"

struct inf_queue {
    struct list node; /* for whoever opened it, among others of his; closing takes it out */
    struct deferred_free deferred_free;
    struct clock *clock;
    struct inf_worker *worker;
    struct inf_queue_options options; /* without zeros */
    char *name;
    struct sm sm;
    struct task pump;
    struct task clear; /* drops keys, when draining or closed */
    struct workitems items;
    struct token_bucket bucket;
    struct inf_queue_stats stats; /* but for ages, which are worked out when asked for */
    uint64_t began_ms;            /* when the runs that go on began, all added up */
};

/* @options may be NULL, and so may @log; @hash_key keeps others from choosing keys that collide. */
struct inf_queue *workqueue_new(struct clock *clock, struct inf_worker *worker,
                                const struct inf_queue_options *options,
                                const struct siphash_key *hash_key, struct log *log);

#endif
