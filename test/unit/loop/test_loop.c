/*
 * test_loop.c - the tick on a real libuv loop: phases in order, fairness, and a close that waits
 * for pending work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "real_loop.h"

struct world;

/* A task, an io_task, a timer and a deferred_free in one; each callback records its name. */
struct actor {
    struct world *world;
    const char *name;
    struct task task;
    struct io_task io_task;
    struct timer timer;
    struct deferred_free deferred_free;
    void (*then)(struct actor *actor); /* called after it was recorded; may be NULL */
    int times;
};

struct world {
    struct real_loop rl;
    struct loop *loop;
    struct clock *clock;
    uv_async_t io; /* an I/O event; keeps libuv alive */
    struct actor a, b, c, d;
    struct buf story;
    uint64_t started_ms; /* when the test began, by the loop's clock */
};

static void record(struct actor *actor)
{
    struct buf *story = &actor->world->story;
    buf_printf(story, "%s%s", story->len ? " " : "", actor->name);
    actor->times++;
    if (actor->then)
        actor->then(actor);
}

static void on_task(struct task *task)
{
    record(container_of(task, struct actor, task));
}

static void on_io_task(struct io_task *task)
{
    record(container_of(task, struct actor, io_task));
}

static void on_timer(struct timer *timer)
{
    record(container_of(timer, struct actor, timer));
}

static void on_free_deferred(struct deferred_free *deferred_free)
{
    record(container_of(deferred_free, struct actor, deferred_free));
}

static void actor_init(struct actor *actor, struct world *w, const char *name)
{
    *actor = (struct actor){.world = w, .name = name};
    task_init(&actor->task, PHASE_PUMP, on_task);
    list_init(&actor->io_task.node);
    actor->io_task.run = on_io_task;
    actor->timer.fire = on_timer;
}

static void on_io(uv_async_t *async);

static int setup(void **state)
{
    static struct world w;
    memset(&w, 0, sizeof(w));
    real_loop_init(&w.rl);
    w.loop = &w.rl.loop;
    w.clock = &w.loop->clock;
    assert_int_equal(uv_async_init(&w.rl.uv, &w.io, on_io), 0);
    w.io.data = &w;
    actor_init(&w.a, &w, "a");
    actor_init(&w.b, &w, "b");
    actor_init(&w.c, &w, "c");
    actor_init(&w.d, &w, "d");
    w.started_ms = clock_now_ms(w.clock);
    *state = &w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    if (!uv_is_closing((uv_handle_t *)&w->io))
        uv_close((uv_handle_t *)&w->io, NULL);
    real_loop_done(&w->rl);
    buf_free(&w->story);
    return 0;
}

/* Compares with the names recorded since the last call. */
static void assert_recorded(struct world *w, const char *story)
{
    buf_putc(&w->story, '\0');
    assert_string_equal(w->story.bytes, story);
    buf_clear(&w->story);
}

static void assert_tick(struct world *w, const char *story)
{
    real_loop_tick(&w->rl);
    assert_recorded(w, story);
}

/* ---- phases ---- */

/* An I/O callback schedules work for all phases, the last phase first. */
static void on_io(uv_async_t *async)
{
    struct world *w = async->data;
    buf_puts(&w->story, "io");
    clock_free_later(w->clock, &w->d.deferred_free, on_free_deferred);
    task_schedule(w->clock, &w->c.task);
    task_schedule(w->clock, &w->b.task);
    loop_schedule(w->loop, &w->a.io_task);
}

static void test_runs_phases_in_order(void **state)
{
    struct world *w = *state;
    w->a.name = "again";
    w->b.name = "pump";
    w->c.name = "flush";
    w->d.name = "reap";
    w->c.task.phase = PHASE_FLUSH;
    uv_async_send(&w->io);
    assert_tick(w, "io again pump flush reap");
    assert_tick(w, "");
}

static void schedule_b(struct actor *actor)
{
    task_schedule(actor->world->clock, &actor->world->b.task);
}

static void test_a_flush_task_of_the_pump_runs_in_the_same_tick(void **state)
{
    struct world *w = *state;
    w->a.then = schedule_b;
    w->b.task.phase = PHASE_FLUSH;
    task_schedule(w->clock, &w->a.task);
    assert_tick(w, "a b");
}

static void test_a_pump_task_of_the_flush_runs_in_the_next_tick(void **state)
{
    struct world *w = *state;
    w->a.then = schedule_b;
    w->a.task.phase = PHASE_FLUSH;
    task_schedule(w->clock, &w->a.task);
    assert_tick(w, "a");
    assert_tick(w, "b");
}

static void test_scheduling_twice_runs_once(void **state)
{
    struct world *w = *state;
    task_schedule(w->clock, &w->a.task);
    task_schedule(w->clock, &w->a.task);
    loop_schedule(w->loop, &w->b.io_task);
    loop_schedule(w->loop, &w->b.io_task);
    assert_tick(w, "b a");
    assert_tick(w, "");
}

static void cancel_b(struct actor *actor)
{
    task_cancel(&actor->world->b.task);
}

static void test_a_task_can_cancel_another_of_the_same_phase(void **state)
{
    struct world *w = *state;
    w->a.then = cancel_b;
    task_schedule(w->clock, &w->a.task);
    task_schedule(w->clock, &w->b.task);
    task_schedule(w->clock, &w->c.task);
    assert_tick(w, "a c");
    task_cancel(&w->b.task); /* harmless */
    assert_tick(w, "");
}

static void defer_free_of_b(struct actor *actor)
{
    clock_free_later(actor->world->clock, &actor->world->b.deferred_free, on_free_deferred);
}

static void test_a_deferred_free_may_schedule_another(void **state)
{
    struct world *w = *state;
    w->a.then = defer_free_of_b;
    clock_free_later(w->clock, &w->a.deferred_free, on_free_deferred);
    assert_tick(w, "a b");
}

/* ---- fairness ---- */

static void task_goes_on(struct actor *actor)
{
    task_schedule(actor->world->clock, &actor->task);
}

static void test_a_task_that_reschedules_itself_runs_once_a_tick(void **state)
{
    struct world *w = *state;
    w->a.then = task_goes_on;
    w->b.then = task_goes_on;
    w->b.task.phase = PHASE_FLUSH;
    task_schedule(w->clock, &w->a.task);
    task_schedule(w->clock, &w->b.task);
    assert_tick(w, "a b");
    assert_tick(w, "a b");
    timer_start(w->clock, &w->c.timer, 0);
    assert_tick(w, "c a b"); /* a timer fires in between */
    loop_schedule(w->loop, &w->d.io_task);
    assert_tick(w, "d a b"); /* and an I/O task runs */
    w->a.then = NULL;
    w->b.then = NULL;
    assert_tick(w, "a b");
    assert_tick(w, "");
}

static void reschedule_io_task(struct actor *actor)
{
    loop_schedule(actor->world->loop, &actor->io_task);
}

static void test_an_io_task_that_reschedules_itself_runs_once_a_tick(void **state)
{
    struct world *w = *state;
    w->a.then = reschedule_io_task;
    loop_schedule(w->loop, &w->a.io_task);
    loop_schedule(w->loop, &w->b.io_task);
    assert_tick(w, "a b");
    assert_tick(w, "a");
    w->a.then = NULL;
    assert_tick(w, "a");
    assert_tick(w, "");
}

/* ---- timers ---- */

static void test_fires_timers_in_the_order_of_their_due_times(void **state)
{
    struct world *w = *state;
    timer_start(w->clock, &w->a.timer, 3);
    timer_start(w->clock, &w->b.timer, 1);
    timer_start(w->clock, &w->c.timer, 3);
    timer_start(w->clock, &w->d.timer, 2);
    RUN_UNTIL(&w->rl, w->c.times);
    assert_recorded(w, "b d a c");
    assert_true(clock_now_ms(w->clock) >= w->started_ms + 3); /* never early */
}

static void test_restarts_a_running_timer(void **state)
{
    struct world *w = *state;
    timer_start(w->clock, &w->a.timer, 3600 * 1000);
    timer_start(w->clock, &w->b.timer, 1);
    timer_start(w->clock, &w->a.timer, 1);
    RUN_UNTIL(&w->rl, w->a.times);
    assert_recorded(w, "b a");
}

static void timer_goes_on(struct actor *actor)
{
    if (actor->times < 3)
        timer_start(actor->world->clock, &actor->timer, 0);
}

/* It restarts itself with delay 0; others run in between. */
static void test_a_timer_that_restarts_itself_fires_once_a_tick(void **state)
{
    struct world *w = *state;
    w->a.then = timer_goes_on;
    timer_start(w->clock, &w->a.timer, 0);
    while (w->a.times < 3) {
        int before = w->a.times;
        real_loop_tick(&w->rl);
        assert_in_range(w->a.times - before, 0, 1);
    }
    assert_recorded(w, "a a a");
}

static void stop_b(struct actor *actor)
{
    timer_stop(actor->world->clock, &actor->world->b.timer);
}

static void test_a_timer_can_stop_another(void **state)
{
    struct world *w = *state;
    w->a.then = stop_b;
    timer_start(w->clock, &w->a.timer, 0);
    timer_start(w->clock, &w->b.timer, 0);
    assert_tick(w, "a");
    assert_tick(w, "");
}

/* ---- time ---- */

static int64_t wall_us_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void test_returns_the_wall_clock(void **state)
{
    struct world *w = *state;
    int64_t before = wall_us_now();
    int64_t wall = clock_wall_us(w->clock);
    assert_true(before <= wall);
    assert_true(wall <= wall_us_now());
}

static void work_for_the_whole_budget(struct actor *actor)
{
    struct clock *clock = actor->world->clock;
    uint64_t now_ms = clock_now_ms(clock), until_ns;
    assert_false(clock_over_budget(clock)); /* each phase begins with a budget of its own */
    until_ns = uv_hrtime() + LOOP_BUDGET_US * UINT64_C(1000);
    while (uv_hrtime() < until_ns)
        continue;
    assert_true(clock_over_budget(clock));
    assert_true(clock_now_ms(clock) == now_ms); /* the time is constant within a tick */
}

static void test_each_phase_has_its_budget(void **state)
{
    struct world *w = *state;
    w->a.then = work_for_the_whole_budget;
    w->b.then = work_for_the_whole_budget;
    w->c.then = work_for_the_whole_budget;
    w->c.task.phase = PHASE_FLUSH;
    for (int tick = 0; tick < 2; tick++) {
        loop_schedule(w->loop, &w->a.io_task);
        task_schedule(w->clock, &w->b.task);
        task_schedule(w->clock, &w->c.task);
        assert_tick(w, "a b c");
    }
}

static void work_on(struct actor *actor)
{
    work_for_the_whole_budget(actor);
    task_schedule(actor->world->clock, &actor->task);
}

/* Hundreds of small tasks would make a long tick: the rest runs in the next tick, before newer ones. */
static void test_postponed_tasks_run_first_in_the_next_tick(void **state)
{
    struct world *w = *state;
    w->a.then = work_on;
    task_schedule(w->clock, &w->a.task);
    task_schedule(w->clock, &w->b.task);
    assert_tick(w, "a");
    assert_tick(w, "b a");
    task_cancel(&w->a.task);
}

/* ---- the worst tick ---- */

static void work_3ms(struct actor *actor)
{
    uint64_t until_ns = uv_hrtime() + UINT64_C(3000000);
    (void)actor;
    while (uv_hrtime() < until_ns)
        continue;
}

/* A timer, an I/O callback, a phase: all of it is the tick. */
static void test_measures_the_worst_tick(void **state)
{
    struct world *w = *state;
    w->a.then = w->b.then = w->c.then = work_3ms;
    task_schedule(w->clock, &w->a.task);
    assert_tick(w, "a");
    assert_in_range(loop_worst_tick_us(w->loop), 3000, UINT64_MAX);
    timer_start(w->clock, &w->a.timer, 0);
    loop_schedule(w->loop, &w->b.io_task);
    task_schedule(w->clock, &w->c.task);
    assert_tick(w, "a b c");
    assert_in_range(loop_worst_tick_us(w->loop), 9000, UINT64_MAX);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct world *w = prepare->data;
    assert_int_equal(w->loop->busy_ns, 0); /* poll comes next, and may sleep */
}

static void test_does_not_count_the_time_in_poll(void **state)
{
    struct world *w = *state;
    uv_prepare_t prepare;
    uv_prepare_init(&w->rl.uv, &prepare);
    prepare.data = w;
    uv_prepare_start(&prepare, on_prepare);
    timer_start(w->clock, &w->a.timer, 0); /* comes before poll */
    task_schedule(w->clock, &w->b.task);
    assert_tick(w, "a b");
    uv_async_send(&w->io);
    assert_tick(w, "io a c b d");
    assert_tick(w, "");
    uv_close((uv_handle_t *)&prepare, NULL);
    real_loop_tick(&w->rl);
}

static void test_forgets_old_peaks(void **state)
{
    struct peak peak = {0};
    (void)state;
    assert_int_equal(peak_value(&peak, 1000 * 1000), 0);
    peak_note(&peak, 1000 * 1000, 7);
    peak_note(&peak, 1001 * 1000, 5);
    assert_int_equal(peak_value(&peak, 1001 * 1000), 7);
    assert_int_equal(peak_value(&peak, 1060 * 1000), 7); /* covers one minute */
    peak_note(&peak, 1060 * 1000, 6);
    assert_int_equal(peak_value(&peak, 1121 * 1000), 6); /* but not two */
    assert_int_equal(peak_value(&peak, 9999 * 1000), 0);
}

/* ---- lifetime ---- */

static void close_io(struct world *w)
{
    uv_close((uv_handle_t *)&w->io, NULL);
    real_loop_tick(&w->rl);
}

static void test_does_not_keep_libuv_alive(void **state)
{
    struct world *w = *state;
    close_io(w);
    assert_false(uv_loop_alive(&w->rl.uv));
    task_schedule(w->clock, &w->a.task);
    assert_true(uv_loop_alive(&w->rl.uv)); /* there is work */
    assert_tick(w, "a");
    assert_false(uv_loop_alive(&w->rl.uv));
    timer_start(w->clock, &w->b.timer, 1);
    assert_true(uv_loop_alive(&w->rl.uv)); /* a timer runs */
    uv_run(&w->rl.uv, UV_RUN_DEFAULT);
    assert_recorded(w, "b");
}

static void test_a_stopped_timer_does_not_keep_libuv_alive(void **state)
{
    struct world *w = *state;
    close_io(w);
    timer_start(w->clock, &w->a.timer, 3600 * 1000);
    timer_stop(w->clock, &w->a.timer);
    assert_false(uv_loop_alive(&w->rl.uv));
}

static void on_loop_closed(struct loop *loop)
{
    struct world *w = container_of(loop, struct world, rl.loop);
    buf_puts(&w->story, w->story.len ? " closed" : "closed");
    w->rl.closed = true;
}

/* For tests that close the loop themselves. */
static int teardown_closed(void **state)
{
    struct world *w = *state;
    assert_true(w->rl.closed);
    uv_close((uv_handle_t *)&w->io, NULL);
    uv_run(&w->rl.uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->rl.uv), 0);
    buf_free(&w->story);
    return 0;
}

static void test_close_waits_for_references(void **state)
{
    struct world *w = *state;
    loop_ref(w->loop);
    loop_ref(w->loop);
    loop_close(w->loop, on_loop_closed);
    assert_tick(w, "");
    loop_unref(w->loop);
    assert_tick(w, "");
    loop_unref(w->loop);
    assert_recorded(w, ""); /* never inside the call */
    assert_tick(w, "closed");
}

static void drop(struct actor *actor)
{
    loop_unref(actor->world->loop);
}

static void test_close_completes_after_the_last_deferred_free(void **state)
{
    struct world *w = *state;
    w->a.then = drop;
    loop_ref(w->loop);
    clock_free_later(w->clock, &w->a.deferred_free, on_free_deferred);
    loop_close(w->loop, on_loop_closed);
    assert_tick(w, "a closed");
}

static void test_close_runs_pending_work_first(void **state)
{
    struct world *w = *state;
    w->a.then = schedule_b;
    task_schedule(w->clock, &w->a.task);
    loop_schedule(w->loop, &w->c.io_task);
    loop_close(w->loop, on_loop_closed);
    assert_tick(w, "c a");
    assert_tick(w, "b closed");
}

static void test_close_ignores_released_references(void **state)
{
    struct world *w = *state;
    loop_ref(w->loop);
    loop_unref(w->loop);
    assert_tick(w, "");
    loop_close(w->loop, on_loop_closed);
    assert_tick(w, "closed");
}

#define CASE(test)         cmocka_unit_test_setup_teardown(test, setup, teardown)
#define CLOSING_CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown_closed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_runs_phases_in_order),
        CASE(test_a_flush_task_of_the_pump_runs_in_the_same_tick),
        CASE(test_a_pump_task_of_the_flush_runs_in_the_next_tick),
        CASE(test_scheduling_twice_runs_once),
        CASE(test_a_task_can_cancel_another_of_the_same_phase),
        CASE(test_a_deferred_free_may_schedule_another),
        CASE(test_a_task_that_reschedules_itself_runs_once_a_tick),
        CASE(test_an_io_task_that_reschedules_itself_runs_once_a_tick),
        CASE(test_fires_timers_in_the_order_of_their_due_times),
        CASE(test_restarts_a_running_timer),
        CASE(test_a_timer_that_restarts_itself_fires_once_a_tick),
        CASE(test_a_timer_can_stop_another),
        CASE(test_returns_the_wall_clock),
        CASE(test_each_phase_has_its_budget),
        CASE(test_postponed_tasks_run_first_in_the_next_tick),
        CASE(test_measures_the_worst_tick),
        CASE(test_does_not_count_the_time_in_poll),
        CASE(test_forgets_old_peaks),
        CASE(test_does_not_keep_libuv_alive),
        CASE(test_a_stopped_timer_does_not_keep_libuv_alive),
        CLOSING_CASE(test_close_waits_for_references),
        CLOSING_CASE(test_close_completes_after_the_last_deferred_free),
        CLOSING_CASE(test_close_runs_pending_work_first),
        CLOSING_CASE(test_close_ignores_released_references),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
