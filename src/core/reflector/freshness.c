/*
 * freshness.c - one timer, restarted by each sign of life. See freshness.h.
 */
#include "core/reflector/freshness.h"

#include "base/base.h"

static void set_due(struct freshness *f, uint64_t due_ms)
{
    uint64_t now = clock_elapsed_ms(f->clock);
    f->due_ms = due_ms;
    if (f->state == FRESHNESS_FRESH && !f->held)
        timer_start(f->clock, &f->timer, due_ms > now ? due_ms - now : 0);
}

static void freshness_on_due(struct timer *timer)
{
    struct freshness *f = container_of(timer, struct freshness, timer);
    f->state = FRESHNESS_STALE;
    f->on_change(f);
}

void freshness_init(struct freshness *f, struct clock *clock, uint64_t stale_after_ms,
                    void (*on_change)(struct freshness *f))
{
    *f = (struct freshness){.clock = clock,
                            .stale_after_ms = stale_after_ms,
                            .timer.fire = freshness_on_due,
                            .on_change = on_change};
}

void freshness_sign(struct freshness *f, uint64_t limit_ms)
{
    bool was_stale = freshness_is_stale(f);
    f->sign_ms = clock_elapsed_ms(f->clock);
    if (was_stale)
        f->state = FRESHNESS_FRESH;
    f->stopped_ms = 0;
    set_due(f, f->sign_ms + (limit_ms > f->stale_after_ms ? limit_ms : f->stale_after_ms));
    if (was_stale)
        f->on_change(f);
}

void freshness_begin(struct freshness *f)
{
    f->state = FRESHNESS_FRESH;
    freshness_sign(f, 0);
}

static void note_lost_at(struct freshness *f, uint64_t then_ms)
{
    uint64_t due = then_ms + f->stale_after_ms;
    set_due(f, due < f->due_ms ? due : f->due_ms);
}

void freshness_lost(struct freshness *f)
{
    note_lost_at(f, clock_elapsed_ms(f->clock));
}

void freshness_slept(struct freshness *f, uint64_t ms)
{
    f->stopped_ms += ms;
    note_lost_at(f, clock_elapsed_ms(f->clock) - ms);
}

void freshness_hold(struct freshness *f, bool held)
{
    f->held = held;
    if (held)
        timer_stop(f->clock, &f->timer);
    else
        set_due(f, clock_elapsed_ms(f->clock) + f->stale_after_ms);
}

void freshness_close(struct freshness *f)
{
    timer_stop(f->clock, &f->timer);
}
