/*
 * test_timers.c - the order of timers, and timers that change others when they fire.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/timers.h"

struct world;

/* A timer with a name, which is recorded when it fires, and an action of the test. */
struct bell {
    struct timer timer;
    struct world *world;
    char name;
    void (*then)(struct bell *bell); /* may be NULL */
};

struct world {
    struct timers timers;
    struct bell a, b, c;
    struct buf story;
};

static void ring(struct timer *timer)
{
    struct bell *bell = container_of(timer, struct bell, timer);
    assert_false(timer->running);
    buf_putc(&bell->world->story, bell->name);
    if (bell->then)
        bell->then(bell);
}

static void bell_init(struct bell *bell, struct world *w, char name)
{
    *bell = (struct bell){.timer = {.fire = ring}, .world = w, .name = name};
}

static int setup(void **state)
{
    static struct world w;
    timers_init(&w.timers);
    bell_init(&w.a, &w, 'a');
    bell_init(&w.b, &w, 'b');
    bell_init(&w.c, &w, 'c');
    *state = &w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    buf_free(&w->story);
    return 0;
}

static void start(struct bell *bell, uint64_t due_ms)
{
    timers_add(&bell->world->timers, &bell->timer, due_ms);
}

static void stop(struct bell *bell)
{
    timers_remove(&bell->world->timers, &bell->timer);
}

/* At @now_ms the timers @expected fire, in this order. */
static void assert_fires(struct world *w, uint64_t now_ms, const char *names)
{
    buf_clear(&w->story);
    timers_fire(&w->timers, now_ms);
    assert_int_equal(w->story.len, strlen(names));
    if (w->story.len)
        assert_memory_equal(w->story.bytes, names, w->story.len);
}

static void assert_next_due(const struct world *w, uint64_t due_ms)
{
    assert_true(timers_next_due(&w->timers) == due_ms);
}

static void without_timers_none_is_due(void **state)
{
    struct world *w = *state;
    assert_next_due(w, TIMERS_NONE);
    assert_fires(w, UINT64_MAX, "");
}

static void fires_in_the_order_of_due_times(void **state)
{
    struct world *w = *state;
    start(&w->a, 30);
    start(&w->b, 10);
    start(&w->c, 20);
    assert_next_due(w, 10);
    assert_fires(w, 9, "");
    assert_fires(w, 10, "b");
    assert_next_due(w, 20);
    assert_fires(w, 100, "ca");
    assert_next_due(w, TIMERS_NONE);
}

static void equal_due_times_fire_in_the_order_of_starting(void **state)
{
    struct world *w = *state;
    start(&w->c, 10);
    start(&w->a, 10);
    start(&w->b, 10);
    stop(&w->c);
    start(&w->c, 10); /* restarted: after the others */
    assert_fires(w, 10, "abc");
}

static void a_stopped_timer_does_not_fire(void **state)
{
    struct world *w = *state;
    start(&w->a, 10);
    start(&w->b, 10);
    stop(&w->a);
    assert_false(w->a.timer.running);
    stop(&w->a); /* harmless */
    stop(&w->c); /* was never started */
    assert_fires(w, 10, "b");
}

static void start_again_now(struct bell *bell)
{
    start(bell, bell->timer.due_ms);
}

/* A timer that restarts itself with zero delay can't block the loop. */
static void a_timer_started_while_firing_waits_for_the_next_call(void **state)
{
    struct world *w = *state;
    w->a.then = start_again_now;
    start(&w->a, 10);
    start(&w->b, 10);
    assert_fires(w, 10, "ab");
    assert_next_due(w, 10);
    assert_fires(w, 10, "a");
    w->a.then = NULL;
    assert_fires(w, 10, "a");
    assert_next_due(w, TIMERS_NONE);
}

static void start_later(struct bell *bell)
{
    start(bell, bell->timer.due_ms + 10);
}

static void a_timer_can_restart_itself(void **state)
{
    struct world *w = *state;
    w->a.then = start_later;
    start(&w->a, 10);
    start(&w->b, 20);
    assert_fires(w, 10, "a");
    assert_fires(w, 20, "ba"); /* b was started before a was started again */
    assert_fires(w, 30, "a");
    stop(&w->a);
}

static void start_c_now(struct bell *bell)
{
    start(&bell->world->c, bell->timer.due_ms);
}

static void a_timer_can_start_another(void **state)
{
    struct world *w = *state;
    w->a.then = start_c_now;
    start(&w->a, 10);
    start(&w->b, 10);
    assert_fires(w, 10, "ab");
    assert_fires(w, 10, "c");
}

static void stop_b_and_itself(struct bell *bell)
{
    stop(&bell->world->b);
    stop(bell);
}

static void a_timer_can_stop_another_that_is_due(void **state)
{
    struct world *w = *state;
    w->a.then = stop_b_and_itself;
    start(&w->a, 10);
    start(&w->b, 10);
    start(&w->c, 10);
    assert_fires(w, 10, "ac");
    assert_next_due(w, TIMERS_NONE);
}

static void forget(struct bell *bell)
{
    memset(&bell->timer, 0xa5, sizeof(bell->timer)); /* as after free(): the owner may do that */
}

static void its_memory_may_be_freed_while_it_fires(void **state)
{
    struct world *w = *state;
    w->a.then = forget;
    start(&w->a, 10);
    start(&w->b, 10);
    assert_fires(w, 10, "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_timers_none_is_due, setup, teardown),
        cmocka_unit_test_setup_teardown(fires_in_the_order_of_due_times, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_due_times_fire_in_the_order_of_starting, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_stopped_timer_does_not_fire, setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_started_while_firing_waits_for_the_next_call, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_timer_can_restart_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_can_start_another, setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_can_stop_another_that_is_due, setup, teardown),
        cmocka_unit_test_setup_teardown(its_memory_may_be_freed_while_it_fires, setup, teardown),
    };
    return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
