/*
 * silence_timer.h - how long a request may be silent before it is taken for dead.
 *
 * Whatever comes whole starts the time anew. Part of something large may be on its way: that
 * stretches the time, once. More would let a peer that sends a byte now and then live for ever.
 */
#ifndef CORE_REFLECTOR_SILENCE_TIMER_H
#define CORE_REFLECTOR_SILENCE_TIMER_H

#include <stdbool.h>

#include "seam/clock.h"

struct silence_timer {
    struct clock *clock;
    struct timer timer;
    uint64_t ms;    /* how long it lasts */
    bool progress;  /* part of something came since the last whole one */
    bool stretched; /* and it was allowed once more for that */
    void (*on_lost)(struct silence_timer *p);
};

void silence_timer_init(struct silence_timer *p, struct clock *clock,
                        void (*on_lost)(struct silence_timer *p));

/* From now on @ms may pass. */
void silence_timer_start(struct silence_timer *p, uint64_t ms);

/* Part of something came. */
void silence_timer_progress(struct silence_timer *p);

/* Nothing is expected. */
void silence_timer_stop(struct silence_timer *p);

/* For on_lost: how long nothing whole came. */
uint64_t silence_timer_lasted_ms(const struct silence_timer *p);

#endif
