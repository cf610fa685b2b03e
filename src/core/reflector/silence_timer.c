#include "core/reflector/silence_timer.h"

#include "base/base.h"

static void on_silence(struct timer *timer)
{
    struct patience *p = container_of(timer, struct patience, timer);
    if (!p->progress || p->stretched) {
        p->on_lost(p);
        return;
    }
    p->stretched = true;
    timer_start(p->clock, &p->timer, p->ms);
}

void patience_init(struct patience *p, struct clock *clock, void (*on_lost)(struct patience *p))
{
    *p = (struct patience){.clock = clock, .timer.fire = on_silence, .on_lost = on_lost};
}

void patience_start(struct patience *p, uint64_t ms)
{
    p->progress = p->stretched = false;
    p->ms = ms;
    timer_start(p->clock, &p->timer, ms);
}

void patience_progress(struct patience *p)
{
    p->progress = true;
}

void patience_stop(struct patience *p)
{
    timer_stop(p->clock, &p->timer);
}

uint64_t patience_lasted_ms(const struct patience *p)
{
    return p->stretched ? 2 * p->ms : p->ms;
}
