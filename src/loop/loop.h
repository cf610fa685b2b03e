/*
 * loop.h - our clock on the user's libuv loop: one tick is I/O, pump, flush, reap.
 *
 *      uv_run:   timers ─> poll ──────────> check ──────────────────────────────> closing
 *                on_time   read callbacks   what yielded, pump, flush, reap
 *                └──────── I/O phase ─────────────────┘
 *
 * Timers and read callbacks only feed and enqueue. After them, one uv_check callback runs the rest
 * of the tick: first streams that yielded or were resumed get their call (still I/O), then pump
 * tasks, then flush tasks, then closed objects are freed. While work is left, a uv_idle keeps poll
 * from blocking.
 *
 * A tick has a budget for its I/O and one for its pump: clock_over_budget() returns true when it is used up.
 *
 * A suspend of the host is detected in the first tick after it; while a sleep_watch is registered
 * and any timer runs, there is a tick every LOOP_SLEEP_CHECK_MS.
 */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdbool.h>

#include <uv.h>

#include "loop/gather.h"
#include "loop/peak.h"
#include "seam/clock.h"

enum {
    LOOP_BUDGET_US = 1000,           /* budget of a phase */
    LOOP_READ_BUFFER = 64 * 1024,    /* shared by all streams: they are read one at a time */
    LOOP_SLEEP_CHECK_MS = 30 * 1000, /* maximum delay of the detection of a suspend */
    LOOP_SLEEP_LEAST_MS = 1000,      /* shorter suspends are ignored */
    LOOP_STOP_LEAST_MS =
        10 * 1000, /* a timer that is this late means that the process was stopped */
};

/* Work to do at the end of the I/O phase. Embedded in its owner. */
struct io_task {
    struct list node; /* in no list: not scheduled */
    void (*run)(struct io_task *task);
};

struct loop {
    struct clock clock;
    uv_loop_t *uv;
    uv_timer_t timer;
    uv_check_t check;
    uv_idle_t idle;
    bool firing; /* timers fire now */
    int handles_open;
    int refs;             /* references: see loop_ref() */
    uint64_t deadline_ns; /* of the current phase; 0: not set yet */
    uint64_t wake_ms;     /* latest expected time of the next tick, by uv_now() */
    int64_t asleep_ms;    /* total suspended time since boot, as of the last tick */
    uint64_t busy_ns;     /* start of this tick's callbacks; 0: none yet */
    uint64_t timers_ns;   /* duration of its timers, before poll */
    struct peak ticks;    /* in microseconds */
    struct list io_tasks;
    struct list postponed; /* by tasks of this tick */
    struct gather gather;
    void (*on_closed)(struct loop *loop); /* set by loop_close() */
    char read_buffer[LOOP_READ_BUFFER];
};

/* Returns 0 or -INF_EIO. The loop itself does not keep @uv active: streams, running timers and
 * pending work do. */
int loop_init(struct loop *loop, uv_loop_t *uv);

/*
 * Stops ticking when everything that was closed is freed. Then calls @on_closed, from libuv's
 * closing phase, which may free the loop. All streams must be closed and all timers stopped before.
 */
void loop_close(struct loop *loop, void (*on_closed)(struct loop *loop));

/* Runs @task at the end of the I/O phase of this tick, or of the next tick if that is already
 * running. */
void loop_schedule(struct loop *loop, struct io_task *task);

/* Called by @task, which runs: runs it in the next tick before all that were only scheduled. A task that has found
 * the budget used up keeps its turn. */
void loop_postpone(struct loop *loop, struct io_task *task);

/* Must be called first in every libuv callback from poll: marks the start of work, for the budget
 * and for loop_worst_tick_us(). */
void loop_busy(struct loop *loop);

/*
 * The longest tick of the last one to two minutes (see loop/peak.h), in microseconds: how long
 * other users may have waited for the loop.
 *
 * A tick consists of its timers and everything from our first I/O callback to the end of the reap
 * phase. Callbacks of other users of the same uv_loop_t in between are included, the time blocked
 * in poll is not.
 */
uint64_t loop_worst_tick_us(struct loop *loop);

/* For objects that outlive their close: the loop does not end until each reference was released. */
void loop_ref(struct loop *loop);
void loop_unref(struct loop *loop);

/* Closes @handle, which is an allocation of its own, and frees it when libuv has closed it.
 * Overwrites its `data`. */
void loop_discard(struct loop *loop, uv_handle_t *handle);

#endif
