/*
 * test_output_health.c - how an output says it is doing: how long its lines have waited, and when that is too long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/journal/output.h"
#include "fake_disk.h"
#include "folder.h"

struct world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    struct output output;
    char *path;
    struct buf said;
    bool closed;
};

static struct world *world_of(struct output *output)
{
    return container_of(output, struct world, output);
}

static void on_hold(struct output *output, bool hold)
{
    (void)output;
    (void)hold;
}

static void on_idle(struct output *output)
{
    (void)output;
}

static void on_say(struct output *output, enum inf_log_level level, const char *line)
{
    buf_printf(&world_of(output)->said, "%d %s\n", (int)level, strstr(line, "/log: ") + 6);
}

static void on_lost(struct output *output, int error)
{
    (void)output;
    fail_msg("lost: %d", error);
}

static void on_closed(struct output *output)
{
    world_of(output)->closed = true;
}

static void on_dropped(struct output *output, uint64_t lines)
{
    (void)output;
    (void)lines;
}

static void on_removed(struct output *output, uint64_t lines)
{
    (void)output;
    (void)lines;
}

static const struct output_events events = {on_hold,   on_idle,    on_say,    on_lost,
                                            on_closed, on_dropped, on_removed};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    w->disk.frozen = false;
    output_close(&w->output);
    sim_run(&w->sim);
    assert_true(w->closed);
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    buf_free(&w->said);
    free(w->path);
    free(w);
    return 0;
}

static void put(struct world *w, const char *lines)
{
    buf_puts(&w->output.collected, lines);
    output_flush(&w->output);
    sim_run(&w->sim);
}

static void assert_said(struct world *w, const char *expected)
{
    buf_putc(&w->said, '\0');
    assert_string_equal(w->said.bytes, expected);
    buf_clear(&w->said);
}

static struct output_status status_of(const struct world *w)
{
    struct output_status status;
    output_status(&w->output, &status);
    return status;
}

static void open_output(struct world *w, uint64_t ms)
{
    output_init(&w->output, &w->sim.clock, &w->disk.disk,
                &(struct output_settings){.path = w->path, .stuck_after_ms = ms}, &events);
    sim_run(&w->sim);
}

static void the_oldest_line_has_an_age(void **state)
{
    struct world *w = *state;
    open_output(w, 30000);
    assert_string_equal(status_of(w).state, "writable");
    assert_true(status_of(w).oldest_ms == OUTPUT_NONE);
    w->disk.frozen = true;
    put(w, "1\n");
    sim_advance(&w->sim, 1000);
    put(w, "2\n");
    sim_advance(&w->sim, 1000);
    buf_puts(&w->output.collected, "3\n");
    output_wait(&w->output); /* its number is not reserved */
    sim_advance(&w->sim, 1000);
    assert_int_equal(status_of(w).oldest_ms, 3000);
    assert_int_equal(status_of(w).unwritten, 6);
    assert_int_equal(output_unwritten_lines(&w->output), 3);
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_int_equal(status_of(w).oldest_ms, 1000); /* the third one's */
    output_flush(&w->output);
    sim_run(&w->sim);
    assert_true(status_of(w).oldest_ms == OUTPUT_NONE);
    assert_string_equal(status_of(w).state, "writable");
}

static void lines_that_wait_for_too_long_are_reported_once(void **state)
{
    struct world *w = *state;
    open_output(w, 30000);
    w->disk.frozen = true;
    put(w, "1\n");
    sim_advance(&w->sim, 29999);
    assert_false(status_of(w).stuck);
    assert_int_equal(w->said.len, 0);
    sim_advance(&w->sim, 1);
    assert_true(status_of(w).stuck);
    assert_string_equal(status_of(w).state, "stuck");
    assert_said(w, "3 not written for 30 s: the file operation does not complete; 2 bytes "
                   "are buffered, and informerd is not ready\n");
    sim_advance(&w->sim, 600000);
    put(w, "2\n");
    assert_int_equal(w->said.len, 0);
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_said(w, "1 no longer stuck\n");
    assert_false(status_of(w).stuck);
}

/* Lines that come one after the other never make it stuck, as long as each is written in time. */
static void a_slow_output_that_keeps_up_is_not_stuck(void **state)
{
    struct world *w = *state;
    open_output(w, 30000);
    for (int i = 0; i < 20; i++) {
        w->disk.frozen = true;
        put(w, "1\n");
        sim_advance(&w->sim, 20000);
        w->disk.frozen = false;
        sim_run(&w->sim);
    }
    assert_int_equal(w->said.len, 0);
}

static void a_file_that_fails_is_stuck_though_no_line_waits(void **state)
{
    struct world *w = *state;
    w->disk.fail[FAKE_OPEN] = UV_EACCES;
    open_output(w, 5000);
    assert_string_equal(status_of(w).state, "failing");
    assert_string_equal(status_of(w).reason, "Permission denied");
    assert_false(status_of(w).stuck);
    sim_advance(&w->sim, 5000);
    assert_true(status_of(w).stuck);
    assert_int_equal(status_of(w).unable_ms, 5000);
    output_change(&w->output, &(struct output_settings){.stuck_after_ms = 0});
    assert_false(status_of(w).stuck);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_oldest_line_has_an_age),
        IN_WORLD(lines_that_wait_for_too_long_are_reported_once),
        IN_WORLD(a_slow_output_that_keeps_up_is_not_stuck),
        IN_WORLD(a_file_that_fails_is_stuck_though_no_line_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
