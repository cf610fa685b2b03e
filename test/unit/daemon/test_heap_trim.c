/*
 * test_heap_trim.c - when memory is returned to the system, in virtual time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/heap_trim.h"
#include "sim.h"

#define MB ((size_t)1024 * 1024)

struct world {
    struct sim sim;
    struct heap_trim trim;
    size_t held, heap;
    uint64_t cost_us;
};

static size_t held(struct heap_trim *trim)
{
    return container_of(trim, struct world, trim)->held;
}

static size_t heap(struct heap_trim *trim)
{
    return container_of(trim, struct world, trim)->heap;
}

static uint64_t trim_fake(struct heap_trim *trim)
{
    return container_of(trim, struct world, trim)->cost_us;
}

static void start(struct world *w, size_t bytes)
{
    *w = (struct world){.trim = {.held = held, .trim = trim_fake, .heap = heap},
                        .held = bytes,
                        .heap = bytes,
                        .cost_us = 1000};
    sim_init(&w->sim);
    sim_advance(&w->sim, HEAP_TRIM_CHANGED_MS);
    heap_trim_init(&w->trim, &w->sim.clock);
    heap_trim_changed(&w->trim);
}

static void end(struct world *w)
{
    heap_trim_stop(&w->trim);
    heap_trim_hint(&w->trim);
    heap_trim_changed(&w->trim);
    assert_false(w->trim.timer.running || w->trim.burst.running);
    sim_done(&w->sim);
}

static void a_cache_whose_objects_come_and_go_is_not_trimmed(void **state)
{
    struct world w;
    (void)state;
    start(&w, 1000 * MB);
    for (int i = 0; i < 100; i++) {
        w.held += i % 2 ? 10 * MB : (size_t)0 - 9 * MB;
        heap_trim_hint(&w.trim);
        sim_advance(&w.sim, 1000);
    }
    assert_int_equal(w.trim.trims, 0);
    assert_false(w.trim.timer.running); /* no timer wakes the process */
    end(&w);
}

static void a_cache_that_shrinks_is_trimmed_until_it_has_settled(void **state)
{
    struct world w;
    uint64_t trims;
    (void)state;
    start(&w, 1000 * MB);
    w.held = 10 * MB;
    heap_trim_hint(&w.trim);
    sim_advance(&w.sim, HEAP_TRIM_CHECK_MS);
    assert_int_equal(w.trim.trims, 1);
    for (int i = 0; i < 100; i++) { /* deletions are still reported: their objects go after that */
        heap_trim_hint(&w.trim);
        sim_advance(&w.sim, 1000);
    }
    trims = w.trim.trims;
    assert_in_range(trims, 100 * 1000 / HEAP_TRIM_CHECK_MS - 10,
                    100 * 1000 / HEAP_TRIM_CHECK_MS + 10);
    sim_advance(&w.sim, 60 * 1000);
    assert_in_range(w.trim.trims - trims, 100, HEAP_TRIM_SETTLE_MS / HEAP_TRIM_CHECK_MS);
    assert_false(w.trim.timer.running);
    end(&w);
}

static void a_cache_that_shrinks_slowly_is_trimmed(void **state)
{
    struct world w;
    (void)state;
    start(&w, 100 * MB);
    for (int i = 0; i < 15; i++) {
        w.held -= MB;
        heap_trim_hint(&w.trim);
        sim_advance(&w.sim, 1000);
    }
    assert_int_equal(w.trim.trims, 0);
    w.held -= MB;
    heap_trim_hint(&w.trim);
    sim_advance(&w.sim, 1000);
    assert_true(w.trim.trims > 0);
    end(&w);
}

static void slow_trims_have_long_pauses(void **state)
{
    struct world w;
    (void)state;
    start(&w, 1000 * MB);
    w.held = 10 * MB;
    w.cost_us = 100 * 1000;
    heap_trim_hint(&w.trim);
    sim_advance(&w.sim, 60 * 1000);
    assert_in_range(w.trim.trims, 2, 4); /* each rests for twenty times as long as it took */
    end(&w);
}

static void change_for(struct world *w, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        sim_advance(&w->sim, 1000);
        heap_trim_changed(&w->trim);
    }
}

static void a_small_heap_is_trimmed_after_changes(void **state)
{
    struct world w;
    (void)state;
    start(&w, 10 * MB);
    change_for(&w, 60);
    assert_in_range(w.trim.trims, 5, 6);
    sim_advance(&w.sim, HEAP_TRIM_BURST_MS);
    assert_in_range(w.trim.trims, 6, 7);
    assert_false(w.trim.burst.running); /* no timer wakes the process */
    end(&w);
}

static void a_large_heap_is_not_trimmed_after_changes(void **state)
{
    struct world w;
    (void)state;
    start(&w, 10 * MB);
    w.heap = HEAP_TRIM_SMALL_BYTES + 1;
    change_for(&w, 60);
    assert_int_equal(w.trim.trims, 0);
    end(&w);
}

static void the_size_of_the_heap_is_measured(void **state)
{
    struct world w;
    (void)state;
    start(&w, 10 * MB);
    assert_true(heap_trim_malloc_size(&w.trim) < 1000 * MB);
    end(&w);
}

static void malloc_trim_returns_its_cpu_time(void **state)
{
    (void)state;
    assert_true(heap_trim_malloc(NULL) < UINT64_C(3600) * 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cache_whose_objects_come_and_go_is_not_trimmed),
        cmocka_unit_test(a_cache_that_shrinks_is_trimmed_until_it_has_settled),
        cmocka_unit_test(a_cache_that_shrinks_slowly_is_trimmed),
        cmocka_unit_test(slow_trims_have_long_pauses),
        cmocka_unit_test(a_small_heap_is_trimmed_after_changes),
        cmocka_unit_test(a_large_heap_is_not_trimmed_after_changes),
        cmocka_unit_test(the_size_of_the_heap_is_measured),
        cmocka_unit_test(malloc_trim_returns_its_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
