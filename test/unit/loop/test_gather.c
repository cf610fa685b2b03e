/*
 * test_gather.c - when streams are gathered, in virtual time: the rate at which it starts and ends, which
 * streams take part, and how long data waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "loop/gather.h"
#include "sim.h"

enum {
    INTERVAL = 5,
    WINDOW = INTERVAL * GATHER_WINDOW
};

/* A stream to which data arrives. It is delivered at once, or when it is read. */
struct source {
    struct gathered gathered;
    struct gather *gather;
    bool held;
    bool leaves; /* in read() */
    unsigned waiting, delivered, wakeups, reads;
};

struct world {
    struct sim sim;
    struct gather gather;
    struct source a, b;
};

static void on_hold(struct gathered *gathered, bool held)
{
    struct source *s = container_of(gathered, struct source, gathered);
    assert_true(s->held != held);
    s->held = held;
    if (!held) { /* the kernel reports at once what is there */
        s->delivered += s->waiting;
        s->waiting = 0;
    }
}

static bool on_read(struct gathered *gathered)
{
    struct source *s = container_of(gathered, struct source, gathered);
    unsigned waiting = s->waiting;
    s->delivered += waiting;
    s->waiting = 0;
    s->reads++;
    if (s->leaves)
        gather_leave(s->gather, gathered);
    return waiting;
}

static const struct gathered_ops ops = {.hold = on_hold, .read = on_read};

static int set_up(void **state)
{
    static struct world w;
    w = (struct world){.a.gather = &w.gather, .b.gather = &w.gather};
    sim_init(&w.sim);
    sim_advance(&w.sim, 1000);
    gather_init(&w.gather, &w.sim.clock);
    gather_set_interval(&w.gather, INTERVAL);
    gathered_init(&w.a.gathered, &ops);
    gathered_init(&w.b.gathered, &ops);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    gather_leave(&w->gather, &w->a.gathered);
    gather_leave(&w->gather, &w->b.gathered);
    sim_done(&w->sim);
    return 0;
}

static void arrive(struct source *s)
{
    if (s->held) {
        s->waiting++;
        return;
    }
    s->delivered++;
    s->wakeups++;
    gather_note_wakeup(s->gather, &s->gathered);
}

/* Something arrives every @every_ms, for @ms. */
static void run(struct world *w, struct source *s, uint64_t every_ms, uint64_t ms)
{
    for (uint64_t at = 0; at < ms; at += every_ms) {
        arrive(s);
        sim_advance(&w->sim, every_ms);
    }
}

static void slow_streams_are_never_held(void **state)
{
    struct world *w = *state;
    run(w, &w->a, INTERVAL, 5000); /* 200 a second */
    assert_int_equal(w->a.wakeups, 1000);
    assert_false(w->a.held);
}

static void a_burst_is_not_delayed(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 50; i++) {
        run(w, &w->a, 1, GATHER_WAKEUPS - 1);
        sim_advance(&w->sim, WINDOW);
    }
    assert_int_equal(w->a.wakeups, 50 * (GATHER_WAKEUPS - 1));
}

static void fast_streams_are_read_at_intervals(void **state)
{
    struct world *w = *state;
    run(w, &w->a, 1, 1000);
    assert_int_equal(w->a.wakeups, GATHER_WAKEUPS);
    assert_in_range(w->a.reads, 195, 200);
    assert_in_range(w->a.waiting, 0, INTERVAL);
    assert_int_equal(w->a.delivered + w->a.waiting, 1000);
}

static void data_waits_for_one_interval_at_most(void **state)
{
    struct world *w = *state;
    run(w, &w->a, 1, 100);
    assert_true(w->a.held);
    for (int i = 0; i < 100; i++) {
        arrive(&w->a);
        sim_advance(&w->sim, INTERVAL);
        assert_int_equal(w->a.waiting, 0);
    }
}

static void ends_when_less_arrives(void **state)
{
    struct world *w = *state;
    run(w, &w->a, 1, 100);
    run(w, &w->a, 3 * INTERVAL, 3 * WINDOW);
    assert_false(w->a.held);
    w->a.wakeups = 0;
    run(w, &w->a, 3 * INTERVAL, 30 * INTERVAL);
    assert_int_equal(w->a.wakeups, 10);
}

static void ends_when_nothing_arrives(void **state)
{
    struct world *w = *state;
    run(w, &w->a, 1, 100);
    sim_advance(&w->sim, 3 * WINDOW);
    assert_false(w->a.held);
    assert_in_range(w->a.reads, 1,
                    3 * GATHER_WINDOW); /* and the timer has stopped: see tear_down() */
}

/* Two streams that are slow alone wake the loop often together. */
static void the_rate_of_all_streams_counts(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 250; i++) {
        arrive(&w->a);
        sim_advance(&w->sim, 2);
        arrive(&w->b);
        sim_advance(&w->sim, 2);
    }
    assert_true(w->a.held && w->b.held);
    assert_in_range(w->a.wakeups + w->b.wakeups, GATHER_WAKEUPS, GATHER_WAKEUPS + 2);
}

static void a_slow_stream_beside_a_fast_one_is_not_held(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 20; i++) {
        arrive(&w->b);
        run(w, &w->a, 1, WINDOW + 10);
    }
    assert_true(w->a.held);
    assert_false(w->b.held);
    assert_int_equal(w->b.wakeups, 20);
}

static void a_silent_stream_beside_a_fast_one_leaves(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 50; i++) {
        arrive(&w->b);
        run(w, &w->a, 1, 2);
    }
    assert_true(w->b.held);
    run(w, &w->a, 1, WINDOW + INTERVAL);
    assert_true(w->a.held);
    assert_false(w->b.held);
}

static void a_stream_may_be_closed_while_it_is_read(void **state)
{
    struct world *w = *state;
    w->a.leaves = true;
    run(w, &w->a, 1, 30);
    assert_in_range(w->a.reads, 1, 2);
    assert_int_equal(w->a.delivered + w->a.waiting, 30);
}

static void an_interval_of_zero_releases_all(void **state)
{
    struct world *w = *state;
    run(w, &w->a, 1, 100);
    assert_true(w->a.held);
    gather_set_interval(&w->gather, 0);
    assert_false(w->a.held);
    w->a.wakeups = 0;
    run(w, &w->a, 1, 1000);
    assert_int_equal(w->a.wakeups, 1000);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(slow_streams_are_never_held),
        IN_WORLD(a_burst_is_not_delayed),
        IN_WORLD(fast_streams_are_read_at_intervals),
        IN_WORLD(data_waits_for_one_interval_at_most),
        IN_WORLD(ends_when_less_arrives),
        IN_WORLD(ends_when_nothing_arrives),
        IN_WORLD(the_rate_of_all_streams_counts),
        IN_WORLD(a_slow_stream_beside_a_fast_one_is_not_held),
        IN_WORLD(a_silent_stream_beside_a_fast_one_leaves),
        IN_WORLD(a_stream_may_be_closed_while_it_is_read),
        IN_WORLD(an_interval_of_zero_releases_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
