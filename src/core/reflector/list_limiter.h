/*
 * list_limiter.h - limits how many lists run at the same time; the others wait in a queue.
 *
 * Without it, a daemon that starts with two hundred watches, or a server that restarts, would get
 * all lists at once. Each first sync and each relist needs a slot. It is released at the end of the
 * list, and early if the list fails or is held.
 */
#ifndef CORE_REFLECTOR_LIST_LIMITER_H
#define CORE_REFLECTOR_LIST_LIMITER_H

#include <stdbool.h>

#include "base/list.h"
#include "seam/clock.h"

struct list_limiter {
    unsigned free_slots;
    struct list queue; /* of list_slot.node, oldest first */
};

/* One potential list. Embedded in its owner. */
struct list_slot {
    struct list_limiter *limiter; /* NULL: no limit */
    struct clock *clock;
    struct list node; /* in the queue */
    struct task call; /* calls on_slot */
    bool granted;
    void (*on_slot)(struct list_slot *slot); /* the slot was granted; from the pump phase */
};

void list_limiter_init(struct list_limiter *limiter, unsigned slots);

void list_slot_init(struct list_slot *slot, struct list_limiter *limiter, struct clock *clock,
                    void (*on_slot)(struct list_slot *slot));

/* Returns true if a slot was free. Otherwise queues, and on_slot is called when it is granted. */
bool list_slot_acquire(struct list_slot *slot);

/* Releases the slot, or leaves the queue. Does nothing if it has neither. */
void list_slot_release(struct list_slot *slot);

#endif
