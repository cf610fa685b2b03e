/*
 * timers.h - a queue of timers ordered by due time.
 *
 * Each clock has one. All other code uses timers through seam/clock.h.
 */
#ifndef BASE_TIMERS_H
#define BASE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tree.h"

struct timer {
    struct tree_node node;
    uint64_t due_ms;
    uint64_t serial; /* timers that are due together fire in the order in which they were started */
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

/* The due time of the next timer; TIMERS_NONE if none is running. */
uint64_t timers_next_due(const struct timers *timers);

/* Timers that are due at @now_ms are due @by_ms later than they were. Their order stays. */
void timers_postpone(struct timers *timers, uint64_t now_ms, uint64_t by_ms);

/* Fires the timers that are due at @now_ms, in order. A timer that is started meanwhile waits for the
 * next call. */
void timers_fire(struct timers *timers, uint64_t now_ms);

#endif
