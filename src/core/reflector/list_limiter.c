/*
 * list_limiter.c - a counter of free slots and a queue of those that wait. A released slot goes to
 * the first in the queue, which is called in the pump phase. Nothing here fails.
 */
#include "core/reflector/list_limiter.h"

#include "base/base.h"

void list_limiter_init(struct list_limiter *limiter, unsigned slots)
{
    limiter->free_slots = slots;
    list_init(&limiter->queue);
}

static void list_slot_on_granted(struct task *task)
{
    struct list_slot *slot = container_of(task, struct list_slot, call);
    slot->on_slot(slot);
}

void list_slot_init(struct list_slot *slot, struct list_limiter *limiter, struct clock *clock,
                    void (*on_slot)(struct list_slot *slot))
{
    *slot = (struct list_slot){.limiter = limiter, .clock = clock, .on_slot = on_slot};
    list_init(&slot->node);
    task_init(&slot->call, PHASE_PUMP, list_slot_on_granted);
}

bool list_slot_acquire(struct list_slot *slot)
{
    struct list_limiter *limiter = slot->limiter;
    if (!limiter || slot->granted)
        return true;
    if (!limiter->free_slots) {
        list_push(&limiter->queue, &slot->node);
        return false;
    }
    limiter->free_slots--;
    slot->granted = true;
    return true;
}

void list_slot_release(struct list_slot *slot)
{
    struct list *first;
    list_remove(&slot->node);
    task_cancel(&slot->call);
    if (!slot->granted)
        return;
    slot->granted = false;
    first = list_pop(&slot->limiter->queue);
    if (first) {
        /* Its own from now on, although it is called later: no other list can take the slot in
         * between. */
        struct list_slot *next = container_of(first, struct list_slot, node);
        next->granted = true;
        task_schedule(next->clock, &next->call);
    } else {
        slot->limiter->free_slots++;
    }
}
