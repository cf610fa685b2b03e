/*
 * timers.c - a tree ordered by due time, then by the order in which the timers were started.
 */
#include "base/timers.h"

#include "base/base.h"

static int by_due_then_serial(const struct tree_node *na, const struct tree_node *nb)
{
    const struct timer *a = container_of(na, struct timer, node);
    const struct timer *b = container_of(nb, struct timer, node);
    if (a->due_ms != b->due_ms)
        return a->due_ms < b->due_ms ? -1 : 1;
    return a->serial < b->serial ? -1 : 1;
}

void timers_init(struct timers *timers)
{
    *timers = (struct timers){0};
    tree_init(&timers->queue, by_due_then_serial);
}

void timers_add(struct timers *timers, struct timer *timer, uint64_t due_ms)
{
    timer->due_ms = due_ms;
    timer->serial = timers->serial++;
    timer->running = true;
    tree_add(&timers->queue, &timer->node);
}

void timers_remove(struct timers *timers, struct timer *timer)
{
    if (!timer->running)
        return;
    timer->running = false;
    tree_remove(&timers->queue, &timer->node);
}

static struct timer *earliest(const struct timers *timers)
{
    struct tree_node *first = tree_first(&timers->queue);
    return first ? container_of(first, struct timer, node) : NULL;
}

uint64_t timers_next_due(const struct timers *timers)
{
    struct timer *timer = earliest(timers);
    return timer ? timer->due_ms : TIMERS_NONE;
}

void timers_postpone(struct timers *timers, uint64_t now_ms, uint64_t by_ms)
{
    struct timers late;
    struct timer *timer;
    timers_init(&late);
    while ((timer = earliest(timers)) && timer->due_ms <= now_ms) {
        timers_remove(timers, timer);
        timers_add(&late, timer, timer->due_ms);
    }
    while ((timer = earliest(&late))) {
        timers_remove(&late, timer);
        timers_add(timers, timer, timer->due_ms + by_ms);
    }
}

void timers_fire(struct timers *timers, uint64_t now_ms)
{
    uint64_t horizon = timers->serial;
    struct timer *timer;
    while ((timer = earliest(timers)) && timer->due_ms <= now_ms && timer->serial < horizon) {
        timers_remove(timers, timer);
        timer->fire(timer);
    }
}
