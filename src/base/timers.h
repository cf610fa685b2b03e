/*
 * timers.h - timers in the order in which they are due, without a clock of their own.
 *
 * seam/clock.h is how everybody else uses them; this is the queue that each clock keeps.
 */
#ifndef BASE_TIMERS_H
#define BASE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tree.h"

struct timer {
    struct tree_node node;
    uint64_t due_ms;
    uint64_t serial; /* two that are due together fire in the order in which they were started */
    bool running;
    void (*fire)(struct timer *timer);
};

struct timers {
    struct tree queue;
    uint64_t serial;
};

#define TIMERS_NONE UINT64_MAX

void timers_init(struct timers *timers);
void timers_add(struct timers *timers, struct timer *timer, uint64_t due_ms); /* not running yet */
void timers_remove(struct timers *timers, struct timer *timer); /* harmless if not running */

/* When the next one is due; TIMERS_NONE if none is running. */
uint64_t timers_next_due(const struct timers *timers);

/* Fires what is due at @now_ms, in order. A timer that is started meanwhile waits for the next
 * call. */
void timers_fire(struct timers *timers, uint64_t now_ms);

#endif
