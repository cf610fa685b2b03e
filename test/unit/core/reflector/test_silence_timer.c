/*
 * test_silence_timer.c - how long silence is allowed, and what extends it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "core/reflector/silence_timer.h"
#include "sim.h"

struct world {
    struct sim sim;
    struct silence_timer timer;
    unsigned lost;
    uint64_t lasted_ms;
};

static void on_lost(struct silence_timer *p)
{
    struct world *w = container_of(p, struct world, timer);
    w->lost++;
    w->lasted_ms = silence_timer_lasted_ms(p);
}

static void world_init(struct world *w)
{
    *w = (struct world){.lost = 0};
    sim_init(&w->sim);
    silence_timer_init(&w->timer, &w->sim.clock, on_lost);
    silence_timer_start(&w->timer, 100);
}

static void assert_lost_after(struct world *w, uint64_t ms, uint64_t lasted_ms)
{
    sim_advance(&w->sim, ms - 1);
    assert_int_equal(w->lost, 0);
    sim_advance(&w->sim, 1);
    assert_int_equal(w->lost, 1);
    assert_int_equal(w->lasted_ms, lasted_ms);
    sim_advance(&w->sim, 1000);
    assert_int_equal(w->lost, 1); /* once */
    sim_done(&w->sim);
}

static void silence_up_to_the_limit_is_allowed(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    assert_lost_after(&w, 100, 100);
}

static void a_start_restarts_the_time(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    silence_timer_progress(&w.timer);
    sim_advance(&w.sim, 150); /* extended */
    silence_timer_start(&w.timer, 50);
    assert_lost_after(&w, 50, 50);
}

static void progress_extends_the_limit_once(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    for (int i = 0; i < 19; i++) {
        silence_timer_progress(&w.timer);
        sim_advance(&w.sim, 10);
    }
    assert_lost_after(&w, 10, 200);
}

static void a_stopped_timer_does_not_fire(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    silence_timer_stop(&w.timer);
    sim_advance(&w.sim, 1000);
    assert_int_equal(w.lost, 0);
    sim_done(&w.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_up_to_the_limit_is_allowed),
        cmocka_unit_test(a_start_restarts_the_time),
        cmocka_unit_test(progress_extends_the_limit_once),
        cmocka_unit_test(a_stopped_timer_does_not_fire),
    };
    return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
