/*
 * consumer.c - delivers notices to one handler: from the ring, from the coalescer, or from the
 * store.
 *
 * Normal path: consumer_step() calls the handler for each notice at its cursor, a slice per turn.
 * If the backlog exceeds its limits, the handler's overflow policy decides: wait, coalesce or drop.
 */
#include "core/dispatch/consumer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/mutant.h"
#include "core/object/object.h"

enum {
    SLICE = 32, /* object_work() for one consumer before the next one, and the time is checked */
    MAX_EVENTS = 4096, /* default limits of a backlog */
    MAX_BYTES = 64 * 1024 * 1024,
};

/* ---- backlogs ---- */

static uint64_t backlog_events(const struct consumer *c)
{
    return c->backlog == BACKLOG_COALESCED ? coalescer_count(&c->coalescer)
                                           : c->dispatch->next - c->cursor;
}

/* Whether the backlog is over 1/@part of its limits. */
static bool backlog_exceeds(const struct consumer *c, unsigned part)
{
    const struct dispatch *d = c->dispatch;
    uint64_t max_events = c->handler->max_events ? c->handler->max_events : MAX_EVENTS;
    uint64_t max_bytes = c->handler->max_bytes ? c->handler->max_bytes : MAX_BYTES;
    uint64_t bytes = 0;
    if (c->backlog != BACKLOG_COALESCED && c->cursor < d->next)
        bytes = d->bytes_ever - notice_at(d, c->cursor)->bytes_before;
    return backlog_events(c) * part > max_events || bytes * part > max_bytes;
}

/* Whether a replay has not reached this object yet: it will deliver the newest state, so the change
 * is left out. */
static bool replay_will_deliver(const struct consumer *c, const struct notice *n)
{
    if (MUTANT("replay-doubles"))
        return false;
    return c->walk == WALK_REPLAY &&
           (!c->walk_cursor.last ||
            str_cmp(object_key(inf_event_object(&n->event)), object_key(c->walk_cursor.last)) > 0);
}

static void coalesce_notice(struct consumer *c, const struct notice *n)
{
    switch (n->type) {
    case NOTICE_EVENT:
        if (!replay_will_deliver(c, n))
            coalescer_put(&c->coalescer, &n->event);
        break;
    case NOTICE_FRESHNESS:     /* only the state after catching up matters */
    case NOTICE_GAP:           /* intermediate states are lost anyway */
    case NOTICE_SYNCED: break; /* delivered after catching up */
    }
}

void consumer_on_notice(struct consumer *c, const struct notice *n)
{
    struct dispatch *d = c->dispatch;
    if (c->backlog == BACKLOG_COALESCED) {
        coalesce_notice(c, n);
        return;
    }
    if (!backlog_exceeds(c, 1))
        return;
    switch (c->handler->overflow) {
    case INF_WAIT: c->backlog = BACKLOG_FULL; break;
    case INF_COALESCE:
        for (uint64_t serial = c->cursor; serial < d->next; serial++)
            coalesce_notice(c, notice_at(d, serial));
        c->backlog = BACKLOG_COALESCED;
        inf_object_unref(c->last_live); /* the order is another one from now on */
        c->last_live = NULL;
        break;
    case INF_DROP: /* the oldest ones */
        do
            c->dropped += notice_at(d, c->cursor++)->type == NOTICE_EVENT;
        while (backlog_exceeds(c, 1));
        break;
    }
}

/* ---- delivery ---- */

bool consumer_may_call(const struct consumer *c)
{
    return c->state == CONSUMER_ACTIVE && !c->dispatch->closed;
}

static void call_event(struct consumer *c, const struct inf_event *event)
{
    c->called = true;
    if (c->handler->on_event)
        c->handler->on_event(c->handler, c->owner, event);
}

static void call_gap(struct consumer *c, const struct inf_gap *gap)
{
    c->called = true;
    if (c->handler->on_gap)
        c->handler->on_gap(c->handler, c->owner, gap);
}

static void call_synced(struct consumer *c)
{
    if (c->synced || c->walk == WALK_REPLAY)
        return;
    c->synced = c->called = true;
    if (c->handler->on_synced)
        c->handler->on_synced(c->handler, c->owner);
}

/* Takes the cost of an event off @budget. */
static void charge_event(unsigned *budget, const struct inf_event *event)
{
    size_t work = object_work(inf_event_object(event));
    *budget -= work < *budget ? (unsigned)work : *budget;
}

static void deliver_notice(struct consumer *c, const struct notice *n)
{
    switch (n->type) {
    case NOTICE_EVENT:
        if (!replay_will_deliver(c, n))
            call_event(c, &n->event);
        break;
    case NOTICE_GAP: call_gap(c, &n->gap); break;
    case NOTICE_SYNCED: call_synced(c); break;
    case NOTICE_FRESHNESS:
        c->called = true;
        if (c->handler->on_freshness)
            c->handler->on_freshness(c->handler, c->owner, &n->freshness);
        break;
    }
}

static void deliver_coalesced(struct consumer *c, unsigned *budget)
{
    struct inf_event events[2];
    c->moved = true;
    while (*budget && consumer_may_call(c)) {
        size_t n = coalescer_take(&c->coalescer, events);
        if (!n)
            break;
        charge_event(budget, &events[0]);
        for (size_t i = 0; i < n; i++) { /* a DELETED and ADDED pair even if paused in between */
            if (c->state != CONSUMER_REMOVED && !c->dispatch->closed)
                call_event(c, &events[i]);
            event_done(&events[i]);
        }
    }
    if (c->state == CONSUMER_REMOVED || coalescer_count(&c->coalescer))
        return;
    c->backlog = BACKLOG_ON_RING;
    c->cursor = c->dispatch->next;
    if (c->dispatch->synced && consumer_may_call(c))
        call_synced(c);
}

/* ---- replay and resync ---- */

/* Delivers objects of the store: a replay or a resync. */
static void walk_store(struct consumer *c, unsigned *budget)
{
    const struct inf_object *object = NULL;
    while (*budget && consumer_may_call(c)) {
        struct inf_event event = {.verb = INF_ADDED, .origin = INF_INITIAL, .final = true};
        object = inf_store_next(c->dispatch->store, &c->walk_cursor);
        if (!object)
            break;
        event.new_object = object;
        charge_event(budget, &event);
        event.received_us = clock_wall_us(c->dispatch->clock);
        if (c->walk == WALK_RESYNC) {
            event.verb = INF_MODIFIED;
            event.origin = INF_RESYNC;
            event.old_object = object;
        }
        call_event(c, &event);
    }
    if (object || !consumer_may_call(c))
        return;
    inf_cursor_end(&c->walk_cursor);
    c->walk = WALK_NONE;
    if (c->dispatch->synced)
        call_synced(c);
}

static void consumer_on_resync(struct timer *timer)
{
    struct consumer *c = container_of(timer, struct consumer, resync_timer);
    c->resync_due = true;
    timer_start(c->dispatch->clock, timer, c->handler->resync_ms);
    task_schedule(c->dispatch->clock, c->dispatch->pump);
}

static bool is_caught_up(const struct consumer *c)
{
    return c->backlog != BACKLOG_COALESCED && c->cursor == c->dispatch->next;
}

/* ---- a turn ---- */

/* Notices were delivered: keeps the last one if it is a live change, in a version that is known. */
static void note_reached(struct consumer *c)
{
    const struct dispatch *d = c->dispatch;
    const struct notice *n = c->cursor > d->first ? notice_at(d, c->cursor - 1) : NULL;
    const struct inf_object *last = NULL;
    if (n && n->type == NOTICE_EVENT && n->event.origin == INF_LIVE && n->event.final)
        last = inf_object_ref(inf_event_object(&n->event));
    inf_object_unref(c->last_live);
    c->last_live = last;
    c->moved = true;
}

void consumer_step(struct consumer *c, bool settled)
{
    unsigned budget = SLICE;
    if (c->dropped && consumer_may_call(c)) {
        struct inf_gap gap = {.reason = INF_GAP_DROPPED,
                              .text = "handler too slow; its oldest events were dropped",
                              .dropped = c->dropped,
                              .received_us = clock_wall_us(c->dispatch->clock)};
        c->dropped = 0;
        call_gap(c, &gap);
    }
    if (c->backlog == BACKLOG_COALESCED) {
        deliver_coalesced(c, &budget);
    } else {
        const struct dispatch *d = c->dispatch;
        while (budget && consumer_may_call(c) && c->cursor < d->next) {
            const struct notice *n = notice_at(d, c->cursor++);
            if (n->type == NOTICE_EVENT)
                charge_event(&budget, &n->event);
            else
                budget--;
            deliver_notice(c, n);
        }
        if (budget < SLICE && c->state != CONSUMER_REMOVED)
            note_reached(c);
        if (d->synced && is_caught_up(c) && consumer_may_call(c))
            call_synced(c); /* if INF_DROP has dropped it */
        if (c->backlog == BACKLOG_FULL && c->state != CONSUMER_REMOVED && !backlog_exceeds(c, 2))
            c->backlog = BACKLOG_ON_RING;
    }
    if (c->resync_due && c->synced && c->walk == WALK_NONE) {
        c->resync_due = false;
        c->walk = WALK_RESYNC;
    }
    if (settled && budget && c->walk != WALK_NONE && consumer_may_call(c) && is_caught_up(c))
        walk_store(c, &budget);
}

bool consumer_has_more(const struct consumer *c, bool settled)
{
    return consumer_may_call(c) && (!is_caught_up(c) || (settled && c->walk != WALK_NONE));
}

/* ---- life ---- */

struct consumer *consumer_new(struct dispatch *d, struct inf_handler *handler)
{
    struct consumer *c = NEW(struct consumer);
    c->dispatch = d;
    c->handler = handler;
    c->cursor = d->next;
    c->walk =
        d->synced || (d->restored && !MUTANT("restored-not-replayed")) || inf_store_count(d->store)
            ? WALK_REPLAY
            : WALK_NONE;
    coalescer_init(&c->coalescer, &d->key);
    c->resync_timer.fire = consumer_on_resync;
    if (handler->resync_ms)
        timer_start(d->clock, &c->resync_timer, handler->resync_ms);
    return c;
}

void consumer_free(struct consumer *c)
{
    timer_stop(c->dispatch->clock, &c->resync_timer);
    list_remove(&c->node);
    inf_cursor_end(&c->walk_cursor);
    inf_object_unref(c->last_live);
    coalescer_free(&c->coalescer);
    free(c);
}

void consumer_move(struct consumer *c, struct dispatch *to, uint64_t cursor)
{
    list_remove(&c->node);
    list_push(&to->consumers, &c->node);
    c->dispatch = to;
    c->cursor = cursor;
    c->walk_cursor.place = NULL; /* it belongs to the other store */
    c->walk_cursor.version = UINT64_MAX;
}

struct dispatch *dispatch_of(const struct inf_handler *handler)
{
    const struct consumer *c = handler->internal;
    return c ? c->dispatch : NULL;
}

bool dispatch_is_caught_up(const struct inf_handler *handler)
{
    const struct consumer *c = handler->internal;
    return c->walk != WALK_REPLAY && is_caught_up(c);
}

enum dispatch_reached dispatch_reached(const struct inf_handler *handler,
                                       const struct inf_object **ret_last)
{
    struct consumer *c = handler->internal;
    bool moved = c->moved;
    c->moved = false;
    if (dispatch_is_caught_up(handler))
        return REACHED_ALL;
    if (c->walk == WALK_REPLAY)
        return REACHED_MIXED;
    if (!moved)
        return REACHED_BEFORE;
    *ret_last = c->last_live;
    return c->last_live ? REACHED_LIVE : REACHED_MIXED;
}

/* ---- informer/informer.h ---- */

void inf_handler_remove(struct inf_handler *handler)
{
    struct consumer *c = handler->internal;
    if (!c)
        return;
    handler->internal = NULL;
    c->state = CONSUMER_REMOVED;
    task_schedule(c->dispatch->clock, c->dispatch->pump);
}

void inf_handler_pause(struct inf_handler *handler)
{
    struct consumer *c = handler->internal;
    if (c)
        c->state = CONSUMER_PAUSED;
}

void inf_handler_resume(struct inf_handler *handler)
{
    struct consumer *c = handler->internal;
    if (!c)
        return;
    c->state = CONSUMER_ACTIVE;
    task_schedule(c->dispatch->clock, c->dispatch->pump);
}

bool inf_handler_synced(const struct inf_handler *handler)
{
    const struct consumer *c = handler->internal;
    return c && c->synced;
}

size_t inf_handler_backlog(const struct inf_handler *handler)
{
    const struct consumer *c = handler->internal;
    return c ? (size_t)backlog_events(c) : 0;
}
