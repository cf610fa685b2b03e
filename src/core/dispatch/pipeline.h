/*
 * pipeline.h - the engine of one informer: reflector -> FIFO -> store -> dispatch -> handlers.
 *
 * The reflector pushes deltas in the I/O phase. In the pump phase the pipeline takes them out,
 * applies them to the store and passes the resulting events to dispatch, until the FIFO is empty or
 * the tick's budget is used up.
 */
#ifndef CORE_DISPATCH_PIPELINE_H
#define CORE_DISPATCH_PIPELINE_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/siphash.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/fifo.h"
#include "core/dispatch/memory_budget.h"
#include "core/object/object_image.h"
#include "core/reflector/reflector.h"
#include "core/store/index.h"

/* Where the objects of an earlier process come from. */
struct object_supply {
    /* Moves all of them to a generation for @store at once, see state_stream_move(). NULL: not possible. */
    bool (*move)(void *ctx, struct inf_store *store, struct generation **ret_generation,
                 size_t *ret_damaged);
    /* Else: */
    /* Passes up to @n objects, packed or ordinary, to @each. Their labels are valid until the next call. Returns
     * false when none are left. */
    bool (*take)(void *ctx, size_t n, saved_object_fn *each, void *to);
    void *ctx;
    size_t count; /* about how many there are; 0: unknown */
};

struct pipeline {
    struct clock *clock;
    struct siphash_key key;
    struct inf_store *store;
    struct fifo fifo;
    struct reflector reflector;
    struct dispatch dispatch;
    struct task pump;
    struct budget_account account; /* of deltas in the FIFO and of handler backlogs */
    int64_t received_us;           /* of the delta being applied */
    uint64_t taken[DELTA_TYPES];   /* deltas taken from the FIFO, by type */
    bool emitting;                 /* events of the last relist are still being emitted */
    bool fifo_full;                /* the FIFO is over FIFO_HIGH: reading is paused */
    bool closed;

    struct generation *restoring; /* gets the objects of `supply`; NULL: it is current, or none */
    struct object_supply supply;
    size_t n_damaged;    /* objects of `supply` that can't be used; 0 after a list */
    bool list_damaged;   /* one was found when it was read: the pump has to list */
    bool resumable;      /* the restored copy was once complete */
    int64_t restored_us; /* when the restored copy was written; 0: there is none */

    struct deferred_free lent; /* takes back the objects that the store has lent to readers */

    /* after pipeline_close() */
    struct task teardown;
    struct deferred_free deferred_free;
    void (*on_gone)(struct pipeline *p);
};

struct pipeline_settings {
    struct reflector_settings reflector;
    bool coalesce;                   /* the FIFO keeps only the newest state of each object */
    const struct index_def *indexes; /* borrowed as long as the pipeline lives */
    size_t n_indexes;
    struct pack_context *packing;          /* the store holds packed objects; NULL: as they are */
    const struct pack_limits *pack_limits; /* NULL: the default */
    struct inf_budget *budget;             /* NULL: none */
};

void pipeline_init(struct pipeline *p, const char *name, struct source *source, struct clock *clock,
                   const struct siphash_key *key, struct log *log,
                   const struct pipeline_settings *settings);
void pipeline_start(struct pipeline *p);

/* Whether one of these functions, or one that changes the watch, has started it. */
bool pipeline_has_started(const struct pipeline *p);

/*
 * Replaces pipeline_start(): the store starts with the objects of @supply (used until all are taken
 * or the pipeline is closed), which is its state at @version, written at @written_us.
 *
 * No handler gets events for them but one that is added with dispatch_add(), which gets ADDED for
 * each. They are moved in slices, readers see all or none of them, and only then the first request is
 * sent. See reflector_restore() for what follows; handlers are synced when the server has confirmed
 * the copy, or the differences were emitted.
 */
void pipeline_restore(struct pipeline *p, const struct object_supply *supply, const char *version,
                      int64_t written_us, const char *why);

/* Whether readers see a restored copy that the server has not confirmed yet. */
bool pipeline_is_unconfirmed(const struct pipeline *p);

/* Watches something else from now on (see reflector_change()); handlers get the differences.
 * @settings as in pipeline_init(); the previous indexes stay borrowed until the pipeline is gone.
 * */
void pipeline_change(struct pipeline *p, const char *name, struct source *source,
                     const struct pipeline_settings *settings, const char *why);

/* Changes only `optional` and `coalesce`. */
void pipeline_adjust(struct pipeline *p, const struct pipeline_settings *settings);

/* Copies the objects of @from to @to, which is new and not started, and moves the handlers of
 * @owner there with their backlogs. */
void pipeline_split(struct pipeline *from, struct pipeline *to, struct inf_informer *owner);

/* Copies to @to the objects of @from that it lacks, and the backlog of the handlers of @owner. */
void pipeline_merge(struct pipeline *from, struct pipeline *to, struct inf_informer *owner);

/* Moves the objects of @from in namespace @ns to @to, which is new and not started. */
void pipeline_carve(struct pipeline *from, struct pipeline *to, const char *ns);

/*
 * Closes the pipeline: no handler is called afterwards, and the source is no longer used. Allowed
 * at any time, also from a handler. Memory is freed in slices over several ticks; then @on_gone is
 * called in the reap phase and may free @p.
 */
void pipeline_close(struct pipeline *p, void (*on_gone)(struct pipeline *p));

/* Whether the first list was delivered to dispatch completely, or the restored copy confirmed. */
bool pipeline_synced(const struct pipeline *p);

#endif
