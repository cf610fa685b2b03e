/*
 * dispatch.c - the ring of notices, and the list of consumers that read it.
 *
 * Normal path: publish_notice() appends to the ring, dispatch_step() lets each consumer read, and
 * trim_ring() frees what all have read. Nothing here fails.
 */
#include "core/dispatch/dispatch.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/dispatch/consumer.h"
#include "core/mutant.h"

enum {
    RING_FIRST = 8, /* capacity of an idle informer */
};

/* ---- the ring ---- */

static void notice_done(struct notice *n)
{
    event_done(&n->event);
    free((char *)(uintptr_t)n->gap.text);
    free((char *)(uintptr_t)n->freshness.text);
    n->gap.text = n->freshness.text = NULL;
}

static bool is_on_ring(const struct consumer *c)
{
    return c->state != CONSUMER_REMOVED && c->backlog != BACKLOG_COALESCED;
}

/* Frees the notices that every cursor has passed, and a ring that grew once it is empty. */
static void trim_ring(struct dispatch *d)
{
    uint64_t least = d->next;
    list_for_each(node, &d->consumers) {
        const struct consumer *c = container_of(node, struct consumer, node);
        if (is_on_ring(c) && c->cursor < least)
            least = c->cursor;
    }
    while (d->first < least)
        notice_done(notice_at(d, d->first++));
    if (d->first == d->next && d->capacity > RING_FIRST) {
        free(d->ring);
        d->ring = NULL;
        d->capacity = 0;
    }
}

/* ---- in ---- */

static struct notice *append_notice(struct dispatch *d, const struct notice *notice)
{
    struct notice *n;
    if (d->next - d->first == d->capacity) {
        size_t capacity = d->capacity ? d->capacity * 2 : RING_FIRST;
        struct notice *ring = xcalloc(capacity, sizeof(*ring));
        for (uint64_t serial = d->first; serial < d->next; serial++)
            ring[serial & (capacity - 1)] = *notice_at(d, serial);
        free(d->ring);
        d->ring = ring;
        d->capacity = capacity;
    }
    n = notice_at(d, d->next++);
    *n = *notice;
    n->bytes_before = d->bytes_ever;
    if (n->event.old_object)
        d->bytes_ever += inf_object_size(n->event.old_object);
    if (n->event.new_object)
        d->bytes_ever += inf_object_size(n->event.new_object);
    return n;
}

static void publish_notice(struct dispatch *d, const struct notice *notice)
{
    const struct notice *n = append_notice(d, notice);
    list_for_each(node, &d->consumers) {
        struct consumer *c = container_of(node, struct consumer, node);
        if (c->state != CONSUMER_REMOVED)
            consumer_on_notice(c, n);
    }
    trim_ring(d); /* there may be no consumer on the ring */
}

void dispatch_event(struct dispatch *d, const struct inf_event *event)
{
    struct notice n = {.type = NOTICE_EVENT, .event = *event};
    event_ref_objects(event);
    publish_notice(d, &n);
}

void dispatch_gap(struct dispatch *d, const struct inf_gap *gap)
{
    struct notice n = {.type = NOTICE_GAP, .gap = *gap};
    n.gap.text = xstrdup(gap->text);
    publish_notice(d, &n);
}

void dispatch_freshness(struct dispatch *d, const struct inf_freshness *freshness)
{
    struct notice n = {.type = NOTICE_FRESHNESS, .freshness = *freshness};
    n.freshness.text = xstrdup(freshness->text);
    publish_notice(d, &n);
}

void dispatch_synced(struct dispatch *d)
{
    d->synced = true;
    publish_notice(d, &(struct notice){.type = NOTICE_SYNCED});
}

size_t dispatch_bytes(const struct dispatch *d)
{
    if (d->first == d->next)
        return 0;
    return (size_t)(d->bytes_ever - notice_at(d, d->first)->bytes_before) +
           (size_t)(d->next - d->first) * sizeof(struct notice);
}

bool dispatch_full(const struct dispatch *d)
{
    list_for_each(node, &d->consumers) {
        const struct consumer *c = container_of(node, struct consumer, node);
        if (c->backlog == BACKLOG_FULL && c->state != CONSUMER_REMOVED &&
            !MUTANT("overflow-ignored"))
            return true;
    }
    return false;
}

/* ---- handlers that block others ---- */

static bool others_are_ready(const struct dispatch *d, struct inf_informer *owner)
{
    list_for_each(node, &d->consumers) {
        const struct consumer *c = container_of(node, struct consumer, node);
        if (c->owner && c->owner != owner && c->state == CONSUMER_ACTIVE &&
            c->backlog != BACKLOG_FULL)
            return true;
    }
    return false;
}

void dispatch_report_blocking(struct dispatch *d, bool over)
{
    list_for_each(node, &d->consumers) {
        const struct consumer *c = container_of(node, struct consumer, node);
        bool blocks = c->backlog == BACKLOG_FULL ||
                      (over && c->state == CONSUMER_PAUSED && c->cursor < d->next);
        if (blocks && c->state != CONSUMER_REMOVED && c->handler->on_blocking &&
            others_are_ready(d, c->owner)) {
            c->handler->on_blocking(c->handler, c->owner);
            return;
        }
    }
}

/* ---- a turn ---- */

static void sweep_removed(struct dispatch *d)
{
    list_for_each_safe(node, &d->consumers) {
        struct consumer *c = container_of(node, struct consumer, node);
        if (c->state == CONSUMER_REMOVED)
            consumer_free(c);
    }
}

bool dispatch_step(struct dispatch *d, bool settled)
{
    bool more = false;
    list_for_each(node, &d->consumers) {
        struct consumer *c = container_of(node, struct consumer, node);
        if (consumer_may_call(c))
            consumer_step(c, settled);
        more |= consumer_has_more(c, settled);
    }
    if (d->closed)
        return false;
    trim_ring(d);
    return more;
}

void dispatch_batch_end(struct dispatch *d)
{
    list_for_each(node, &d->consumers) {
        struct consumer *c = container_of(node, struct consumer, node);
        if (!c->called || c->state == CONSUMER_REMOVED || d->closed)
            continue;
        c->called = false;
        if (c->handler->on_batch_end)
            c->handler->on_batch_end(c->handler, c->owner);
    }
    if (!d->closed)
        sweep_removed(d);
}

/* ---- splitting and merging ---- */

static struct notice notice_copy(const struct notice *notice)
{
    struct notice n = *notice;
    event_ref_objects(&n.event);
    n.gap.text = n.gap.text ? xstrdup(n.gap.text) : NULL;
    n.freshness.text = n.freshness.text ? xstrdup(n.freshness.text) : NULL;
    return n;
}

/* The oldest notice in the backlogs of @owner's consumers. */
static uint64_t oldest_notice_of(const struct dispatch *d, struct inf_informer *owner)
{
    uint64_t oldest = d->next;
    list_for_each(node, &d->consumers) {
        const struct consumer *c = container_of(node, struct consumer, node);
        if (c->owner == owner && is_on_ring(c) && c->cursor < oldest)
            oldest = c->cursor;
    }
    return oldest;
}

void dispatch_split(struct dispatch *d, struct dispatch *to, struct inf_informer *owner)
{
    uint64_t oldest = oldest_notice_of(d, owner);
    for (uint64_t serial = oldest; serial < d->next; serial++) {
        struct notice n = notice_copy(notice_at(d, serial));
        append_notice(to, &n);
    }
    to->synced = d->synced;
    to->restored = d->restored;
    list_for_each_safe(node, &d->consumers) {
        struct consumer *c = container_of(node, struct consumer, node);
        if (c->owner == owner && c->state != CONSUMER_REMOVED)
            consumer_move(c, to, is_on_ring(c) ? c->cursor - oldest : to->next);
    }
    trim_ring(d);
    task_schedule(to->clock, to->pump);
}

void dispatch_merge(struct dispatch *d, struct dispatch *to, struct inf_informer *owner)
{
    for (uint64_t serial = oldest_notice_of(d, owner); serial < d->next; serial++) {
        struct notice n = notice_copy(notice_at(d, serial));
        publish_notice(to, &n);
    }
    task_schedule(to->clock, to->pump);
}

/* ---- life ---- */

void dispatch_init(struct dispatch *d, struct clock *clock, const struct inf_store *store,
                   struct task *pump, const struct siphash_key *key)
{
    *d = (struct dispatch){.clock = clock, .store = store, .pump = pump, .key = *key};
    list_init(&d->consumers);
}

void dispatch_close(struct dispatch *d)
{
    d->closed = true;
    list_for_each(node, &d->consumers) {
        struct consumer *c = container_of(node, struct consumer, node);
        timer_stop(d->clock, &c->resync_timer);
        if (c->state != CONSUMER_REMOVED)
            c->handler->internal = NULL;
        c->state = CONSUMER_REMOVED;
    }
}

void dispatch_free(struct dispatch *d)
{
    sweep_removed(d);
    while (d->first < d->next)
        notice_done(notice_at(d, d->first++));
    free(d->ring);
    d->ring = NULL;
}

bool dispatch_may_add(const struct inf_handler *handler)
{
    return !handler->internal && ALL_ZERO(handler->reserved);
}

int dispatch_add(struct dispatch *d, struct inf_handler *handler, struct inf_informer *owner)
{
    struct consumer *c;
    if (!dispatch_may_add(handler))
        return -INF_EINVAL;
    c = consumer_new(d, handler);
    c->owner = owner;
    list_push(&d->consumers, &c->node);
    handler->internal = c;
    task_schedule(d->clock, d->pump);
    return 0;
}

void dispatch_restored(struct dispatch *d)
{
    d->restored = true;
    list_for_each(node, &d->consumers)
        container_of(node, struct consumer, node)->walk = WALK_REPLAY;
}

int dispatch_add_knowing(struct dispatch *d, struct inf_handler *handler,
                         struct inf_informer *owner)
{
    int rc = dispatch_add(d, handler, owner);
    struct consumer *c = handler->internal;
    if (rc < 0)
        return rc;
    c->walk = WALK_NONE;
    c->synced = d->synced;
    return 0;
}

void dispatch_remove_all(struct dispatch *d, struct inf_informer *owner)
{
    list_for_each(node, &d->consumers) {
        struct consumer *c = container_of(node, struct consumer, node);
        if (c->owner == owner && c->state != CONSUMER_REMOVED)
            inf_handler_remove(c->handler);
    }
}
