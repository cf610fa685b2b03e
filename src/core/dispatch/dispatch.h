/*
 * dispatch.h - delivers events to many consumers, each at its own pace.
 *
 *      store ──> │ 7 │ 8 │ 9 │10 │11 │ <── next          one ring of notices for all
 *                  ^       ^           ^
 *               slow     b's         a's cursor            each consumer reads at its own
 *
 * A notice is an event, a gap, "synced" or a change of freshness. It is freed when the last cursor
 * has passed it. Consumers that keep up are at `next` at the end of each tick, and the ring is
 * empty.
 *
 * When the backlog of a slow or paused consumer is full, its policy decides: INF_WAIT makes
 * dispatch_full() true, and the pipeline stops; INF_DROP drops its oldest notices; INF_COALESCE
 * takes it off the ring and keeps only the newest state of each object for it
 * (core/dispatch/coalescer.h) until it has caught up.
 *
 * A consumer that is added late gets a *replay* of the store: one ADDED per object, in key order. A
 * change to an object that the replay has passed is delivered; a change to a later object is not,
 * because the replay will deliver its newest state. A resync is the same walk, delivered as
 * MODIFIED with nothing changed. Both have the lowest priority. Neither runs while the events of a
 * relist are being emitted, because the store is then ahead of the events.
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
    struct task *pump; /* scheduled when a consumer can continue */
    struct siphash_key key;
    struct list consumers;
    struct notice *ring;
    size_t capacity;     /* a power of two */
    uint64_t first;      /* serial of the oldest notice */
    uint64_t next;       /* serial the next notice will get */
    uint64_t bytes_ever; /* size of all notices so far */
    bool synced;         /* the first list was emitted, or the restored copy confirmed */
    bool restored;       /* the store has, or gets, objects of an earlier process */
    bool closed;
};

void dispatch_init(struct dispatch *d, struct clock *clock, const struct inf_store *store,
                   struct task *pump, const struct siphash_key *key);

/* No handler is called afterwards. If this is called from a handler, dispatch_free() must wait for
 * the reap phase. */
void dispatch_close(struct dispatch *d);
void dispatch_free(struct dispatch *d);

/* Each adds a notice. Takes references to the objects of an event, copies the rest. */
void dispatch_event(struct dispatch *d, const struct inf_event *event);
void dispatch_gap(struct dispatch *d, const struct inf_gap *gap);
void dispatch_freshness(struct dispatch *d, const struct inf_freshness *freshness);
void dispatch_synced(struct dispatch *d);

/*
 * Calls on_blocking() of the first handler that has it and blocks ready handlers of another owner:
 * its backlog is full or, if the memory budget is exceeded (@over), it is paused with a backlog.
 * The callback may split or close the dispatch.
 */
void dispatch_report_blocking(struct dispatch *d, bool over);

/* Memory of the notices on the ring, in constant time. */
size_t dispatch_bytes(const struct dispatch *d);

/* Whether a consumer with INF_WAIT has a full backlog: no notices must be added. */
bool dispatch_full(const struct dispatch *d);

/*
 * Calls handlers: each that is not paused gets a slice of its backlog. @settled: the store is not
 * ahead of the events. Returns whether a consumer can continue at once.
 */
bool dispatch_step(struct dispatch *d, bool settled);

/* Calls on_batch_end of the handlers that were called since the last time. */
void dispatch_batch_end(struct dispatch *d);

/* Moves the handlers of @owner with their backlogs to @to, which is new and whose store has the
 * same objects. */
void dispatch_split(struct dispatch *d, struct dispatch *to, struct inf_informer *owner);

/* Copies the backlog of the handlers of @owner to the handlers of @to. */
void dispatch_merge(struct dispatch *d, struct dispatch *to, struct inf_informer *owner);

/* The store gets objects of an earlier process: handlers that are registered now get them, too. */
void dispatch_restored(struct dispatch *d);

/* Like dispatch_add(), for a handler that already has all objects of the store: no replay, and
 * on_synced only if that is still to come. */
int dispatch_add_knowing(struct dispatch *d, struct inf_handler *handler,
                         struct inf_informer *owner);

/* See inf_handler_add(). @owner groups handlers for split, merge and removal, and is passed to their
 * callbacks; NULL: the library itself. */
int dispatch_add(struct dispatch *d, struct inf_handler *handler, struct inf_informer *owner);

/* What a handler has received of what was published. */
enum dispatch_reached {
    REACHED_ALL,    /* everything */
    REACHED_LIVE,   /* all live events up to an object, and nothing after it */
    REACHED_BEFORE, /* nothing since the last call */
    REACHED_MIXED,  /* something else */
};

/* Where @handler is registered; NULL: nowhere. Whether it has received everything. And how far it is;
 * @ret_last, borrowed, is for REACHED_LIVE. */
struct dispatch *dispatch_of(const struct inf_handler *handler);
bool dispatch_is_caught_up(const struct inf_handler *handler);
enum dispatch_reached dispatch_reached(const struct inf_handler *handler,
                                       const struct inf_object **ret_last);

/* Whether @handler can be added: it is not registered, and its reserved fields are zero. */
bool dispatch_may_add(const struct inf_handler *handler);

/* Removes all handlers of @owner. */
void dispatch_remove_all(struct dispatch *d, struct inf_informer *owner);

#endif
