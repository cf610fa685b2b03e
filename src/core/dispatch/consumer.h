/*
 * consumer.h - a handler with its position on the ring: its backlog, and how it is called.
 *
 * Shared by dispatch.c, which has the ring, and consumer.c. No other file includes it.
 */
#ifndef CORE_DISPATCH_CONSUMER_H
#define CORE_DISPATCH_CONSUMER_H

#include "core/dispatch/coalescer.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/event.h"

enum notice_type {
    NOTICE_EVENT,
    NOTICE_GAP,
    NOTICE_SYNCED,
    NOTICE_FRESHNESS,
};

struct notice {
    enum notice_type type;
    struct inf_event event;         /* holds references */
    struct inf_gap gap;             /* text is owned */
    struct inf_freshness freshness; /* text is owned */
    uint64_t bytes_before;          /* sum of the sizes of all earlier notices */
};

enum consumer_state {
    CONSUMER_ACTIVE,
    CONSUMER_PAUSED,
    CONSUMER_REMOVED, /* not called any more; freed at the end of a batch */
};

enum backlog_state {
    BACKLOG_ON_RING,
    BACKLOG_FULL, /* on the ring, INF_WAIT: was over its limits and is still over half of them */
    BACKLOG_COALESCED, /* in `coalescer`; the cursor has no meaning */
};

enum walk {
    WALK_NONE,
    WALK_REPLAY, /* delivers the objects in the store to a late consumer */
    WALK_RESYNC,
};

struct consumer {
    struct list node;
    struct dispatch *dispatch;
    struct inf_handler *handler;
    struct inf_informer *owner; /* see dispatch_add() */
    enum consumer_state state;
    bool called; /* since its last on_batch_end */
    bool synced;

    enum backlog_state backlog;
    uint64_t cursor;                    /* serial of the next notice to deliver */
    bool moved;                         /* something was delivered since dispatch_reached() */
    const struct inf_object *last_live; /* a reference: of the last event that was delivered, if it
                                           was live; NULL: none */
    uint64_t dropped;                   /* events dropped since the last INF_GAP_DROPPED */
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

/* Continues in another dispatch, whose store has the same objects, at serial @cursor. */
void consumer_move(struct consumer *c, struct dispatch *to, uint64_t cursor);

/* A notice was added to the ring: coalesces it if the backlog is coalesced, else checks the limits of
 * the backlog. */
void consumer_on_notice(struct consumer *c, const struct notice *n);

/* Delivers a slice of the backlog to the handler. @settled as in dispatch_step(). */
void consumer_step(struct consumer *c, bool settled);

/* Whether it has more to deliver and may do so now. */
bool consumer_has_more(const struct consumer *c, bool settled);

/* Whether its handler may be called at all. */
bool consumer_may_call(const struct consumer *c);

#endif
