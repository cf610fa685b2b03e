/*
 * silence_timer.c - the silence limit of the open request: one timer, which each complete event
 * restarts. See silence_timer.h.
 */
#include "core/reflector/silence_timer.h"

#include "base/base.h"

static void silence_timer_on_timeout(struct timer *timer)
{
    struct silence_timer *t = container_of(timer, struct silence_timer, timer);
    if (t->state != SILENCE_BYTES) {
        t->on_lost(t);
        return;
    }
    t->state = SILENCE_EXTENDED;
    timer_start(t->clock, &t->timer, t->ms);
}

void silence_timer_init(struct silence_timer *t, struct clock *clock,
                        void (*on_lost)(struct silence_timer *t))
{
    *t = (struct silence_timer){
        .clock = clock, .timer.fire = silence_timer_on_timeout, .on_lost = on_lost};
}

void silence_timer_start(struct silence_timer *t, uint64_t ms)
{
    t->state = SILENCE_NO_BYTES;
    t->ms = ms;
    timer_start(t->clock, &t->timer, ms);
}

void silence_timer_progress(struct silence_timer *t)
{
    if (t->state == SILENCE_NO_BYTES)
        t->state = SILENCE_BYTES;
}

void silence_timer_stop(struct silence_timer *t)
{
    timer_stop(t->clock, &t->timer);
}

uint64_t silence_timer_lasted_ms(const struct silence_timer *t)
{
    return t->state == SILENCE_EXTENDED ? 2 * t->ms : t->ms;
}
