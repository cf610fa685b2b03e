/*
 * test_sync_progress.c - when the progress of a list is shown, and its text: count, rate and bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/watch/sync_progress.h"
#include "sim.h"

struct world {
    struct sim sim;
    struct sync_progress progress;
    struct sync_progress_state state;
    char shown[128]; /* "": nothing */
    unsigned times;
};

static void on_read(struct sync_progress *progress, struct sync_progress_state *ret)
{
    *ret = container_of(progress, struct world, progress)->state;
}

static void on_show(struct sync_progress *progress, const char *text)
{
    struct world *w = container_of(progress, struct world, progress);
    snprintf(w->shown, sizeof(w->shown), "%s", text ? text : "");
    w->times++;
}

static const struct sync_progress_ops ops = {.read = on_read, .show = on_show};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    sync_progress_start(&w->progress, &ops, &w->sim.clock);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    sync_progress_stop(&w->progress);
    sim_done(&w->sim);
    free(w);
    return 0;
}

static void assert_text(struct world *w, uint64_t objects, uint64_t bytes, const char *expected)
{
    w->state = (struct sync_progress_state){.name = "pods", .objects = objects, .bytes = bytes};
    sim_advance(&w->sim, SYNC_PROGRESS_EACH_MS);
    assert_string_equal(w->shown, expected);
}

static void shows_nothing_in_the_first_half_second(void **state)
{
    struct world *w = *state;
    w->state = (struct sync_progress_state){.name = "pods", .objects = 1, .bytes = 2};
    sim_advance(&w->sim, 499);
    assert_int_equal(w->times, 0);
    sim_advance(&w->sim, 1);
    assert_string_equal(w->shown, "pods: 1 object, 2/s, 2 B");
}

static void shows_nothing_without_a_list(void **state)
{
    struct world *w = *state;
    sim_advance(&w->sim, 500);
    assert_string_equal(w->shown, "");
    assert_text(w, 3, 999, "pods: 3 objects, 4/s, 999 B");
    assert_text(w, 0, 0, "");
}

static void updates_five_times_a_second(void **state)
{
    struct world *w = *state;
    sim_advance(&w->sim, 500);
    w->times = 0;
    sim_advance(&w->sim, 1000);
    assert_int_equal(w->times, 5);
}

static void measures_the_rate_of_the_last_two_seconds(void **state)
{
    struct world *w = *state;
    w->state = (struct sync_progress_state){.name = "pods", .objects = 4100, .bytes = 20000000};
    sim_advance(&w->sim, 500);
    assert_string_equal(w->shown, "pods: 4,100 objects, 8,200/s, 20 MB");
    for (uint64_t i = 1; i < SYNC_PROGRESS_SAMPLES; i++) {
        w->state = (struct sync_progress_state){
            .name = "pods", .objects = 4100 + i * 20, .bytes = 61000000};
        sim_advance(&w->sim, SYNC_PROGRESS_EACH_MS);
    }
    assert_text(w, 4100 + 200, 61000000, "pods: 4,300 objects, 100/s, 61 MB");
}

static void measures_from_scratch_when_a_list_starts_again(void **state)
{
    struct world *w = *state;
    w->state = (struct sync_progress_state){.name = "pods", .objects = 5000, .bytes = 1400000};
    sim_advance(&w->sim, 500);
    assert_text(w, 10, 9999, "pods: 10 objects, 0/s, 9.9 kB");
    assert_text(w, 20, 10000, "pods: 20 objects, 50/s, 10 kB");
}

static void groups_digits_and_scales_bytes(void **state)
{
    struct world *w = *state;
    sim_advance(&w->sim, 60 * 1000 + 500);
    w->progress.n_samples = 0;
    assert_text(w, 1234567, 1000, "pods: 1,234,567 objects, 0/s, 1.0 kB");
    assert_text(w, 1234567, 999999, "pods: 1,234,567 objects, 0/s, 999 kB");
    assert_text(w, 1234567, 1000000, "pods: 1,234,567 objects, 0/s, 1.0 MB");
    assert_text(w, 1234567, UINT64_C(1400000000), "pods: 1,234,567 objects, 0/s, 1.4 GB");
    assert_text(w, 1234567, UINT64_C(12345000000000000), "pods: 1,234,567 objects, 0/s, 12345 TB");
}

static void counts_other_watches(void **state)
{
    struct world *w = *state;
    w->state = (struct sync_progress_state){.name = "pods", .others = 2, .objects = 5, .bytes = 7};
    sim_advance(&w->sim, 500);
    assert_string_equal(w->shown, "pods and 2 more: 5 objects, 10/s, 7 B");
}

static void shows_nothing_after_it_was_stopped(void **state)
{
    struct world *w = *state;
    w->state = (struct sync_progress_state){.name = "pods", .objects = 1, .bytes = 2};
    sim_advance(&w->sim, 500);
    sync_progress_stop(&w->progress);
    assert_string_equal(w->shown, "");
    w->times = 0;
    sim_advance(&w->sim, 1000);
    assert_int_equal(w->times, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(shows_nothing_in_the_first_half_second),
        TEST(shows_nothing_without_a_list),
        TEST(updates_five_times_a_second),
        TEST(measures_the_rate_of_the_last_two_seconds),
        TEST(measures_from_scratch_when_a_list_starts_again),
        TEST(groups_digits_and_scales_bytes),
        TEST(counts_other_watches),
        TEST(shows_nothing_after_it_was_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
