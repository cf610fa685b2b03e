/*
 * test_event_log_restore.c - a log continues after a crash: lines of the previous run are written unless
 * the file has them already.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/str.h"
#include "core/state/state.h"
#include "event_log_world.h"

#define OLD     "line 1\nline 2\n"
#define PENDING "line 3\nline 4\nline 5\n"

struct restore_world {
    struct event_log_world *w;
    struct fake_disk disk; /* of the state */
    struct inf_state *state;
    unsigned keep; /* rotated files; 0: one */
};

static struct inf_state *open_state(struct restore_world *r)
{
    char *dir = folder_file(&r->w->folder, "state");
    struct inf_state_settings settings = {.dir = dir};
    struct siphash_key key = {1, 2};
    struct inf_error err;
    struct inf_state *state =
        state_new(&r->disk.disk, &r->w->sim.clock, &key, &settings, NULL, NULL, &err);
    assert_non_null(state);
    free(dir);
    sim_run(&r->w->sim);
    return state;
}

/* A state in which the queue of the log has PENDING, and none of it is confirmed. */
static int set_up(void **state)
{
    struct restore_world *r = calloc(1, sizeof(*r));
    event_log_world_set_up((void **)&r->w);
    fake_disk_init(&r->disk, &r->w->sim);
    r->state = open_state(r);
    inf_state_queue_add(inf_state_queue(r->state, "log"), PENDING, strlen(PENDING));
    inf_state_close(r->state, NULL, NULL);
    sim_run(&r->w->sim);
    r->state = open_state(r);
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct restore_world *r = *state;
    r->w->disk.frozen = false;
    if (!r->w->recorder.closed)
        event_log_close(&r->w->log);
    sim_run(&r->w->sim);
    inf_state_close(r->state, NULL, NULL);
    sim_run(&r->w->sim);
    fake_disk_done(&r->disk);
    event_log_world_tear_down((void **)&r->w);
    free(r);
    return 0;
}

#define RESTORED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Opens the log as the next run does. @ahead_from: 0, or the first number that the state does not have. */
static void restore_ahead(struct restore_world *r, uint64_t ahead_from)
{
    struct event_log_world *w = r->w;
    struct event_log_settings settings = {.sink = {.target = w->path, .keep = r->keep}};
    event_log_init(&w->log, &w->sim.clock, &w->disk.disk, NULL, w->path,
                   &event_log_recorder_events);
    w->log.owner = &w->recorder;
    event_log_configure(&w->log, &settings, NULL, NULL);
    event_log_restore(&w->log, inf_state_queue(r->state, "log"));
    if (ahead_from)
        event_log_restore_ahead(&w->log, "id", ahead_from);
    event_log_begin(&w->log);
    sim_run(&w->sim);
}

static void restore(struct restore_world *r)
{
    restore_ahead(r, 0);
}

/* The queue has nothing left that the log has not written. */
static void assert_confirmed(struct restore_world *r)
{
    const char *bytes;
    size_t len;
    uint64_t end;
    assert_false(inf_state_queue_pending(inf_state_queue(r->state, "log"), &bytes, &len, &end));
}

/* covers: crash/batch-written crash/lines-writing crash/lines-written */
static void a_crash_at_any_byte_leaves_each_line_once(void **state)
{
    (void)state;
    for (size_t written = 0; written <= strlen(PENDING); written++) {
        struct restore_world *r;
        char text[64];
        void *world;
        set_up(&world);
        r = world;
        snprintf(text, sizeof(text), OLD "%.*s", (int)written, PENDING);
        folder_write(&r->w->folder, "log", text);
        restore(r);
        assert_file(&r->w->folder, "log", OLD PENDING);
        assert_confirmed(r);
        tear_down(&world);
    }
}

static void a_disk_that_is_full_in_the_middle_of_a_restored_line(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log", OLD "line 3\nli");
    w->disk.space = 3;
    restore(r);
    assert_file(&w->folder, "log", OLD "line 3\nline ");
    w->disk.space = SIZE_MAX;
    sim_advance(&w->sim, EVENT_LOG_RETRY_MAX_MS);
    assert_file(&w->folder, "log", OLD PENDING);
}

/* covers: crash/log-rotated */
static void lines_in_the_newest_rotated_file_count(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log.1", OLD "line 3\n");
    folder_write(&w->folder, "log", "line 4\n");
    restore(r);
    assert_file(&w->folder, "log.1", OLD "line 3\n");
    assert_file(&w->folder, "log", "line 4\nline 5\n");
}

/* A rotation at a small size: more than one since the state has confirmed a line. */
static void lines_in_older_rotated_files_count(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    r->keep = 5;
    folder_write(&w->folder, "log.4", OLD);
    folder_write(&w->folder, "log.3", "line 3\n");
    folder_write(&w->folder, "log.2", "line 4\n");
    folder_write(&w->folder, "log.1", "line 5\n");
    folder_write(&w->folder, "log", "");
    restore(r);
    assert_file(&w->folder, "log", "");
    assert_confirmed(r);
}

/* log.1 is log.2 already, and log is not log.1 yet. */
static void a_crash_between_the_renames_of_a_rotation(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    r->keep = 5;
    folder_write(&w->folder, "log.2", OLD "line 3\n");
    folder_write(&w->folder, "log", "line 4\n");
    restore(r);
    assert_file(&w->folder, "log", "line 4\nline 5\n");
}

/* log.1 is log.oldest; an earlier configuration kept two files. */
static void a_crash_before_the_oldest_file_is_removed(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log.2", OLD);
    folder_write(&w->folder, "log.oldest", "line 3\n");
    folder_write(&w->folder, "log", "line 4\n");
    restore(r);
    assert_file(&w->folder, "log", "line 4\nline 5\n");
}

/* The only rotated file that is kept has a later line. */
static void lines_that_rotations_have_removed_count(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log.1", "line 4\n");
    folder_write(&w->folder, "log", "li");
    restore(r);
    assert_file(&w->folder, "log", "line 5\n");
    event_log_world_assert_logged(w, "1 writing 5 bytes that the previous run did not write\n");
}

/* It may be of another user. */
static void an_older_rotated_file_that_cannot_be_read(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    r->keep = 5;
    folder_write(&w->folder, "log.1", "line 3\n");
    folder_write(&w->folder, "log.2", OLD);
    folder_write(&w->folder, "log", "line 4\n");
    w->disk.skip[FAKE_READ] = 2;
    w->disk.fail[FAKE_READ] = -EIO;
    w->disk.times[FAKE_READ] = 1;
    restore(r);
    assert_file(&w->folder, "log", "line 4\nline 5\n");
}

/* informerd rotates the log; before, logrotate did. */
static void numbers_are_newer_than_dates(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log-20261117", OLD);
    folder_write(&w->folder, "log.1", "line 3\n");
    folder_write(&w->folder, "log", "line 4\n");
    restore(r);
    assert_file(&w->folder, "log", "line 4\nline 5\n");
}

/* logrotate with `dateext`: after the crash, lines that are in the moved file would be written again. */
static void lines_in_a_file_that_was_rotated_by_date_count(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log-20261117", OLD);
    folder_write(&w->folder, "log-20261118", OLD "line 3\n");
    folder_write(&w->folder, "log", "line 4\n");
    restore(r);
    assert_file(&w->folder, "log-20261118", OLD "line 3\n");
    assert_file(&w->folder, "log", "line 4\nline 5\n");
}

/* covers: crash/log-moved */
static void a_log_without_files_gets_all_lines(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    restore(r);
    assert_file(&w->folder, "log", PENDING);
    event_log_world_assert_logged(w, "1 writing 21 bytes that the previous run did not write\n");
}

/* Of another writer, or of an older run. It is blanked, as without lines to restore. */
static void an_incomplete_line_of_another_origin_is_blanked(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log", OLD "strange");
    restore(r);
    assert_file(&w->folder, "log", OLD "       \n" PENDING);
}

/* As a failing disk may leave it, after lines that were written. */
static void lines_before_a_strange_end_count(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log", OLD "line 3\nstrange");
    restore(r);
    assert_file(&w->folder, "log", OLD "line 3\n       \nline 4\nline 5\n");
}

/* The repaired end of an earlier run is between them. */
static void blank_lines_do_not_count(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log", OLD "line 3\n       \nline 4\n   \n");
    restore(r);
    assert_file(&w->folder, "log", OLD "line 3\n       \nline 4\n   \nline 5\n");
}

/* A power loss has left less of the state than of the log. */
static void lines_before_other_lines_count(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log", OLD PENDING "line 6\n");
    restore(r);
    assert_file(&w->folder, "log", OLD PENDING "line 6\n");
}

/* The end of the log is read for what a power loss has left of it. */
static void without_lines_nothing_is_written(void **state)
{
    struct restore_world *r = *state;
    struct inf_state_queue *queue = inf_state_queue(r->state, "log");
    inf_state_queue_confirm(queue, inf_state_queue_end(queue));
    folder_write(&r->w->folder, "log", OLD);
    restore_ahead(r, 7);
    assert_file(&r->w->folder, "log", OLD);
}

static void reading_the_end_is_retried(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log", OLD "line 3\n");
    w->disk.fail[FAKE_READ] = -EIO;
    w->disk.times[FAKE_READ] = 1;
    restore(r);
    assert_file(&w->folder, "log", OLD "line 3\n");
    sim_advance(&w->sim, EVENT_LOG_RETRY_MIN_MS);
    assert_file(&w->folder, "log", OLD PENDING);
}

static void closing_while_the_end_is_read(void **state)
{
    struct restore_world *r = *state;
    struct event_log_world *w = r->w;
    folder_write(&w->folder, "log", OLD);
    w->disk.frozen = true;
    restore(r);
    assert_int_equal(w->log.sm.state, EVENT_LOG_RECALLING);
    event_log_close(&w->log);
    assert_int_equal(w->recorder.dropped, 3);
    assert_false(w->recorder.closed); /* not while an operation is in flight */
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_true(w->recorder.closed);
    assert_file(&w->folder, "log", OLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_at_any_byte_leaves_each_line_once),
        RESTORED(a_disk_that_is_full_in_the_middle_of_a_restored_line),
        RESTORED(lines_in_the_newest_rotated_file_count),
        RESTORED(lines_in_older_rotated_files_count),
        RESTORED(a_crash_between_the_renames_of_a_rotation),
        RESTORED(a_crash_before_the_oldest_file_is_removed),
        RESTORED(lines_that_rotations_have_removed_count),
        RESTORED(an_older_rotated_file_that_cannot_be_read),
        RESTORED(numbers_are_newer_than_dates),
        RESTORED(lines_in_a_file_that_was_rotated_by_date_count),
        RESTORED(a_log_without_files_gets_all_lines),
        RESTORED(an_incomplete_line_of_another_origin_is_blanked),
        RESTORED(lines_before_a_strange_end_count),
        RESTORED(blank_lines_do_not_count),
        RESTORED(lines_before_other_lines_count),
        RESTORED(without_lines_nothing_is_written),
        RESTORED(reading_the_end_is_retried),
        RESTORED(closing_while_the_end_is_read),
    };
    return cmocka_run_group_tests_name("event_log_restore", tests, NULL, NULL);
}
