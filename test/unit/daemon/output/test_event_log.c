/*
 * test_event_log.c - lines through a sink that is slow, full or fails: each line is written once, whole, in
 * order.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "event_log_world.h"

static void lines_collected_meanwhile_are_written_at_once(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    buf_puts(&w->log.collected, "1\n");
    buf_puts(&w->log.collected, "2\n");
    assert_false(event_log_is_idle(&w->log));
    event_log_flush(&w->log);
    event_log_world_put(w, "3\n"); /* while the first is in flight */
    assert_file(&w->folder, "log", "1\n2\n3\n");
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2);
    assert_true(event_log_is_idle(&w->log));
    assert_int_equal(w->log.bytes, 6);
}

/* The disk reports the end of a write only when it is collected. */
static void the_next_lines_collect_the_end_of_a_write(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.lazy = true;
    event_log_world_put(w, "1\n");
    assert_false(event_log_is_idle(&w->log));
    event_log_world_put(w, "2\n");
    assert_file(&w->folder, "log", "1\n2\n");
    assert_int_equal(w->log.bytes, 2);
    event_log_collect(&w->log);
    sim_run(&w->sim);
    assert_int_equal(w->log.bytes, 4);
    assert_true(event_log_is_idle(&w->log));
}

static void a_write_in_progress_is_awaited(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.frozen = true;
    event_log_world_put(w, "1\n");
    event_log_world_put(w, "2\n");
    event_log_collect(&w->log);
    assert_int_equal(w->log.bytes, 0);
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_file(&w->folder, "log", "1\n2\n");
    assert_int_equal(w->log.bytes, 4);
}

static void a_finished_log_collects_its_last_write(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.lazy = true;
    event_log_world_put(w, "1\n");
    event_log_finish(&w->log);
    sim_run(&w->sim);
    assert_true(w->recorder.closed);
    assert_int_equal(w->recorder.dropped, 0);
}

static void lines_that_are_not_released_are_not_written(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.frozen = true;
    event_log_world_put(w, "1\n");
    event_log_world_put(w, "2\n");
    buf_puts(&w->log.collected, "3\n"); /* its number is not reserved yet */
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_file(&w->folder, "log", "1\n2\n");
    assert_int_equal(event_log_unwritten(&w->log), 2);
    event_log_flush(&w->log);
    sim_run(&w->sim);
    assert_file(&w->folder, "log", "1\n2\n3\n");
}

static void holds_above_the_high_mark_and_resumes_below_the_low_mark(void **state)
{
    struct event_log_world *w = *state;
    char *block = malloc(EVENT_LOG_HIGH);
    memset(block, 'x', EVENT_LOG_HIGH);
    block[EVENT_LOG_HIGH - 2] = '\n';
    block[EVENT_LOG_HIGH - 1] = '\0';
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.frozen = true;
    event_log_world_put(w, block); /* in flight */
    assert_string_equal(w->recorder.holds, "");
    event_log_world_put(w, block);
    assert_string_equal(w->recorder.holds, "");
    event_log_world_put(w, "\n");
    assert_string_equal(w->recorder.holds, "H");
    assert_true(event_log_has_room(&w->log));
    event_log_world_put(w, block);
    event_log_world_put(w, "\n");
    assert_false(event_log_has_room(&w->log));
    assert_string_equal(w->recorder.holds, "H");
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_string_equal(w->recorder.holds, "HR");
    assert_true(event_log_is_idle(&w->log));
    free(block);
}

#define LINES "first line\nsecond line\nthird line\n"

static void a_full_disk_at_every_byte_loses_and_repeats_nothing(void **state)
{
    static const int errors[] = {-ENOSPC, -EIO, -EDQUOT, -EFBIG};
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    for (size_t n = 0; n < strlen(LINES); n++) {
        folder_write(&w->folder, "log", "");
        w->disk.space = n;
        w->disk.space_error = errors[n % ARRAY_LEN(errors)];
        event_log_world_put(w, LINES);
        assert_true(event_log_is_failing(&w->log));
        event_log_world_put(w, "later\n");
        sim_advance(&w->sim, 500);
        w->disk.space = (size_t)-1;
        sim_advance(&w->sim, 31000);
        assert_false(event_log_is_failing(&w->log));
        assert_file(&w->folder, "log", LINES "later\n");
    }
    assert_int_equal(w->log.failures, strlen(LINES));
}

static void a_failure_and_its_end_are_reported_once(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.space = 3;
    event_log_world_put(w, LINES);
    event_log_world_assert_logged(
        w, "3 No space left on device; lines are buffered, retrying until it works\n");
    sim_advance(&w->sim, 1000 + 2000 + 4000 + 8000 + 16000 + 30000 + 30000);
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2 + 7);
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, 30000);
    event_log_world_assert_logged(w, "1 writable again; no change was lost\n");
    assert_file(&w->folder, "log", LINES);
}

static void retries_until_the_directory_exists(void **state)
{
    struct event_log_world *w = *state;
    char *dir = folder_file(&w->folder, "dir");
    free(w->path);
    w->path = folder_file(&w->folder, "dir/log");
    event_log_world_open(w, (struct event_log_settings){0});
    event_log_world_put(w, "1\n");
    event_log_world_assert_logged(
        w, "3 its directory does not exist; lines are buffered, retrying until it works\n");
    mkdir(dir, 0700);
    sim_advance(&w->sim, 2000);
    assert_file(&w->folder, "dir/log", "1\n");
    event_log_world_assert_logged(w, "1 writable again; no change was lost\n");
    free(dir);
}

static void writes_to_an_inherited_descriptor_and_leaves_it_open(void **state)
{
    struct event_log_world *w = *state;
    int ends[2];
    char text[8] = {0};
    assert_int_equal(pipe(ends), 0);
    event_log_world_open(w,
                         (struct event_log_settings){.sink = {.target = "stdout", .fd = ends[1]}});
    event_log_world_put(w, "one\n");
    event_log_close(&w->log);
    sim_run(&w->sim);
    assert_int_equal(read(ends[0], text, sizeof(text)), 4);
    assert_string_equal(text, "one\n");
    assert_int_equal(close(ends[1]), 0);
    close(ends[0]);
}

static void the_first_failure_of_a_descriptor_is_final(void **state)
{
    struct event_log_world *w = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    event_log_world_open(w,
                         (struct event_log_settings){.sink = {.target = "stdout", .fd = ends[1]}});
    w->disk.fail[FAKE_WRITE] = -EAGAIN; /* another process made it non-blocking: only wait */
    event_log_world_put(w, "1\n");
    assert_int_equal(w->recorder.lost, 0);
    w->disk.fail[FAKE_WRITE] = -EPIPE;
    sim_advance(&w->sim, EVENT_LOG_AGAIN_MS);
    assert_int_equal(w->recorder.lost, -EPIPE);
    event_log_world_put(w, "2\n");
    assert_true(event_log_is_idle(&w->log));
    event_log_reopen(&w->log); /* stays as it is */
    close(ends[0]);
    close(ends[1]);
}

static void can_be_closed_while_a_write_is_in_flight(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.frozen = true;
    event_log_world_put(w, "1\n"); /* and the tear-down closes it */
}

static void can_be_closed_while_it_fails(void **state)
{
    struct event_log_world *w = *state;
    w->disk.fail[FAKE_OPEN] = -EMFILE;
    event_log_world_open(w, (struct event_log_settings){0});
    event_log_world_put(w, "1\n");
    assert_true(event_log_is_failing(&w->log));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_EVENT_LOG_WORLD(lines_collected_meanwhile_are_written_at_once),
        IN_EVENT_LOG_WORLD(the_next_lines_collect_the_end_of_a_write),
        IN_EVENT_LOG_WORLD(a_write_in_progress_is_awaited),
        IN_EVENT_LOG_WORLD(a_finished_log_collects_its_last_write),
        IN_EVENT_LOG_WORLD(lines_that_are_not_released_are_not_written),
        IN_EVENT_LOG_WORLD(holds_above_the_high_mark_and_resumes_below_the_low_mark),
        IN_EVENT_LOG_WORLD(a_full_disk_at_every_byte_loses_and_repeats_nothing),
        IN_EVENT_LOG_WORLD(a_failure_and_its_end_are_reported_once),
        IN_EVENT_LOG_WORLD(retries_until_the_directory_exists),
        IN_EVENT_LOG_WORLD(writes_to_an_inherited_descriptor_and_leaves_it_open),
        IN_EVENT_LOG_WORLD(the_first_failure_of_a_descriptor_is_final),
        IN_EVENT_LOG_WORLD(can_be_closed_while_a_write_is_in_flight),
        IN_EVENT_LOG_WORLD(can_be_closed_while_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
