/*
 * loop.h - our clock on somebody's libuv loop: one tick is I/O, pump, flush, reap.
 *
 *      uv_run:   timers ─> poll ──────────> check ──────────────────────────────> closing
 *                on_time   read callbacks   what yielded, pump, flush, reap
 *                └──────── I/O phase ─────────────────┘
 *
 * Timers and read callbacks only feed and enqueue. Behind them, in one uv_check callback, comes the
 * rest of the tick: first streams that were yielded or resumed get their call (that is still I/O),
 * then tasks of the pump, then of the flush, then what was closed is freed. While work is left, a
 * uv_idle keeps poll from sleeping.
 *
 * A tick has a budget for its I/O and one for its pump: clock_over_budget() says when to stop.
 *
 * A sleep of the host (suspend) is noticed in the first tick after it; while somebody wants to know,
 * and any timer runs, there is one every LOOP_SLEEP_CHECK_MS.
 */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdbool.h>

#include <uv.h>

#include "loop/peak.h"
#include "seam/clock.h"

enum {
    LOOP_BUDGET_US = 1000,           /* so long may a phase work before it is over budget */
    LOOP_READ_BUFFER = 64 * 1024,    /* one for all streams: one thread reads one at a time */
    LOOP_SLEEP_CHECK_MS = 30 * 1000, /* so soon after it, a sleep of the host is noticed, */
    LOOP_SLEEP_LEAST_MS = 1000,      /* if it was so long */
    LOOP_STOP_LEAST_MS =
        10 * 1000, /* a timer that is this late shows that the process was stopped */
};

/* Work to do at the end of the I/O phase. Embedded in its owner. */
struct again {
    struct list node; /* in no list: nothing to do */
    void (*run)(struct again *again);
};

struct loop {
    struct clock clock;
    uv_loop_t *uv;
    uv_timer_t timer;
    uv_check_t check;
    uv_idle_t idle;
    bool firing; /* timers are */
    int handles_open;
    int kept;             /* things whose memory or handles still need the loop: see loop_keep() */
    uint64_t deadline_ns; /* of the phase under way; 0: it has not looked at the time yet */
    uint64_t wake_ms;     /* when the last tick expected the next one at the latest; by uv_now() */
    int64_t asleep_ms;    /* that the host has slept since it was booted, as of the last tick */
    uint64_t busy_ns;     /* since when this tick's callbacks have been at work; 0: none has yet */
    uint64_t timers_ns;   /* that its timers took, before it went to poll */
    struct peak ticks;    /* in microseconds */
    struct list agains;
    void (*on_closed)(struct loop *loop); /* set by loop_close() */
    char read_buffer[LOOP_READ_BUFFER];
};

/* Returns 0 or -INF_EIO. By itself it does not keep @uv running: streams, running timers and work
 * to do are. */
int loop_init(struct loop *loop, uv_loop_t *uv);

/*
 * Stops ticking once everything that was closed is really gone; @on_closed is then called, from
 * libuv's closing phase, and may free the loop. All streams must be closed and all timers stopped
 * before.
 */
void loop_close(struct loop *loop, void (*on_closed)(struct loop *loop));

/* Runs @again at the end of the I/O phase: of this tick, or of the next one if it is that phase
 * which asks. */
void loop_again(struct loop *loop, struct again *again);

/* The first thing that a callback says which libuv calls out of its poll: here work begins, for the
 * budget and for loop_worst_tick_us(). */
void loop_busy(struct loop *loop);

/*
 * The longest tick of the last minute (or two: see loop/peak.h), in microseconds: how long others
 * may have had to wait for the loop because of us.
 *
 * A tick is its timers, and all from the first of our I/O callbacks to the end of the reap phase;
 * callbacks of other users of the same uv_loop_t that come in between are counted with it, the time
 * asleep in poll is not.
 */
uint64_t loop_worst_tick_us(struct loop *loop);

/* For what outlives its own closing: the loop waits with its end until each keep was dropped. */
void loop_keep(struct loop *loop);
void loop_drop(struct loop *loop);

/* Closes @handle, whose memory is an allocation of its own, and frees it when libuv lets go of it.
 * Its `data` is used for that. */
void loop_discard(struct loop *loop, uv_handle_t *handle);

#endif
