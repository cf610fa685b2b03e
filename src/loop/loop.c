/*
 * loop.c - implements seam/clock.h on libuv: one timer, one check and one idle handle drive the
 * phases of a tick.
 *
 * It also detects a suspended host (two clocks diverge) and a stopped process (a timer fires too
 * late). Nothing here fails after loop_init().
 */
#include "loop/loop.h"

#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "base/err.h"

static struct loop *loop_of(struct clock *clock)
{
    return container_of(clock, struct loop, clock);
}

/* ---- seam/clock.h ---- */

static uint64_t loop_now_ms(struct clock *clock)
{
    return uv_now(loop_of(clock)->uv);
}

static int64_t loop_wall_us(struct clock *clock)
{
    struct timespec now;
    (void)clock;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The budget of the I/O phase starts with its first callback, that of a later phase with the first
 * check. */
static bool loop_over_budget(struct clock *clock)
{
    struct loop *loop = loop_of(clock);
    uint64_t now = uv_hrtime();
    if (!loop->deadline_ns)
        loop->deadline_ns = now + LOOP_BUDGET_US * UINT64_C(1000);
    return now >= loop->deadline_ns;
}

/* Detects late timers, before they fire: SIGSTOP, or a loop that was not run. */
static void detect_stop(struct loop *loop)
{
    uint64_t now = uv_now(loop->uv), expected = loop->wake_ms;
    if (now <= expected)
        return;
    loop->wake_ms = now;
    if (now - expected >= LOOP_STOP_LEAST_MS)
        clock_report_stop(&loop->clock, now - expected);
}

/* libuv wakes up when its timer is due. */
static void expect_wake(struct loop *loop)
{
    uv_handle_t *timer = (uv_handle_t *)&loop->timer;
    loop->wake_ms =
        uv_is_active(timer) ? uv_now(loop->uv) + uv_timer_get_due_in(&loop->timer) : UINT64_MAX;
}

static void loop_on_time(uv_timer_t *handle)
{
    struct loop *loop = handle->data;
    uint64_t began_ns = uv_hrtime();
    loop->firing = true;
    detect_stop(loop);
    timers_fire(&loop->clock.timers, uv_now(loop->uv));
    loop->clock.ops->timer_changed(&loop->clock);
    loop->firing = false;
    expect_wake(loop); /* libuv polls before the tick ends: for as long as the next timer allows */
    loop->timers_ns += uv_hrtime() - began_ns;
}

/*
 * One uv_timer serves all of our timers: it is set to the earliest. libuv (1.44) calls a timer with
 * delay 0 again in the same round, forever if it restarts itself; a timer that is started while
 * timers fire is therefore due after one millisecond at the earliest.
 */
static void loop_timer_changed(struct clock *clock)
{
    struct loop *loop = loop_of(clock);
    uint64_t due = timers_next_due(&clock->timers), now = uv_now(loop->uv);
    uint64_t least = loop->firing ? 1 : 0;
    uint64_t wait = due > now + least ? due - now : least;
    /* A suspend must be detected soon, even if all timers are long. */
    if (!list_empty(&clock->sleep_watches) && wait > LOOP_SLEEP_CHECK_MS)
        wait = LOOP_SLEEP_CHECK_MS;
    if (due == TIMERS_NONE)
        uv_timer_stop(&loop->timer);
    else
        uv_timer_start(&loop->timer, loop_on_time, wait, 0);
}

static void loop_on_idle(uv_idle_t *handle)
{
    (void)handle; /* an active idle handle keeps poll from blocking */
}

static void loop_wake(struct clock *clock)
{
    uv_idle_start(&loop_of(clock)->idle, loop_on_idle);
}

static const struct clock_ops clock_ops = {
    .now_ms = loop_now_ms,
    .wall_us = loop_wall_us,
    .over_budget = loop_over_budget,
    .timer_changed = loop_timer_changed,
    .wake = loop_wake,
};

/* ---- suspend ---- */

static int64_t clock_ms(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * The total time that the host was suspended since boot: CLOCK_BOOTTIME includes it,
 * CLOCK_MONOTONIC does not. Returns false if the clocks could not be read at the same time: the
 * process may have been stopped in between, which is not a suspend.
 */
static bool read_suspended_time(int64_t *ret_ms)
{
    int64_t before = clock_ms(CLOCK_MONOTONIC), boot = clock_ms(CLOCK_BOOTTIME);
    int64_t after = clock_ms(CLOCK_MONOTONIC);
    if (after - before > 1)
        return false;
    *ret_ms = boot - after;
    return true;
}

/* Called in each tick: it takes less than 0.1 microseconds, and a resumed host causes a tick. */
static void detect_suspend(struct loop *loop)
{
    int64_t asleep, slept;
    if (!read_suspended_time(&asleep))
        return;
    slept = asleep - loop->asleep_ms;
    loop->asleep_ms = asleep;
    if (slept >= LOOP_SLEEP_LEAST_MS)
        clock_report_suspend(&loop->clock, (uint64_t)slept);
}

/* ---- the tick ---- */

void loop_schedule(struct loop *loop, struct io_task *task)
{
    if (!list_empty(&task->node))
        return;
    list_push(&loop->io_tasks, &task->node);
    loop_wake(&loop->clock);
}

void loop_postpone(struct loop *loop, struct io_task *task)
{
    list_push(&loop->postponed, &task->node);
    loop_wake(&loop->clock);
}

static void loop_run_io_tasks(struct loop *loop)
{
    struct list due, *node;
    list_init(&due);
    list_move_all(&due, &loop->io_tasks);
    while ((node = list_pop(&due))) {
        struct io_task *task = container_of(node, struct io_task, node);
        task->run(task);
    }
    list_move_all(&loop->postponed, &loop->io_tasks);
    list_move_all(&loop->io_tasks, &loop->postponed);
}

/* Each phase has its own budget. */
static void loop_run_phase(struct loop *loop, enum phase phase)
{
    loop->deadline_ns = 0;
    clock_run_phase(&loop->clock, phase);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct loop *loop = handle->data;
    if (--loop->handles_open == 0)
        loop->on_closed(loop);
}

void loop_busy(struct loop *loop)
{
    if (loop->busy_ns)
        return;
    loop->busy_ns = uv_hrtime();
    if (!loop->deadline_ns)
        loop->deadline_ns = loop->busy_ns + LOOP_BUDGET_US * UINT64_C(1000);
}

uint64_t loop_worst_tick_us(struct loop *loop)
{
    return peak_value(&loop->ticks, uv_now(loop->uv));
}

static void loop_on_check(uv_check_t *handle)
{
    struct loop *loop = handle->data;
    uint64_t ns;
    loop_busy(loop);
    detect_stop(loop);
    detect_suspend(loop);
    loop_run_io_tasks(loop);
    loop_run_phase(loop, PHASE_PUMP);
    loop_run_phase(loop, PHASE_FLUSH);
    clock_reap(&loop->clock);
    loop->deadline_ns = 0;
    ns = loop->timers_ns + uv_hrtime() - loop->busy_ns;
    peak_note(&loop->ticks, uv_now(loop->uv), ns / 1000);
    loop->timers_ns = loop->busy_ns = 0;
    expect_wake(loop);
    if (clock_has_work(&loop->clock) || !list_empty(&loop->io_tasks))
        return;
    uv_idle_stop(&loop->idle);
    if (loop->on_closed && !loop->refs) {
        uv_close((uv_handle_t *)&loop->timer, on_handle_closed);
        uv_close((uv_handle_t *)&loop->check, on_handle_closed);
        uv_close((uv_handle_t *)&loop->idle, on_handle_closed);
    }
}

/* ---- init and close ---- */

/* The check handle does not keep the loop alive; pending work does, through the idle handle. */
int loop_init(struct loop *loop, uv_loop_t *uv)
{
    loop->uv = uv;
    loop->deadline_ns = loop->busy_ns = loop->timers_ns = 0;
    loop->ticks = (struct peak){0};
    loop->wake_ms = UINT64_MAX;
    loop->firing = false;
    loop->on_closed = NULL;
    loop->handles_open = 3;
    loop->refs = 0;
    list_init(&loop->io_tasks);
    list_init(&loop->postponed);
    clock_init(&loop->clock, &clock_ops);
    gather_init(&loop->gather, &loop->clock);
    while (!read_suspended_time(&loop->asleep_ms))
        continue;
    if (uv_timer_init(uv, &loop->timer) || uv_check_init(uv, &loop->check) ||
        uv_idle_init(uv, &loop->idle) || uv_check_start(&loop->check, loop_on_check))
        return -INF_EIO; /* UNTESTED: libuv's own code never fails here */
    uv_unref((uv_handle_t *)&loop->check);
    loop->timer.data = loop;
    loop->check.data = loop;
    loop->idle.data = loop;
    return 0;
}

void loop_ref(struct loop *loop)
{
    loop->refs++;
}

void loop_unref(struct loop *loop)
{
    if (--loop->refs == 0 && loop->on_closed)
        loop_wake(&loop->clock);
}

static void on_discarded(uv_handle_t *handle)
{
    loop_unref(handle->data);
    free(handle);
}

void loop_discard(struct loop *loop, uv_handle_t *handle)
{
    loop_ref(loop);
    handle->data = loop;
    uv_close(handle, on_discarded);
}

void loop_close(struct loop *loop, void (*on_closed)(struct loop *loop))
{
    loop->on_closed = on_closed;
    loop_wake(&loop->clock);
}
