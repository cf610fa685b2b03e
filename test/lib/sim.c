#include "sim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

enum {
    TICKS_MAX =
        2 * 1000 * 1000, /* in one sim_run(); more means that a task schedules itself forever */
};

static struct sim *sim_of(struct clock *clock)
{
    return container_of(clock, struct sim, clock);
}

static uint64_t sim_now_ms(struct clock *clock)
{
    return sim_of(clock)->now_ms;
}

static int64_t sim_wall_us(struct clock *clock)
{
    const struct sim *sim = sim_of(clock);
    return SIM_START_US + sim->wall_offset_us + (int64_t)sim->now_ms * 1000;
}

static bool sim_over_budget(struct clock *clock)
{
    struct sim *sim = sim_of(clock);
    return sim->budget && ++sim->budget_checks >= sim->budget;
}

static void sim_nothing(struct clock *clock)
{
    (void)clock; /* sim_tick() and sim_advance() check by themselves */
}

static const struct clock_ops sim_clock_ops = {
    .now_ms = sim_now_ms,
    .wall_us = sim_wall_us,
    .over_budget = sim_over_budget,
    .timer_changed = sim_nothing,
    .wake = sim_nothing,
};

void sim_init(struct sim *sim)
{
    *sim = (struct sim){0};
    clock_init(&sim->clock, &sim_clock_ops);
    list_init(&sim->ios);
}

void sim_done(struct sim *sim)
{
    clock_reap(&sim->clock);
    if (!clock_has_work(&sim->clock) && list_empty(&sim->ios) &&
        timers_next_due(&sim->clock.timers) == TIMERS_NONE && list_empty(&sim->clock.sleep_watches))
        return;
    fprintf(stderr, "sim: something is left: %s%s%s%s\n",
            clock_has_work(&sim->clock) ? "task " : "", list_empty(&sim->ios) ? "" : "stream ",
            timers_next_due(&sim->clock.timers) == TIMERS_NONE ? "" : "timer ",
            list_empty(&sim->clock.sleep_watches) ? "" : "sleep watch");
    abort();
}

void sim_io_add(struct sim *sim, struct sim_io *io, bool (*poll)(struct sim_io *io))
{
    io->poll = poll;
    list_push(&sim->ios, &io->node);
}

void sim_io_remove(struct sim_io *io)
{
    list_remove(&io->node);
}

/* Polls each current watch once; watches may be removed or added meanwhile. */
static bool sim_poll(struct sim *sim)
{
    bool busy = false;
    struct list asking, *node;
    list_init(&asking);
    list_move_all(&asking, &sim->ios);
    while ((node = list_pop(&asking))) {
        struct sim_io *io = container_of(node, struct sim_io, node);
        list_push(&sim->ios, node);
        busy |= io->poll(io);
    }
    return busy;
}

bool sim_tick(struct sim *sim)
{
    bool busy;
    sim->budget_checks = 0;
    sim->ticks++;
    if (timers_next_due(&sim->clock.timers) <= sim->now_ms)
        timers_fire(&sim->clock.timers, sim->now_ms);
    busy = sim_poll(sim) || clock_has_work(&sim->clock);
    clock_run_phase(&sim->clock, PHASE_PUMP);
    clock_run_phase(&sim->clock, PHASE_FLUSH);
    clock_reap(&sim->clock);
    return busy || timers_next_due(&sim->clock.timers) <= sim->now_ms;
}

void sim_run(struct sim *sim)
{
    uint64_t first = sim->ticks;
    while (sim_tick(sim))
        if (sim->ticks - first > TICKS_MAX) {
            fprintf(stderr, "sim: no rest after %d ticks\n", TICKS_MAX);
            abort();
        }
}

void sim_advance(struct sim *sim, uint64_t ms)
{
    uint64_t end = sim->now_ms + ms, due;
    sim_run(sim);
    while ((due = timers_next_due(&sim->clock.timers)) <= end) {
        sim->now_ms = due;
        sim_run(sim);
    }
    sim->now_ms = end;
    sim_run(sim);
}

void sim_sleep(struct sim *sim, uint64_t ms)
{
    sim->wall_offset_us += (int64_t)ms * 1000;
    clock_report_suspend(&sim->clock, ms);
    sim_run(sim);
}

void sim_stop(struct sim *sim, uint64_t ms)
{
    sim->now_ms += ms;
    clock_report_stop(&sim->clock, ms);
    sim_run(sim);
}
