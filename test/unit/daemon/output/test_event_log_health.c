/*
 * test_event_log_health.c - the status of an event log: how long its lines have waited, and when it is stuck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "event_log_world.h"

static struct event_log_status status_of(const struct event_log_world *w)
{
    struct event_log_status status;
    event_log_status(&w->log, &status);
    return status;
}

static void open_log(struct event_log_world *w, uint64_t stuck_after_ms)
{
    event_log_world_open(w, (struct event_log_settings){.stuck_after_ms = stuck_after_ms});
}

static void the_status_has_the_age_of_the_oldest_line(void **state)
{
    struct event_log_world *w = *state;
    open_log(w, 30000);
    assert_string_equal(status_of(w).state, "writable");
    assert_true(status_of(w).oldest_ms == EVENT_LOG_NONE);
    w->disk.frozen = true;
    event_log_world_put(w, "1\n");
    sim_advance(&w->sim, 1000);
    event_log_world_put(w, "2\n");
    sim_advance(&w->sim, 1000);
    buf_puts(&w->log.collected, "3\n");
    event_log_defer(&w->log); /* its number is not reserved */
    sim_advance(&w->sim, 1000);
    assert_int_equal(status_of(w).oldest_ms, 3000);
    assert_int_equal(status_of(w).unwritten, 6);
    assert_int_equal(event_log_unwritten_lines(&w->log), 3);
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_int_equal(status_of(w).oldest_ms, 1000); /* of the third line */
    event_log_flush(&w->log);
    sim_run(&w->sim);
    assert_true(status_of(w).oldest_ms == EVENT_LOG_NONE);
    assert_string_equal(status_of(w).state, "writable");
}

static void lines_that_wait_too_long_are_reported_once(void **state)
{
    struct event_log_world *w = *state;
    open_log(w, 30000);
    w->disk.frozen = true;
    event_log_world_put(w, "1\n");
    sim_advance(&w->sim, 29999);
    assert_false(status_of(w).stuck);
    assert_int_equal(w->recorder.logged.len, 0);
    sim_advance(&w->sim, 1);
    assert_true(status_of(w).stuck);
    assert_string_equal(status_of(w).state, "stuck");
    event_log_world_assert_logged(
        w, "3 not written for 30 s: the file operation does not complete; 2 bytes "
           "are buffered, and informerd is not ready\n");
    sim_advance(&w->sim, 600000);
    event_log_world_put(w, "2\n");
    assert_int_equal(w->recorder.logged.len, 0);
    w->disk.frozen = false;
    sim_run(&w->sim);
    event_log_world_assert_logged(w, "1 no longer stuck\n");
    assert_false(status_of(w).stuck);
}

static void a_slow_log_that_keeps_up_is_not_stuck(void **state)
{
    struct event_log_world *w = *state;
    open_log(w, 30000);
    for (int i = 0; i < 20; i++) {
        w->disk.frozen = true;
        event_log_world_put(w, "1\n");
        sim_advance(&w->sim, 20000);
        w->disk.frozen = false;
        sim_run(&w->sim);
    }
    assert_int_equal(w->recorder.logged.len, 0);
}

static void a_failing_log_is_stuck_even_if_no_line_waits(void **state)
{
    struct event_log_world *w = *state;
    w->disk.fail[FAKE_OPEN] = -EACCES;
    open_log(w, 5000);
    assert_string_equal(status_of(w).state, "failing");
    assert_string_equal(status_of(w).reason, "Permission denied");
    assert_false(status_of(w).stuck);
    sim_advance(&w->sim, 5000);
    assert_true(status_of(w).stuck);
    assert_int_equal(status_of(w).unable_ms, 5000);
    event_log_configure(&w->log, &(struct event_log_settings){.stuck_after_ms = 0}, NULL, NULL);
    assert_false(status_of(w).stuck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_EVENT_LOG_WORLD(the_status_has_the_age_of_the_oldest_line),
        IN_EVENT_LOG_WORLD(lines_that_wait_too_long_are_reported_once),
        IN_EVENT_LOG_WORLD(a_slow_log_that_keeps_up_is_not_stuck),
        IN_EVENT_LOG_WORLD(a_failing_log_is_stuck_even_if_no_line_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
