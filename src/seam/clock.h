/*
 * clock.h - the seam for time: what time it is, timers, how long this tick may still work, whether
 * the host slept, and deferred freeing.
 *
 * loop/clock.c tells the machine's time; test/lib/sim.c tells invented time. Timers are embedded in
 * their owner and need no closing: after timer_stop() the memory is the owner's again at once. Two
 * timers due at the same moment fire in the order in which they were started.
 */
#ifndef SEAM_CLOCK_H
#define SEAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/timers.h"

struct clock;

/* Memory to give back in the reap phase, when no frame of the stack can still be using it. Embedded
 * in its owner. */
struct corpse {
    struct list node;
    void (*bury)(struct corpse *corpse); /* frees the owner */
};

/* One tick is I/O, pump, flush, reap. Callbacks of streams and timers are the I/O phase; work is
 * done in the next two. */
enum phase {
    PHASE_PUMP,  /* deltas into the store, events to handlers */
    PHASE_FLUSH, /* what was written this tick goes out, in one piece */
    PHASES,
};

/* Work for one of these phases. Embedded in its owner. */
struct task {
    struct list node; /* in no list: nothing to do */
    enum phase phase;
    void (*run)(struct task *task);
};

/* Wants to be told when the host has slept: no timer ran meanwhile, and connections that look open
 * are forgotten by the other side. Embedded in its owner. */
struct sleep_watch {
    struct list node;
    void (*on_slept)(struct sleep_watch *watch, uint64_t ms); /* in the I/O phase */
};

struct clock_ops {
    uint64_t (*now_ms)(struct clock *clock);    /* monotonic, fixed within a tick */
    int64_t (*wall_us)(struct clock *clock);    /* microseconds since 1970, UTC */
    bool (*over_budget)(struct clock *clock);   /* has this tick worked long enough? */
    void (*timer_changed)(struct clock *clock); /* the earliest timer may be another one now */
    void (*wake)(struct clock *clock);          /* there is a task to run or something to reap */
};

/* Embed as the first thing in whatever is a clock. */
struct clock {
    const struct clock_ops *ops;
    struct timers timers;
    struct list tasks[PHASES]; /* of struct task: to run in that phase */
    struct list corpses;       /* of struct corpse: to bury in the next reap phase */
    struct list sleep_watches; /* of struct sleep_watch */
    uint64_t slept_ms;         /* that they were told of, in all */
};

static inline void clock_init(struct clock *clock, const struct clock_ops *ops)
{
    clock->ops = ops;
    timers_init(&clock->timers);
    for (int phase = 0; phase < PHASES; phase++)
        list_init(&clock->tasks[phase]);
    list_init(&clock->corpses);
    list_init(&clock->sleep_watches);
    clock->slept_ms = 0;
}

static inline uint64_t clock_now_ms(struct clock *clock)
{
    return clock->ops->now_ms(clock);
}

/* The same, but it goes on while the host sleeps: for who wants to know how long ago something was.
 * Timers don't go by it. */
static inline uint64_t clock_elapsed_ms(struct clock *clock)
{
    return clock_now_ms(clock) + clock->slept_ms;
}

static inline int64_t clock_wall_us(struct clock *clock)
{
    return clock->ops->wall_us(clock);
}

/* True once this tick has used up its share of the loop: stop at the next good place and go on in
 * the next tick. */
static inline bool clock_over_budget(struct clock *clock)
{
    return clock->ops->over_budget(clock);
}

/* Calls @timer->fire once, in @delay_ms from now; a running timer is set anew. */
static inline void timer_start(struct clock *clock, struct timer *timer, uint64_t delay_ms)
{
    timers_remove(&clock->timers, timer);
    timers_add(&clock->timers, timer, clock_now_ms(clock) + delay_ms);
    clock->ops->timer_changed(clock);
}

/* Harmless if it is not running. */
static inline void timer_stop(struct clock *clock, struct timer *timer)
{
    if (!timer->running)
        return;
    timers_remove(&clock->timers, timer);
    clock->ops->timer_changed(clock);
}

static inline void task_init(struct task *task, enum phase phase, void (*run)(struct task *task))
{
    list_init(&task->node);
    task->phase = phase;
    task->run = run;
}

/* Runs @task once, in the next phase of its kind that has time for it; asking twice is asking once. A
 * task that asks for itself while it runs goes on in the next tick, behind those that wait. */
static inline void task_schedule(struct clock *clock, struct task *task)
{
    if (!list_empty(&task->node))
        return;
    list_push(&clock->tasks[task->phase], &task->node);
    clock->ops->wake(clock);
}

static inline void task_cancel(struct task *task)
{
    list_remove(&task->node);
}

/* What was not run comes first in the next tick. */
static inline void clock_put_off(struct clock *clock, enum phase phase, struct list *due)
{
    list_move_all(due, &clock->tasks[phase]);
    list_move_all(&clock->tasks[phase], due);
}

/* For whoever is a clock: runs what was due in @phase when it began. Each task minds the budget and
 * does a little all the same; but of hundreds, those that come behind wait for the next tick. What is
 * to be flushed is flushed. */
static inline void clock_run_phase(struct clock *clock, enum phase phase)
{
    struct list due, *node;
    list_init(&due);
    list_move_all(&due, &clock->tasks[phase]);
    while ((node = list_pop(&due))) {
        struct task *task = container_of(node, struct task, node);
        task->run(task);
        if (phase == PHASE_PUMP && !list_empty(&due) && clock_over_budget(clock))
            clock_put_off(clock, phase, &due);
    }
}

static inline void sleep_watch_start(struct clock *clock, struct sleep_watch *watch,
                                     void (*on_slept)(struct sleep_watch *watch, uint64_t ms))
{
    watch->on_slept = on_slept;
    list_push(&clock->sleep_watches, &watch->node);
    clock->ops->timer_changed(clock); /* somebody cares now: long timers must not hide a sleep */
}

static inline void sleep_watch_stop(struct sleep_watch *watch)
{
    list_remove(&watch->node);
}

/* For whoever is a clock: the host has slept for @ms. Each watch that is there now is told once; it
 * may stop itself or others. */
static inline void clock_tell_slept(struct clock *clock, uint64_t ms)
{
    struct list telling, *node;
    clock->slept_ms += ms;
    list_init(&telling);
    list_move_all(&telling, &clock->sleep_watches);
    while ((node = list_pop(&telling))) {
        struct sleep_watch *watch = container_of(node, struct sleep_watch, node);
        list_push(&clock->sleep_watches, node);
        watch->on_slept(watch, ms);
    }
}

/* Has @bury called in the reap phase of this tick, or of the next one if this tick's is over. */
static inline void clock_bury(struct clock *clock, struct corpse *corpse,
                              void (*bury)(struct corpse *corpse))
{
    corpse->bury = bury;
    list_push(&clock->corpses, &corpse->node);
    clock->ops->wake(clock);
}

/* For whoever is a clock: the reap phase. */
static inline void clock_reap(struct clock *clock)
{
    struct list *node;
    while ((node = list_pop(&clock->corpses))) {
        struct corpse *corpse = container_of(node, struct corpse, node);
        corpse->bury(corpse);
    }
}

/* For whoever is a clock: whether the next tick has work even if nothing happens outside. */
static inline bool clock_has_work(const struct clock *clock)
{
    return !list_empty(&clock->tasks[PHASE_PUMP]) || !list_empty(&clock->tasks[PHASE_FLUSH]) ||
           !list_empty(&clock->corpses);
}

#endif
