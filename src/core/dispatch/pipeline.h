/*
 * pipeline.h - the engine of one informer: reflector -> FIFO -> store -> dispatch -> handlers.
 *
 * The reflector pushes while the loop is in its I/O phase. In the pump phase the pipeline takes
 * deltas out, applies them to the store, and lets dispatch tell the differences, until nothing is
 * left or the tick's budget is used up.
 */
#ifndef CORE_DISPATCH_PIPELINE_H
#define CORE_DISPATCH_PIPELINE_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/siphash.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/fifo.h"
#include "core/dispatch/memory_budget.h"
#include "core/reflector/reflector.h"
#include "core/store/index.h"

struct pipeline {
    struct clock *clock;
    struct siphash_key key;
    struct inf_store *store;
    struct fifo fifo;
    struct reflector reflector;
    struct dispatch dispatch;
    struct task pump;
    struct budget_account account; /* of what waits in the FIFO and for handlers */
    int64_t received_us;           /* of the delta that is being told */
    uint64_t taken[DELTA_TYPES];   /* how many deltas of each type came out of the FIFO */
    bool telling;                  /* a flipped generation is not told to its end yet */
    bool crowded;                  /* the FIFO is long: reading waits */
    bool closed;

    /* after pipeline_close() */
    struct task teardown;
    struct deferred_free deferred_free;
    void (*on_gone)(struct pipeline *p);
};

struct pipeline_settings {
    struct reflector_settings reflector;
    bool coalesce;                   /* in the FIFO: of each object only the newest state */
    const struct index_def *indexes; /* borrowed as long as the pipeline lives */
    size_t n_indexes;
    struct inf_budget *budget; /* NULL: none */
};

void pipeline_init(struct pipeline *p, const char *who, struct source *source, struct clock *clock,
                   const struct siphash_key *key, struct log *log,
                   const struct pipeline_settings *settings);
void pipeline_start(struct pipeline *p);

/* Watches something else from now on, as reflector_change() says: handlers get the differences. @settings as in
 * pipeline_init(); the indexes of before are borrowed as long as the pipeline lives, too. */
void pipeline_change(struct pipeline *p, const char *who, struct source *source,
                     const struct pipeline_settings *settings, const char *why);

/* The same is watched, but `optional` and `coalesce` are others. */
void pipeline_adjust(struct pipeline *p, const struct pipeline_settings *settings);

/* Gives @to, which is new and not started, the objects of @from and the handlers of @owner with what waits for them. */
void pipeline_split(struct pipeline *from, struct pipeline *to, const void *owner);

/* Gives @to the objects of @from, which it has not, and what waits for the handlers of @owner in @from. */
void pipeline_merge(struct pipeline *from, struct pipeline *to, const void *owner);

/* Gives @to, which is new and not started, the objects that @from has in @ns; they are not @from's any more. */
void pipeline_carve(struct pipeline *from, struct pipeline *to, const char *ns);

/*
 * Nothing is told afterwards. At any moment, also from a handler. What the pipeline holds goes in
 * slices, over as many ticks as it takes; then @on_gone is called, in the reap phase, and may free
 * @p. The source is not used any more.
 */
void pipeline_close(struct pipeline *p, void (*on_gone)(struct pipeline *p));

/* Whether the first list was told. */
bool pipeline_synced(const struct pipeline *p);

#endif
