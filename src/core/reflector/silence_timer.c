/*
 * silence_timer.c - the silence limit of the open request. See silence_timer.h.
 */
#include "core/reflector/silence_timer.h"

#include "base/base.h"

static void silence_timer_on_timeout(struct timer *timer)
{
    struct silence_timer *p = container_of(timer, struct silence_timer, timer);
    if (!p->progress || p->stretched) {
        p->on_lost(p);
        return;
    }
    p->stretched = true;
    timer_start(p->clock, &p->timer, p->ms);
}

void silence_timer_init(struct silence_timer *p, struct clock *clock,
                        void (*on_lost)(struct silence_timer *p))
{
    *p = (struct silence_timer){
        .clock = clock, .timer.fire = silence_timer_on_timeout, .on_lost = on_lost};
}

void silence_timer_start(struct silence_timer *p, uint64_t ms)
{
    p->progress = p->stretched = false;
    p->ms = ms;
    timer_start(p->clock, &p->timer, ms);
}

void silence_timer_progress(struct silence_timer *p)
{
    p->progress = true;
}

void silence_timer_stop(struct silence_timer *p)
{
    timer_stop(p->clock, &p->timer);
}

uint64_t silence_timer_lasted_ms(const struct silence_timer *p)
{
    return p->stretched ? 2 * p->ms : p->ms;
}
