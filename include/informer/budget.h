/*
 * budget.h - one memory limit for the backlogs of many informers.
 *
 *     struct inf_budget_options budget_options = {.bytes = 256 * 1024 * 1024};
 *     struct inf_budget *budget = inf_budget_new(&budget_options);
 *     struct inf_client_options options = {.budget = budget};
 *
 * The budget counts what waits: changes that an informer has received and not applied yet, events
 * that were not delivered to a handler yet (both with their objects), and what inf_budget_add()
 * adds. The limits of each handler (max_events, max_bytes) apply as well.
 *
 * While more than `bytes` is in use, informers that use more than their share are held: they stop
 * reading, as with a full handler. The share is the limit divided by the number of informers that
 * use any of it. An informer continues when it is below half of its share, or when the total is
 * below seven eighths of the limit. Informers with small backlogs continue. The total never exceeds
 * twice the limit plus what was being read when an informer was held.
 *
 * A budget belongs to one thread, the thread of the clients that share it.
 */
#ifndef INFORMER_BUDGET_H
#define INFORMER_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_budget;

struct inf_budget_options {
    size_t bytes; /* the limit */
    /* Called when the limit is exceeded, and when it no longer is. May be NULL. Must not close
     * clients. */
    void (*on_over)(void *data, bool over);
    void *data; /* for on_over() */
    void *reserved[2];
};

struct inf_budget_status {
    size_t limit;
    size_t used;
    uint64_t reached; /* number of times the limit was exceeded */
    size_t held;      /* number of informers that are held now */
    bool over;
    uint64_t reserved[4];
};

/**
 * Creates a budget. Copies @options. The caller releases it with inf_budget_free(). Returns NULL if a
 * reserved field of @options is not zero.
 */
INF_API struct inf_budget *inf_budget_new(const struct inf_budget_options *options);

/**
 * Releases the caller's reference. The memory is freed with the last informer that uses the budget;
 * on_over() is not called any more. NULL is allowed.
 */
INF_API void inf_budget_free(struct inf_budget *budget);

/** Sets another limit, effective immediately. */
INF_API void inf_budget_set_limit(struct inf_budget *budget, size_t bytes);

/**
 * Counts @bytes of the caller's own memory, such as output buffers. A negative number subtracts.
 * NULL is allowed.
 */
INF_API void inf_budget_add(struct inf_budget *budget, ptrdiff_t bytes);

/** Stores the current numbers in @ret_status. */
INF_API void inf_budget_status(const struct inf_budget *budget,
                               struct inf_budget_status *ret_status);

#ifdef __cplusplus
}
#endif

#endif
