/*
 * budget.h - one limit for the memory of many backlogs.
 *
 *     struct inf_budget_options budget_options = {.bytes = 256 * 1024 * 1024};
 *     struct inf_budget *budget = inf_budget_new(&budget_options);
 *     struct inf_client_options options = {.budget = budget};
 *
 * What counts is what waits: changes that an informer has received and not applied, events that a handler was not
 * called with, each with its objects, and what inf_budget_add() adds. The limits of each handler (max_events,
 * max_bytes) hold as well.
 *
 * While more than `bytes` is in use, informers that use more than their share (the limit divided by the informers
 * that use any) are held, as by a full handler: they stop reading until they are below half of their share,
 * or all together below seven eighths of the limit. Those with small backlogs continue. At most twice the limit is
 * ever in use, and what was being read when an informer was held.
 *
 * A budget belongs to one thread, as the clients that share it do.
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
    size_t bytes;
    /* The limit was exceeded, or is not any more. May be NULL. Must not close clients. */
    void (*on_over)(void *ctx, bool over);
    void *ctx;
};

struct inf_budget_status {
    size_t limit;
    size_t used;
    uint64_t reached; /* times that the limit was exceeded */
    size_t held;      /* informers that are held now */
    bool over;
};

INF_API struct inf_budget *inf_budget_new(const struct inf_budget_options *options);

/** Lets go of it; informers that use it keep it until they are gone, and on_over() is not called any more. NULL is fine. */
INF_API void inf_budget_free(struct inf_budget *budget);

/** Another limit, from now on. */
INF_API void inf_budget_change(struct inf_budget *budget, size_t bytes);

/** Counts @bytes of the caller's own, such as output buffers; a negative number takes them back. NULL is fine. */
INF_API void inf_budget_add(struct inf_budget *budget, ptrdiff_t bytes);

INF_API void inf_budget_status(const struct inf_budget *budget, struct inf_budget_status *ret);

#ifdef __cplusplus
}
#endif

#endif
