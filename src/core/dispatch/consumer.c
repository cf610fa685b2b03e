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
    SLICE =
        32, /* calls to one consumer before the next one's turn and a check of the time budget */
    MAX_EVENTS = 4096, /* default limits of a backlog */
    MAX_BYTES = 64 * 1024 * 1024,
};

/* ---- backlogs ---- */

static uint64_t backlog_events(const struct consumer *c)
{
    return c->coalescing ? coalescer_count(&c->coalescer) : c->dispatch->next - c->cursor;
}

static uint64_t backlog_bytes(const struct consumer *c)
{
    const struct dispatch *d = c->dispatch;
    if (c->coalescing || c->cursor == d->next)
        return 0;
    return d->bytes_ever - notice_at(d, c->cursor)->bytes_before;
}

/* Whether the backlog is over 1/@part of its limits. */
static bool backlog_exceeds(const struct consumer *c, unsigned part)
{
    uint64_t events = c->handler->max_events ? c->handler->max_events : MAX_EVENTS;
    uint64_t bytes = c->handler->max_bytes ? c->handler->max_bytes : MAX_BYTES;
    return backlog_events(c) * part > events || backlog_bytes(c) * part > bytes;
}

static const struct inf_object *object_of(const struct notice *n)
{
    return inf_event_object(&n->event);
}

/* Whether a replay has not reached this object yet: it will deliver the newest state, so the change
 * is left out. */
static bool replay_will_deliver(const struct consumer *c, const struct inf_object *object)
{
    if (MUTANT("replay-doubles"))
        return false;
    return c->walk == WALK_REPLAY &&
           (!c->walk_cursor.last ||
            str_cmp(object_key(object), object_key(c->walk_cursor.last)) > 0);
}

static void coalesce_notice(struct consumer *c, const struct notice *n)
{
    switch (n->type) {
    case NOTICE_EVENT:
        if (!replay_will_deliver(c, object_of(n)))
            coalescer_put(&c->coalescer, &n->event);
        break;
    case NOTICE_FRESHNESS:     /* only the state after catching up matters */
    case NOTICE_GAP:           /* intermediate states are lost anyway */
    case NOTICE_SYNCED: break; /* delivered after catching up */
    }
}

static void start_coalescing(struct consumer *c)
{
    struct dispatch *d = c->dispatch;
    for (uint64_t serial = c->cursor; serial < d->next; serial++)
        coalesce_notice(c, notice_at(d, serial));
    c->coalescing = true;
}

static void drop_oldest(struct consumer *c)
{
    while (backlog_exceeds(c, 1)) {
        c->dropped += notice_at(c->dispatch, c->cursor)->type == NOTICE_EVENT;
        c->cursor++;
    }
}

/* Applies the overflow policy if the backlog is over its limits. */
static void handle_overflow(struct consumer *c)
{
    if (!backlog_exceeds(c, 1))
        return;
    switch (c->handler->overflow) {
    case INF_WAIT: c->full = true; break;
    case INF_COALESCE:
        if (!c->coalescing)
            start_coalescing(c);
        break;
    case INF_DROP: drop_oldest(c); break;
    }
}

void consumer_on_notice(struct consumer *c, const struct notice *n)
{
    if (c->coalescing)
        coalesce_notice(c, n);
    else
        handle_overflow(c);
}

/* ---- delivery ---- */

bool consumer_may_call(const struct consumer *c)
{
    return !c->paused && !c->removed && !c->dispatch->closed;
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

static void call_freshness(struct consumer *c, const struct inf_freshness *freshness)
{
    c->called = true;
    if (c->handler->on_freshness)
        c->handler->on_freshness(c->handler, c->owner, freshness);
}

static void report_dropped(struct consumer *c)
{
    struct inf_gap gap = {.reason = INF_GAP_DROPPED,
                          .text = "handler too slow; its oldest events were dropped",
                          .dropped = c->dropped,
                          .received_us = clock_wall_us(c->dispatch->clock)};
    c->dropped = 0;
    call_gap(c, &gap);
}

static void deliver_notice(struct consumer *c, const struct notice *n)
{
    switch (n->type) {
    case NOTICE_EVENT:
        if (!replay_will_deliver(c, object_of(n)))
            call_event(c, &n->event);
        break;
    case NOTICE_GAP: call_gap(c, &n->gap); break;
    case NOTICE_SYNCED: call_synced(c); break;
    case NOTICE_FRESHNESS: call_freshness(c, &n->freshness); break;
    }
}

static void deliver_notices(struct consumer *c, unsigned *budget)
{
    const struct dispatch *d = c->dispatch;
    while (*budget && consumer_may_call(c) && c->cursor < d->next) {
        --*budget;
        deliver_notice(c, notice_at(d, c->cursor++));
    }
    if (c->full && !backlog_exceeds(c, 2))
        c->full = false;
}

static void deliver_coalesced(struct consumer *c, unsigned *budget)
{
    struct inf_event events[2];
    while (*budget && consumer_may_call(c)) {
        size_t n = coalescer_take(&c->coalescer, events);
        if (!n)
            break;
        --*budget;
        for (size_t i = 0; i < n;
             i++) { /* both, even if paused in between: a DELETED and ADDED pair */
            if (!c->removed && !c->dispatch->closed)
                call_event(c, &events[i]);
            coalescer_event_done(&events[i]);
        }
    }
    if (c->removed || coalescer_count(&c->coalescer))
        return;
    c->coalescing = false;
    c->cursor = c->dispatch->next;
    if (c->dispatch->synced && consumer_may_call(c))
        call_synced(c);
}

/* ---- replay and resync ---- */

static void end_walk(struct consumer *c)
{
    inf_cursor_end(&c->walk_cursor);
    c->walk = WALK_NONE;
    if (c->dispatch->synced)
        call_synced(c);
}

static void walk_store(struct consumer *c, unsigned *budget)
{
    const struct inf_object *object = NULL;
    while (*budget && consumer_may_call(c)) {
        struct inf_event event = {.verb = INF_ADDED, .origin = INF_INITIAL, .final = true};
        object = inf_store_next(c->dispatch->store, &c->walk_cursor);
        if (!object)
            break;
        --*budget;
        event.new_object = object;
        event.received_us = clock_wall_us(c->dispatch->clock);
        if (c->walk == WALK_RESYNC) {
            event.verb = INF_MODIFIED;
            event.origin = INF_RESYNC;
            event.old_object = object;
        }
        call_event(c, &event);
    }
    if (!object && consumer_may_call(c))
        end_walk(c);
}

static void on_resync(struct timer *timer)
{
    struct consumer *c = container_of(timer, struct consumer, resync_timer);
    c->resync_due = true;
    timer_start(c->dispatch->clock, timer, c->handler->resync_s * UINT64_C(1000));
    task_schedule(c->dispatch->clock, c->dispatch->pump);
}

static bool caught_up(const struct consumer *c)
{
    return !c->coalescing && c->cursor == c->dispatch->next;
}

/* ---- a turn ---- */

void consumer_step(struct consumer *c, bool settled)
{
    unsigned budget = SLICE;
    if (c->dropped && consumer_may_call(c))
        report_dropped(c);
    if (c->coalescing)
        deliver_coalesced(c, &budget);
    else
        deliver_notices(c, &budget);
    if (c->resync_due && c->synced && c->walk == WALK_NONE) {
        c->resync_due = false;
        c->walk = WALK_RESYNC;
    }
    if (settled && budget && c->walk != WALK_NONE && consumer_may_call(c) && caught_up(c))
        walk_store(c, &budget);
}

bool consumer_has_more(const struct consumer *c, bool settled)
{
    return consumer_may_call(c) && (!caught_up(c) || (settled && c->walk != WALK_NONE));
}

/* ---- life ---- */

struct consumer *consumer_new(struct dispatch *d, struct inf_handler *handler)
{
    struct consumer *c = NEW(struct consumer);
    c->dispatch = d;
    c->handler = handler;
    c->cursor = d->next;
    c->walk = d->synced || inf_store_count(d->store) ? WALK_REPLAY : WALK_NONE;
    coalescer_init(&c->coalescer, &d->key);
    c->resync_timer.fire = on_resync;
    if (handler->resync_s)
        timer_start(d->clock, &c->resync_timer, handler->resync_s * UINT64_C(1000));
    return c;
}

void consumer_free(struct consumer *c)
{
    timer_stop(c->dispatch->clock, &c->resync_timer);
    list_remove(&c->node);
    inf_cursor_end(&c->walk_cursor);
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

/* ---- informer/informer.h ---- */

void inf_handler_remove(struct inf_handler *handler)
{
    struct consumer *c = handler->reserved;
    if (!c)
        return;
    handler->reserved = NULL;
    c->removed = true;
    task_schedule(c->dispatch->clock, c->dispatch->pump);
}

void inf_handler_pause(struct inf_handler *handler)
{
    struct consumer *c = handler->reserved;
    if (c)
        c->paused = true;
}

void inf_handler_resume(struct inf_handler *handler)
{
    struct consumer *c = handler->reserved;
    if (!c)
        return;
    c->paused = false;
    task_schedule(c->dispatch->clock, c->dispatch->pump);
}

bool inf_handler_synced(const struct inf_handler *handler)
{
    const struct consumer *c = handler->reserved;
    return c && c->synced;
}

size_t inf_handler_backlog(const struct inf_handler *handler)
{
    const struct consumer *c = handler->reserved;
    return c ? (size_t)backlog_events(c) : 0;
}
