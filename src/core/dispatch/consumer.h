/*
 * consumer.h - a handler with its place on the ring: what waits for it, and how it is told.
 *
 * Shared by dispatch.c, which has the ring, and consumer.c; nobody else includes it.
 */
#ifndef CORE_DISPATCH_CONSUMER_H
#define CORE_DISPATCH_CONSUMER_H

#include "core/dispatch/coalescer.h"
#include "core/dispatch/dispatch.h"

enum notice_type {
    NOTICE_EVENT,
    NOTICE_GAP,
    NOTICE_SYNCED,
    NOTICE_FRESHNESS,
};

struct notice {
    enum notice_type type;
    struct inf_event event;         /* holds references */
    struct inf_gap gap;             /* its text is owned */
    struct inf_freshness freshness; /* this one's too */
    uint64_t bytes_before;          /* of all notices before this one */
};

enum walk {
    WALK_NONE,
    WALK_REPLAY, /* a late consumer is told what is there */
    WALK_RESYNC,
};

struct consumer {
    struct list node;
    struct dispatch *dispatch;
    struct inf_handler *handler;
    const void *owner; /* see dispatch_add() */
    uint64_t cursor;   /* serial of the next notice to tell */
    bool paused;
    bool full; /* INF_WAIT: its backlog was full and is not half empty yet */
    bool removed;
    bool called; /* since its last on_batch_end */
    bool synced;
    uint64_t dropped; /* events to be confessed */

    bool coalescing; /* out of the ring: `coalescer` has what it does not know yet */
    struct coalescer coalescer;

    enum walk walk;
    struct inf_cursor walk_cursor;
    struct timer resync_timer;
    bool resync_due;
};

static inline struct notice *notice_at(const struct dispatch *d, uint64_t serial)
{
    return &d->ring[serial & (d->capacity - 1)];
}

struct consumer *consumer_new(struct dispatch *dispatch, struct inf_handler *handler);
void consumer_free(struct consumer *c);

/* Goes on in another dispatch, whose store has the same objects, with the notice of @cursor. */
void consumer_move(struct consumer *c, struct dispatch *to, uint64_t cursor);

/* A notice was added to the ring: remembers it if it coalesces, else minds its limits. */
void consumer_on_notice(struct consumer *c, const struct notice *n);

/* Calls the handler with a slice of what waits for it. */
void consumer_step(struct consumer *c, bool settled);

/* Whether it could go on at once. */
bool consumer_has_more(const struct consumer *c, bool settled);

/* Whether its handler may be called at all. */
bool consumer_may_call(const struct consumer *c);

#endif
