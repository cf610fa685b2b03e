/*
 * list_limiter.h - only so many at a time, the others in line.
 *
 * A server that comes back, or a daemon that starts with two hundred watches, must not be asked for
 * everything at once: each first sync and each relist passes here. Who is through leaves again, at
 * the end of its list or as soon as it can't go on by itself.
 */
#ifndef CORE_REFLECTOR_LIST_LIMITER_H
#define CORE_REFLECTOR_LIST_LIMITER_H

#include <stdbool.h>

#include "base/list.h"
#include "seam/clock.h"

struct list_limiter {
    unsigned room; /* how many more may enter now */
    struct list line;
};

/* Somebody who wants to pass. Embedded in its owner. */
struct list_slot {
    struct list_limiter *list_limiter; /* NULL: there is none, everybody passes */
    struct clock *clock;
    struct list node; /* in the line */
    struct task call; /* of whose turn it is */
    bool inside;
    void (*on_slot)(struct list_slot *turn); /* from the pump phase: come in */
};

void list_limiter_init(struct list_limiter *list_limiter, unsigned room);

void list_slot_init(struct list_slot *turn, struct list_limiter *list_limiter, struct clock *clock,
                    void (*on_slot)(struct list_slot *turn));

/* True: passed at once. False: it is in line, and will be called by on_slot. */
bool list_slot_acquire(struct list_slot *turn);

/* Leaves, or leaves the line. Harmless if it is in neither. */
void list_slot_release(struct list_slot *turn);

#endif
