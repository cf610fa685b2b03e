/*
 * test_loop_sleep.c - detection of a suspended host: which watches are called and when, and that an
 * idle host is not woken up.
 *
 * No host is suspended here: the test changes the suspended time that the loop has recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "real_loop.h"

struct world;

struct sleeper {
    struct sleep_watch watch;
    struct world *world;
    const char *name;
    uint64_t slept_ms;
    struct sleeper *stops; /* stopped in the callback */
};

struct world {
    struct real_loop rl;
    struct clock *clock;
    struct timer timer;
    struct task task;
    struct sleeper a, b, c;
    struct buf story;
};

static void on_slept(struct sleep_watch *watch, uint64_t ms)
{
    struct sleeper *s = container_of(watch, struct sleeper, watch);
    s->slept_ms = ms;
    buf_puts(&s->world->story, s->name);
    if (s->stops)
        sleep_watch_stop(&s->stops->watch);
}

static void on_pump(struct task *task)
{
    buf_puts(&container_of(task, struct world, task)->story, "pump");
}

static void on_timer(struct timer *timer)
{
    buf_puts(&container_of(timer, struct world, timer)->story, "timer");
}

static int setup(void **state)
{
    struct world *w = NEW(struct world);
    real_loop_init(&w->rl);
    w->clock = &w->rl.loop.clock;
    w->timer.fire = on_timer;
    task_init(&w->task, PHASE_PUMP, on_pump);
    w->a = (struct sleeper){.world = w, .name = "a"};
    w->b = (struct sleeper){.world = w, .name = "b"};
    w->c = (struct sleeper){.world = w, .name = "c"};
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    timer_stop(w->clock, &w->timer);
    real_loop_done(&w->rl);
    buf_free(&w->story);
    free(w);
    return 0;
}

static void watch(struct sleeper *s)
{
    sleep_watch_start(s->world->clock, &s->watch, on_slept);
}

/* The host is suspended for @ms; the next tick calls these watches. */
static void assert_sleep_calls(struct world *w, int64_t ms, const char *story)
{
    w->rl.loop.asleep_ms -= ms;
    w->clock->ops->wake(w->clock); /* without work libuv would not run the check handle */
    real_loop_tick(&w->rl);
    buf_putc(&w->story, '\0');
    assert_string_equal(w->story.bytes, story);
    buf_clear(&w->story);
}

static uint64_t next_look_in(const struct world *w)
{
    return uv_timer_get_due_in(&w->rl.loop.timer);
}

static void test_calls_watches_once_and_before_the_pump(void **state)
{
    struct world *w = *state;
    watch(&w->a);
    watch(&w->b);
    assert_sleep_calls(w, 0, "");
    task_schedule(w->clock, &w->task);
    assert_sleep_calls(w, 60 * 1000, "abpump");
    assert_in_range(w->a.slept_ms, 59 * 1000, 61 * 1000);
    assert_sleep_calls(w, 0, "");
}

static void test_ignores_a_short_suspend(void **state)
{
    struct world *w = *state;
    watch(&w->a);
    assert_sleep_calls(w, LOOP_SLEEP_LEAST_MS / 2, "");
}

static void test_a_watch_can_stop_itself(void **state)
{
    struct world *w = *state;
    w->a.stops = &w->a;
    watch(&w->a);
    watch(&w->b);
    assert_sleep_calls(w, 60 * 1000, "ab");
    assert_sleep_calls(w, 60 * 1000, "b");
}

static void test_a_watch_can_stop_another(void **state)
{
    struct world *w = *state;
    w->a.stops = &w->b;
    watch(&w->a);
    watch(&w->b);
    watch(&w->c);
    assert_sleep_calls(w, 60 * 1000, "ac");
}

/* After a sleep nothing may happen for a long time but our own timers. */
static void test_detects_a_suspend_despite_long_timers(void **state)
{
    struct world *w = *state;
    timer_start(w->clock, &w->timer, 3600 * 1000);
    assert_true(next_look_in(w) > LOOP_SLEEP_CHECK_MS); /* no watch is registered */
    watch(&w->a);
    assert_in_range(next_look_in(w), 1, LOOP_SLEEP_CHECK_MS);
    uv_timer_start(&w->rl.loop.timer, w->rl.loop.timer.timer_cb, 0, 0); /* half a minute later */
    assert_sleep_calls(w, 60 * 1000, "a"); /* the timer has an hour to go */
    assert_in_range(next_look_in(w), 1, LOOP_SLEEP_CHECK_MS);
}

static void test_does_not_delay_short_timers(void **state)
{
    struct world *w = *state;
    watch(&w->a);
    timer_start(w->clock, &w->timer, 1);
    RUN_UNTIL(&w->rl, !w->timer.running);
    assert_sleep_calls(w, 0, "timer");
}

/* The process is stopped while @w->timer is due: as if the last tick had expected this one long ago. */
static void stop_for(struct world *w, uint64_t ms)
{
    w->rl.loop.wake_ms = uv_now(&w->rl.uv) - ms;
}

static void test_reports_a_stop_and_postpones_late_timers(void **state)
{
    struct world *w = *state;
    watch(&w->a);
    timer_start(w->clock, &w->timer, 0);
    stop_for(w, 60 * 1000);
    assert_sleep_calls(w, 0, "a");
    assert_in_range(w->a.slept_ms, 60 * 1000, 61 * 1000);
    assert_true(w->timer.running);
    assert_in_range(w->timer.due_ms, uv_now(&w->rl.uv) + 58 * 1000, uv_now(&w->rl.uv) + 61 * 1000);
    assert_int_equal(clock_elapsed_ms(w->clock), clock_now_ms(w->clock)); /* the time went on */
    assert_sleep_calls(w, 0, "");
}

static void test_a_busy_machine_is_not_taken_for_a_stop(void **state)
{
    struct world *w = *state;
    watch(&w->a);
    timer_start(w->clock, &w->timer, 0);
    stop_for(w, LOOP_STOP_LEAST_MS - 5000);
    RUN_UNTIL(&w->rl, !w->timer.running);
    assert_sleep_calls(w, 0, "timer");
}

/* libuv calls timers, polls, and only then ends the tick: a timer that starts a long wait is no stop. */
static void test_an_idle_loop_is_not_taken_for_a_stop(void **state)
{
    struct world *w = *state;
    struct loop *loop = &w->rl.loop;
    watch(&w->a);
    timer_start(w->clock, &w->timer, UINT64_C(3600) * 1000);
    loop->wake_ms = uv_now(&w->rl.uv);
    loop->timer.timer_cb(&loop->timer);
    assert_true(loop->wake_ms >= uv_now(&w->rl.uv) + LOOP_STOP_LEAST_MS);
}

static void test_a_watch_does_not_keep_libuv_alive(void **state)
{
    struct world *w = *state;
    watch(&w->a);
    assert_false(uv_loop_alive(&w->rl.uv));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_calls_watches_once_and_before_the_pump),
        CASE(test_ignores_a_short_suspend),
        CASE(test_a_watch_can_stop_itself),
        CASE(test_a_watch_can_stop_another),
        CASE(test_detects_a_suspend_despite_long_timers),
        CASE(test_does_not_delay_short_timers),
        CASE(test_a_watch_does_not_keep_libuv_alive),
        CASE(test_reports_a_stop_and_postpones_late_timers),
        CASE(test_a_busy_machine_is_not_taken_for_a_stop),
        CASE(test_an_idle_loop_is_not_taken_for_a_stop),
    };
    return cmocka_run_group_tests_name("loop_sleep", tests, NULL, NULL);
}
