/*
 * test_sink_file.c - a log file that is moved, removed, reopened, locked or rotated while it is written.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "event_log_world.h"

static void open_rotating(struct event_log_world *w, uint64_t size, unsigned keep)
{
    event_log_world_open(w,
                         (struct event_log_settings){.sink = {.rotate_size = size, .keep = keep}});
}

#define LINES "first line\nsecond line\nthird line\n"

static void a_moved_file_is_reopened_within_a_second(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    event_log_world_put(w, "1\n");
    event_log_world_move_file(w);
    sim_advance(&w->sim, SINK_FILE_CHECK_MS);
    event_log_world_put(w, "2\n");
    assert_file(&w->folder, "moved", "1\n");
    assert_file(&w->folder, "log", "2\n");
    event_log_world_assert_logged(w, "2 the file was moved or removed; reopening it\n");
}

/* Less than a second after the last check of the path. */
static void a_file_removed_between_two_writes_loses_nothing(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    event_log_world_put(w, "1\n");
    unlink(w->path);
    sim_advance(&w->sim, SINK_FILE_LOOK_MS);
    event_log_world_put(w, "2\n");
    assert_file(&w->folder, "log", "2\n");
    event_log_world_assert_logged(w, "2 the file was moved or removed; reopening it\n");
    assert_int_equal(w->recorder.removed, 0);
}

static void remove_before_second_write(struct fake_disk *disk, enum fake_call call)
{
    struct event_log_world *w = container_of(disk, struct event_log_world, disk);
    if (call == FAKE_WRITE && disk->calls[FAKE_WRITE] == 1)
        unlink(w->path);
}

/* Lines in a removed file can't be read any more: they are counted, and the rest goes to a new file. */
static void lines_written_to_a_removed_file_are_counted(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.before_call = remove_before_second_write;
    event_log_world_put(w, "1\n");
    event_log_world_put(w, "2\n3\n");
    assert_int_equal(w->recorder.removed, 2);
    assert_file(&w->folder, "log", "");
    event_log_world_assert_logged(w, "2 the file was moved or removed; reopening it\n"
                                     "2 2 lines written after the file was removed are lost\n");
    event_log_world_put(w, "4\n");
    assert_file(&w->folder, "log", "4\n");
}

static void lines_in_a_removed_file_are_counted_before_it_is_reopened(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.before_call = remove_before_second_write;
    event_log_world_put(w, "1\n");
    buf_puts(&w->log.collected, "2\n");
    event_log_flush(&w->log);
    event_log_reopen(&w->log);
    sim_run(&w->sim);
    assert_int_equal(w->recorder.removed, 1);
}

/* logrotate: for up to a second, lines are still written to the moved file. */
static void lines_in_a_moved_file_are_not_lost(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    event_log_world_put(w, "1\n");
    event_log_world_move_file(w);
    event_log_world_put(w, "2\n");
    sim_advance(&w->sim, SINK_FILE_CHECK_MS);
    event_log_world_put(w, "3\n");
    assert_file(&w->folder, "moved", "1\n2\n");
    assert_file(&w->folder, "log", "3\n");
    assert_int_equal(w->recorder.removed, 0);
}

static void reopens_on_request(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    event_log_world_put(w, "1\n");
    event_log_world_move_file(w);
    event_log_reopen(&w->log);
    event_log_world_put(w, "2\n");
    assert_file(&w->folder, "moved", "1\n");
    assert_file(&w->folder, "log", "2\n");
    event_log_world_assert_logged(w, "1 reopened\n"); /* once */
}

/* The operator moves the file because the disk is full. */
static void a_line_cut_by_reopening_is_written_whole_to_the_new_file(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.space = strlen("first line\nsec");
    event_log_world_put(w, LINES);
    event_log_world_move_file(w);
    w->disk.space = (size_t)-1;
    event_log_reopen(&w->log);
    sim_run(&w->sim);
    assert_file(&w->folder, "moved", "first line\n  \n");
    assert_file(&w->folder, "log", "second line\nthird line\n");
}

/* Wherever the line is cut, the moved file has whole lines only, and the new one the complete line. */
static void a_moved_file_never_keeps_an_incomplete_line(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    for (size_t n = 1; n < strlen(LINES); n++) {
        char *old, *new;
        w->disk.space = n;
        event_log_world_put(w, LINES);
        event_log_world_move_file(w);
        w->disk.space = (size_t)-1;
        event_log_reopen(&w->log);
        sim_run(&w->sim);
        old = folder_read(&w->folder, "moved");
        new = folder_read(&w->folder, "log");
        assert_int_equal(strlen(old), n);
        assert_int_equal(old[n - 1], '\n');
        assert_memory_equal(old, LINES, strlen(LINES) - strlen(new));
        assert_string_equal(new, &LINES[strlen(LINES) - strlen(new)]);
        assert_int_equal(strspn(old + strlen(LINES) - strlen(new), " \n"),
                         n - (strlen(LINES) - strlen(new)));
        free(old);
        free(new);
        unlink(w->path);
        event_log_reopen(&w->log);
        sim_run(&w->sim);
    }
}

/* copytruncate: the bytes at the offset of our incomplete line are of another process. */
static void a_file_that_another_process_wrote_to_is_not_blanked(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.space = strlen("first line\nsec");
    event_log_world_put(w, LINES);
    event_log_world_move_file(w);
    folder_write(&w->folder, "moved", "a line of another process\n");
    w->disk.space = (size_t)-1;
    event_log_reopen(&w->log);
    sim_run(&w->sim);
    assert_file(&w->folder, "moved", "a line of another process\n");
    assert_file(&w->folder, "log", "second line\nthird line\n");
}

static void an_incomplete_line_that_can_t_be_blanked_is_reported(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.space = strlen("first line\nsec");
    event_log_world_put(w, LINES);
    event_log_world_assert_logged(
        w, "3 No space left on device; lines are buffered, retrying until it works\n");
    event_log_world_move_file(w);
    w->disk.space = (size_t)-1;
    w->disk.fail[FAKE_WRITE] = -EIO;
    w->disk.times[FAKE_WRITE] = 1;
    event_log_reopen(&w->log);
    sim_run(&w->sim);
    event_log_world_assert_logged(
        w, "2 the previous file ends with an incomplete line: Input/output error\n"
           "1 reopened\n"
           "1 writable again; no change was lost\n");
    assert_file(&w->folder, "moved", "first line\nsec");
    assert_file(&w->folder, "log", "second line\nthird line\n");
}

static void closing_blanks_an_incomplete_line(void **state)
{
    struct event_log_world *w = *state;
    event_log_world_open(w, (struct event_log_settings){0});
    w->disk.space = strlen("first line\nsec");
    event_log_world_put(w, LINES);
    w->disk.space = 100;
    event_log_close(&w->log);
    sim_run(&w->sim);
    assert_true(w->recorder.closed);
    assert_file(&w->folder, "log", "first line\n  \n");
}

static void a_locked_file_is_retried_and_not_touched(void **state)
{
    struct event_log_world *w = *state;
    int fd;
    folder_write(&w->folder, "log", "theirs, incomplete");
    fd = open(w->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    event_log_world_open(w, (struct event_log_settings){0});
    event_log_world_put(w, "1\n");
    assert_true(event_log_is_failing(&w->log));
    event_log_world_assert_logged(
        w, "3 another event log of this process has locked the file; lines are buffered, retrying "
           "until it works\n");
    sim_advance(&w->sim, 60000);
    event_log_world_assert_logged(w, "");
    assert_file(&w->folder, "log", "theirs, incomplete");
    close(fd);
    sim_advance(&w->sim, 30000);
    event_log_world_assert_logged(w, "1 writable again; no change was lost\n");
    assert_file(&w->folder, "log", "                  \n1\n");
}

static void rotates_between_lines(void **state)
{
    struct event_log_world *w = *state;
    open_rotating(w, 10, 3);
    event_log_world_put(w, "aaa\nbbb\nccc\n");
    event_log_world_put(w, "ddd\n");
    event_log_world_put(w, "a line that is longer than a file\ne\n");
    assert_file(&w->folder, "log.3", "aaa\nbbb\n");
    assert_file(&w->folder, "log.2", "ccc\nddd\n");
    assert_file(&w->folder, "log.1", "a line that is longer than a file\n");
    assert_file(&w->folder, "log", "e\n");
    assert_int_equal(w->log.sink->rotations, 3);
    event_log_configure(&w->log, &(struct event_log_settings){0}, NULL, NULL);
    event_log_world_put(w, "ffffffffffff\n");
    assert_file(&w->folder, "log", "e\nffffffffffff\n");
}

static void a_line_cut_by_a_full_disk_is_finished_before_rotating(void **state)
{
    struct event_log_world *w = *state;
    open_rotating(w, 8, 1);
    w->disk.space = 6;
    event_log_world_put(w, "aaa\nbbb\nccc\n");
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, 1000);
    assert_file(&w->folder, "log.1", "aaa\nbbb\n");
    assert_file(&w->folder, "log", "ccc\n");
}

static void a_file_that_can_t_be_rotated_grows(void **state)
{
    struct event_log_world *w = *state;
    open_rotating(w, 4, 1);
    w->disk.fail[FAKE_RENAME] = -EACCES;
    event_log_world_put(w, "1\n2\n3\n4\n");
    event_log_world_put(w, "5\n");
    assert_file(&w->folder, "log", "1\n2\n3\n4\n5\n");
    event_log_world_assert_logged(w,
                                  "3 rotation failed: Permission denied; the file keeps growing\n");
    w->disk.fail[FAKE_RENAME] = 0;
    sim_advance(&w->sim, SINK_FILE_ROTATE_AGAIN_MS);
    event_log_world_put(w, "6\n");
    assert_file(&w->folder, "log.1", "1\n2\n3\n4\n5\n");
    assert_file(&w->folder, "log", "6\n");
}

/* If each attempt renamed the rotated files, one of them would be lost each time. */
static void a_rotation_that_keeps_failing_is_reported_once_and_keeps_the_rotated_files(void **state)
{
    struct event_log_world *w = *state;
    folder_write(&w->folder, "log.1", "old\n");
    folder_write(&w->folder, "log.2", "older\n");
    open_rotating(w, 4, 2);
    w->disk.fail[FAKE_RENAME] = -EACCES;
    w->disk.skip[FAKE_RENAME] = 1;
    event_log_world_put(w, "1\n2\n3\n4\n");
    for (int i = 0; i < 3; i++) {
        sim_advance(&w->sim, SINK_FILE_ROTATE_AGAIN_MS);
        event_log_world_put(w, "more\n");
    }
    event_log_world_assert_logged(w,
                                  "3 rotation failed: Permission denied; the file keeps growing\n");
    assert_int_equal(w->log.sink->rotations, 0);
    w->disk.fail[FAKE_RENAME] = 0;
    sim_advance(&w->sim, SINK_FILE_ROTATE_AGAIN_MS);
    event_log_world_put(w, "5\n");
    event_log_world_assert_logged(w, "1 rotated again; no rotated file was lost\n");
    assert_int_equal(w->log.sink->rotations, 1);
    assert_file(&w->folder, "log", "5\n");
    assert_file(&w->folder, "log.1", "1\n2\n3\n4\nmore\nmore\nmore\n");
    assert_file(&w->folder, "log.2", "old\n");
    assert_file(&w->folder, "log.oldest", "older\n"); /* undoing failed as well */
}

static int set_up_on_a_local_disk(void **state)
{
    int rc = event_log_world_set_up(state);
    ((struct event_log_world *)*state)->disk.local = true;
    return rc;
}

/* The number of names is known without waiting. */
#define ON_A_LOCAL_DISK(test)                                                                   \
    {                                                                                           \
#test "_on_a_local_disk", test, set_up_on_a_local_disk, event_log_world_tear_down, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_LOCAL_DISK(a_moved_file_is_reopened_within_a_second),
        ON_A_LOCAL_DISK(a_file_removed_between_two_writes_loses_nothing),
        ON_A_LOCAL_DISK(lines_written_to_a_removed_file_are_counted),
        ON_A_LOCAL_DISK(lines_in_a_removed_file_are_counted_before_it_is_reopened),
        IN_EVENT_LOG_WORLD(a_moved_file_is_reopened_within_a_second),
        IN_EVENT_LOG_WORLD(a_file_removed_between_two_writes_loses_nothing),
        IN_EVENT_LOG_WORLD(lines_written_to_a_removed_file_are_counted),
        IN_EVENT_LOG_WORLD(lines_in_a_removed_file_are_counted_before_it_is_reopened),
        IN_EVENT_LOG_WORLD(lines_in_a_moved_file_are_not_lost),
        IN_EVENT_LOG_WORLD(reopens_on_request),
        IN_EVENT_LOG_WORLD(a_line_cut_by_reopening_is_written_whole_to_the_new_file),
        IN_EVENT_LOG_WORLD(a_moved_file_never_keeps_an_incomplete_line),
        IN_EVENT_LOG_WORLD(a_file_that_another_process_wrote_to_is_not_blanked),
        IN_EVENT_LOG_WORLD(an_incomplete_line_that_can_t_be_blanked_is_reported),
        IN_EVENT_LOG_WORLD(closing_blanks_an_incomplete_line),
        IN_EVENT_LOG_WORLD(a_locked_file_is_retried_and_not_touched),
        IN_EVENT_LOG_WORLD(rotates_between_lines),
        IN_EVENT_LOG_WORLD(a_line_cut_by_a_full_disk_is_finished_before_rotating),
        IN_EVENT_LOG_WORLD(a_file_that_can_t_be_rotated_grows),
        IN_EVENT_LOG_WORLD(
            a_rotation_that_keeps_failing_is_reported_once_and_keeps_the_rotated_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
