/*
 * list_limiter.c - a counter of free slots and a FIFO queue of those that wait. See list_limiter.h.
 */
#include "core/reflector/list_limiter.h"

#include "base/base.h"

void list_limiter_init(struct list_limiter *list_limiter, unsigned room)
{
    list_limiter->room = room;
    list_init(&list_limiter->line);
}

static void list_slot_on_granted(struct task *task)
{
    struct list_slot *slot = container_of(task, struct list_slot, call);
    slot->on_slot(slot);
}

void list_slot_init(struct list_slot *slot, struct list_limiter *list_limiter, struct clock *clock,
                    void (*on_slot)(struct list_slot *slot))
{
    *slot = (struct list_slot){.list_limiter = list_limiter, .clock = clock, .on_slot = on_slot};
    list_init(&slot->node);
    task_init(&slot->call, PHASE_PUMP, list_slot_on_granted);
}

bool list_slot_acquire(struct list_slot *slot)
{
    struct list_limiter *t = slot->list_limiter;
    if (!t || slot->inside)
        return true;
    if (!t->room) {
        list_push(&t->line, &slot->node);
        return false;
    }
    t->room--;
    slot->inside = true;
    return true;
}

/* The slot belongs to the next in the queue from now on, although it is called later: no other
 * list can take it in between. */
static void grant_next(struct list_limiter *t)
{
    struct list *node = list_pop(&t->line);
    struct list_slot *next;
    if (!node) {
        t->room++;
        return;
    }
    next = container_of(node, struct list_slot, node);
    next->inside = true;
    task_schedule(next->clock, &next->call);
}

void list_slot_release(struct list_slot *slot)
{
    list_remove(&slot->node);
    task_cancel(&slot->call);
    if (!slot->inside)
        return;
    slot->inside = false;
    grant_next(slot->list_limiter);
}
