/*
 * dispatch.h - events to many consumers, each at its own pace.
 *
 *      store ──> │ 7 │ 8 │ 9 │10 │11 │ <── next          one ring of notices for all
 *                  ^       ^           ^
 *               slow     b's         a's cursor            each consumer reads at its own
 *
 * A notice is an event, a gap, "synced" or "stale"; it goes when the last cursor has passed it. Consumers
 * that keep up are at `next` at the end of each tick, and the ring is empty.
 *
 * A consumer that is paused falls behind. When its backlog is full its policy decides: INF_WAIT
 * makes dispatch_full() true, and the pipeline stops; INF_DROP moves its cursor on; INF_COALESCE
 * takes it out of the ring: from then on only the newest state of each object is remembered for it
 * (core/dispatch/coalescer.h), until it has caught up.
 *
 * A consumer that comes late is *replayed* the store: one ADDED per object, in key order, by a
 * cursor. A change to an object behind that cursor is told; one before it is not, because the
 * replay will bring the newest state. A resync is the same walk, told as MODIFIED with nothing
 * changed. Both have the lowest priority, and neither runs while a relist is being told, for then
 * the store is ahead of what was told.
 */
#ifndef CORE_DISPATCH_H
#define CORE_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/informer.h"

#include "base/list.h"
#include "base/siphash.h"
#include "seam/clock.h"

struct notice;

struct dispatch {
    struct clock *clock;
    const struct inf_store *store;
    struct task *pump; /* to run when a consumer can go on */
    struct siphash_key key;
    struct list consumers;
    struct notice *ring;
    size_t capacity; /* a power of two */
    uint64_t first;  /* serial of the oldest notice */
    uint64_t next;   /* serial the next notice will get */
    uint64_t
        bytes_ever; /* of all notices so far: the difference of two is what lies between them */
    bool synced;    /* the first list was told */
    bool closed;
};

void dispatch_init(struct dispatch *d, struct clock *clock, const struct inf_store *store,
                   struct task *pump, const struct siphash_key *key);

/* Nothing is told afterwards. dispatch_free() must wait for the reap phase if this is called from a
 * handler. */
void dispatch_close(struct dispatch *d);
void dispatch_free(struct dispatch *d);

/* Adds a notice. Takes references to the event's objects; copies the others. */
void dispatch_event(struct dispatch *d, const struct inf_event *event);
void dispatch_gap(struct dispatch *d, const struct inf_gap *gap);
void dispatch_freshness(struct dispatch *d, const struct inf_freshness *freshness);
void dispatch_synced(struct dispatch *d);

/*
 * The first handler with on_blocking() that keeps handlers of another owner, which could take events, from getting any:
 * its backlog is full or, if @over says that too much memory is in use, it is paused. NULL: there is none.
 */
struct inf_handler *dispatch_blocking(const struct dispatch *d, bool over);

/* Memory of the notices that are not told to all, in constant time. */
size_t dispatch_bytes(const struct dispatch *d);

/* Whether somebody who wants to be waited for has a full backlog: no more notices, please. */
bool dispatch_full(const struct dispatch *d);

/*
 * Calls handlers: each that is not paused gets a slice of what waits for it. @settled: the store is
 * not ahead of what was told. Returns whether more waits for somebody who can take it.
 */
bool dispatch_step(struct dispatch *d, bool settled);

/* Calls on_batch_end of those who were called since the last time. */
void dispatch_batch_end(struct dispatch *d);

/* Moves the handlers of @owner, with what waits for them, to @to, which is new and whose store has the same objects. */
void dispatch_split(struct dispatch *d, struct dispatch *to, const void *owner);

/* What waits for the handlers of @owner waits for those of @to from now on. */
void dispatch_merge(struct dispatch *d, struct dispatch *to, const void *owner);

/* The same as dispatch_add() for a handler that knows of all objects in the store. */
int dispatch_add_knowing(struct dispatch *d, struct inf_handler *handler, const void *owner);

/* informer/informer.h; @owner is whoever the handler goes with. */
int dispatch_add(struct dispatch *d, struct inf_handler *handler, const void *owner);

/* Removes all handlers of @owner. */
void dispatch_remove_all(struct dispatch *d, const void *owner);

#endif
