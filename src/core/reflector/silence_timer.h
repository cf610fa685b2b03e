/*
 * silence_timer.h - limits how long a request may be silent before it is taken for dead.
 *
 * Each complete event restarts the time. Bytes of an incomplete event extend it, but only once:
 * otherwise a peer that sends a byte now and then would never time out.
 */
#ifndef CORE_REFLECTOR_SILENCE_TIMER_H
#define CORE_REFLECTOR_SILENCE_TIMER_H

#include <stdbool.h>

#include "seam/clock.h"

/* What arrived since the last complete event. */
enum silence_state {
    SILENCE_NO_BYTES,
    SILENCE_BYTES,    /* bytes: the time will be extended */
    SILENCE_EXTENDED, /* the time was extended for them */
};

struct silence_timer {
    struct clock *clock;
    struct timer timer;
    uint64_t ms; /* the limit */
    enum silence_state state;
    void (*on_lost)(struct silence_timer *t);
};

void silence_timer_init(struct silence_timer *t, struct clock *clock,
                        void (*on_lost)(struct silence_timer *t));

/* Restarts the time, with limit @ms. */
void silence_timer_start(struct silence_timer *t, uint64_t ms);

/* Bytes of an incomplete event arrived. */
void silence_timer_progress(struct silence_timer *t);

/* No data is expected. */
void silence_timer_stop(struct silence_timer *t);

/* For on_lost: the time since the last complete event. */
uint64_t silence_timer_lasted_ms(const struct silence_timer *t);

#endif
