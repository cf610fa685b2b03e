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

struct turnstile {
    unsigned room; /* how many more may enter now */
    struct list line;
};

/* Somebody who wants to pass. Embedded in its owner. */
struct turn {
    struct turnstile *turnstile; /* NULL: there is none, everybody passes */
    struct clock *clock;
    struct list node; /* in the line */
    struct task call; /* of whose turn it is */
    bool inside;
    void (*on_turn)(struct turn *turn); /* from the pump phase: come in */
};

void turnstile_init(struct turnstile *turnstile, unsigned room);

void turn_init(struct turn *turn, struct turnstile *turnstile, struct clock *clock,
               void (*on_turn)(struct turn *turn));

/* True: passed at once. False: it is in line, and will be called by on_turn. */
bool turn_enter(struct turn *turn);

/* Leaves, or leaves the line. Harmless if it is in neither. */
void turn_leave(struct turn *turn);

#endif
