/*
 * clock.h - the seam for time: the current time, timers, tasks, the time budget of a tick,
 * notification after the host was suspended, and deferred freeing.
 *
 * loop/loop.c provides real time, test/lib/sim.c virtual time. Timers are embedded in their owner
 * and are not closed: after timer_stop() the owner may free them at once. Timers that are due at
 * the same time fire in the order in which they were started.
 */
#ifndef SEAM_CLOCK_H
#define SEAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/timers.h"

struct clock;

/* Memory to free in the reap phase, when no stack frame can still use it. Embedded in its owner. */
struct deferred_free {
    struct list node;
    void (*free_owner)(struct deferred_free *deferred_free); /* frees the owner */
};

/* A tick has the phases I/O, pump, flush and reap. Callbacks of streams and timers run in the I/O
 * phase; tasks run in pump and flush. */
enum phase {
    PHASE_PUMP,  /* deltas into the store, events to handlers */
    PHASE_FLUSH, /* output of this tick is written in one piece */
    PHASES,
};

/* Work for one of these phases. Embedded in its owner. */
struct task {
    struct list node; /* in no list: not scheduled */
    enum phase phase;
    void (*run)(struct task *task);
};

/* Receives a callback after the host was suspended: timers did not run, and peers may have dropped
 * connections that still look open. Embedded in its owner. */
struct sleep_watch {
    struct list node;
    void (*on_slept)(struct sleep_watch *watch, uint64_t ms); /* in the I/O phase */
};

struct clock_ops {
    uint64_t (*now_ms)(struct clock *clock);    /* monotonic, constant within a tick */
    int64_t (*wall_us)(struct clock *clock);    /* microseconds since 1970, UTC */
    bool (*over_budget)(struct clock *clock);   /* whether this tick has used up its time */
    void (*timer_changed)(struct clock *clock); /* the earliest timer may have changed */
    void (*wake)(struct clock *clock);          /* there is a task to run or memory to free */
};

/* The first member of every clock. */
struct clock {
    const struct clock_ops *ops;
    struct timers timers;
    struct list tasks[PHASES];  /* of struct task: to run in that phase */
    struct list deferred_frees; /* of struct deferred_free: to free in the next reap phase */
    struct list sleep_watches;  /* of struct sleep_watch */
    uint64_t slept_ms;          /* total suspended time reported to them */
};

static inline void clock_init(struct clock *clock, const struct clock_ops *ops)
{
    clock->ops = ops;
    timers_init(&clock->timers);
    for (int phase = 0; phase < PHASES; phase++)
        list_init(&clock->tasks[phase]);
    list_init(&clock->deferred_frees);
    list_init(&clock->sleep_watches);
    clock->slept_ms = 0;
}

static inline uint64_t clock_now_ms(struct clock *clock)
{
    return clock->ops->now_ms(clock);
}

/* Like clock_now_ms(), but includes the time that the host was suspended: for ages. Timers do not
 * use it. */
static inline uint64_t clock_elapsed_ms(struct clock *clock)
{
    return clock_now_ms(clock) + clock->slept_ms;
}

static inline int64_t clock_wall_us(struct clock *clock)
{
    return clock->ops->wall_us(clock);
}

/* True when this tick has used up its time: stop at the next suitable place and continue in the
 * next tick. */
static inline bool clock_over_budget(struct clock *clock)
{
    return clock->ops->over_budget(clock);
}

/* Calls @timer->fire once, @delay_ms from now. A running timer is restarted. */
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

/* Runs @task once, in the next phase of its kind that has time for it. Scheduling a scheduled task
 * has no effect. A task that schedules itself while it runs continues in the next tick, after the
 * tasks that already wait. */
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

/* For implementations of clocks: runs the tasks that were scheduled when @phase began. Each task
 * respects the budget itself and always makes some progress; when the budget is used up, the
 * remaining pump tasks wait for the next tick. Flush tasks always run. */
static inline void clock_run_phase(struct clock *clock, enum phase phase)
{
    struct list due, *node;
    list_init(&due);
    list_move_all(&due, &clock->tasks[phase]);
    while ((node = list_pop(&due))) {
        struct task *task = container_of(node, struct task, node);
        task->run(task);
        if (phase == PHASE_PUMP && !list_empty(&due) && clock_over_budget(clock))
            break;
    }
    list_move_all(&due, &clock->tasks[phase]); /* the rest runs first in the next tick */
    list_move_all(&clock->tasks[phase], &due);
}

static inline void sleep_watch_start(struct clock *clock, struct sleep_watch *watch,
                                     void (*on_slept)(struct sleep_watch *watch, uint64_t ms))
{
    watch->on_slept = on_slept;
    list_push(&clock->sleep_watches, &watch->node);
    clock->ops->timer_changed(clock); /* long timers must not delay the detection of a suspend */
}

static inline void sleep_watch_stop(struct sleep_watch *watch)
{
    list_remove(&watch->node);
}

/* Calls each registered watch once; a watch may stop itself or others. */
static inline void clock_call_sleep_watches(struct clock *clock, uint64_t ms)
{
    struct list due, *node;
    list_init(&due);
    list_move_all(&due, &clock->sleep_watches);
    while ((node = list_pop(&due))) {
        struct sleep_watch *watch = container_of(node, struct sleep_watch, node);
        list_push(&clock->sleep_watches, node);
        watch->on_slept(watch, ms);
    }
}

/* For implementations of clocks: the host was suspended for @ms, and the time stood still. */
static inline void clock_report_suspend(struct clock *clock, uint64_t ms)
{
    clock->slept_ms += ms;
    clock_call_sleep_watches(clock, ms);
}

/* For implementations of clocks: this process did not run for @ms (SIGSTOP), while the time went
 * on. Timers that fell due meanwhile get as much more time: they wait for peers, whose data was not
 * read. */
static inline void clock_report_stop(struct clock *clock, uint64_t ms)
{
    timers_postpone(&clock->timers, clock_now_ms(clock), ms);
    clock->ops->timer_changed(clock);
    clock_call_sleep_watches(clock, ms);
}

/* Calls @free_owner in the reap phase of this tick, or of the next tick if that phase is over. */
static inline void clock_free_later(struct clock *clock, struct deferred_free *deferred_free,
                                    void (*free_owner)(struct deferred_free *deferred_free))
{
    deferred_free->free_owner = free_owner;
    list_push(&clock->deferred_frees, &deferred_free->node);
    clock->ops->wake(clock);
}

/* For implementations of clocks: the reap phase. */
static inline void clock_reap(struct clock *clock)
{
    struct list *node;
    while ((node = list_pop(&clock->deferred_frees))) {
        struct deferred_free *deferred_free = container_of(node, struct deferred_free, node);
        deferred_free->free_owner(deferred_free);
    }
}

/* For implementations of clocks: whether the next tick has work even without I/O. */
static inline bool clock_has_work(const struct clock *clock)
{
    return !list_empty(&clock->tasks[PHASE_PUMP]) || !list_empty(&clock->tasks[PHASE_FLUSH]) ||
           !list_empty(&clock->deferred_frees);
}

#endif
