/*
 * test_output_file.c - a log file that is moved, removed, reopened, locked or rotated while it is written.
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
#include "output_world.h"

#define LINES "first line\nsecond line\nthird line\n"

static void a_file_that_was_moved_is_opened_anew(void **state)
{
    struct output_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    output_world_open(w, 0, 0);
    output_world_put(w, "1\n");
    rename(w->path, moved);
    sim_advance(&w->sim, OUTPUT_CHECK_MS);
    output_world_put(w, "2\n");
    assert_file(&w->folder, "moved", "1\n");
    assert_file(&w->folder, "log", "2\n");
    output_world_assert_said(w, "2 the file was moved or removed; reopening it\n");
    free(moved);
}

/* Less than a second after the last check. */
static void a_file_that_is_removed_between_two_writes_loses_nothing(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    output_world_put(w, "1\n");
    unlink(w->path);
    sim_advance(&w->sim, OUTPUT_LOOK_MS);
    output_world_put(w, "2\n");
    assert_file(&w->folder, "log", "2\n");
    output_world_assert_said(w, "2 the file was moved or removed; reopening it\n");
    assert_int_equal(w->removed, 0);
}

static void remove_before_second_write(struct fake_disk *disk, enum fake_call call)
{
    struct output_world *w = container_of(disk, struct output_world, disk);
    if (call == FAKE_WRITE && disk->calls[FAKE_WRITE] == 1)
        unlink(w->path);
}

/* What was written to it then can't be read any more: it is counted, and the rest goes to a new file. */
static void lines_written_to_a_removed_file_are_counted(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    w->disk.before_call = remove_before_second_write;
    output_world_put(w, "1\n");
    output_world_put(w, "2\n3\n");
    assert_int_equal(w->removed, 2);
    assert_file(&w->folder, "log", "");
    output_world_assert_said(w, "2 the file was moved or removed; reopening it\n"
                                "2 2 lines written after the file was removed are lost\n");
    output_world_put(w, "4\n");
    assert_file(&w->folder, "log", "4\n");
}

static void a_removed_file_is_noticed_before_it_is_reopened(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    w->disk.before_call = remove_before_second_write;
    output_world_put(w, "1\n");
    buf_puts(&w->output.collected, "2\n");
    output_flush(&w->output);
    output_reopen(&w->output);
    sim_run(&w->sim);
    assert_int_equal(w->removed, 1);
}

/* logrotate: the lines are in the moved file, and for up to a second go there. */
static void lines_in_a_moved_file_are_not_lost(void **state)
{
    struct output_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    output_world_open(w, 0, 0);
    output_world_put(w, "1\n");
    rename(w->path, moved);
    output_world_put(w, "2\n");
    sim_advance(&w->sim, OUTPUT_CHECK_MS);
    output_world_put(w, "3\n");
    assert_file(&w->folder, "moved", "1\n2\n");
    assert_file(&w->folder, "log", "3\n");
    assert_int_equal(w->removed, 0);
    free(moved);
}

static void reopened_when_asked(void **state)
{
    struct output_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    output_world_open(w, 0, 0);
    output_world_put(w, "1\n");
    rename(w->path, moved);
    output_reopen(&w->output);
    output_world_put(w, "2\n");
    assert_file(&w->folder, "moved", "1\n");
    assert_file(&w->folder, "log", "2\n");
    assert_int_equal(w->said.len, 0);
    free(moved);
}

/* The operator moves the file to where there is room: the torn line is whole in the new one. */
static void reopened_in_the_middle_of_a_line(void **state)
{
    struct output_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    output_world_open(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    output_world_put(w, LINES);
    rename(w->path, moved);
    w->disk.space = (size_t)-1;
    output_reopen(&w->output);
    sim_run(&w->sim);
    assert_file(&w->folder, "moved", "first line\n  \n");
    assert_file(&w->folder, "log", "second line\nthird line\n");
    free(moved);
}

/* Wherever the line is cut, the moved file has whole lines only, and the new one all of the line. */
static void a_moved_file_never_keeps_half_a_line(void **state)
{
    struct output_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    output_world_open(w, 0, 0);
    for (size_t n = 1; n < strlen(LINES); n++) {
        char *old, *new;
        w->disk.space = n;
        output_world_put(w, LINES);
        rename(w->path, moved);
        w->disk.space = (size_t)-1;
        output_reopen(&w->output);
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
        output_reopen(&w->output);
        sim_run(&w->sim);
    }
    free(moved);
}

/* copytruncate: the bytes at the offset of our half line are not ours any more. */
static void a_file_that_others_wrote_to_is_not_blanked(void **state)
{
    struct output_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    output_world_open(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    output_world_put(w, LINES);
    rename(w->path, moved);
    folder_write(&w->folder, "moved", "a line of another process\n");
    w->disk.space = (size_t)-1;
    output_reopen(&w->output);
    sim_run(&w->sim);
    assert_file(&w->folder, "moved", "a line of another process\n");
    assert_file(&w->folder, "log", "second line\nthird line\n");
    free(moved);
}

static void half_a_line_that_can_t_be_blanked_is_reported(void **state)
{
    struct output_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    output_world_open(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    output_world_put(w, LINES);
    output_world_assert_said(
        w, "3 No space left on device; lines are buffered, retrying until it works\n");
    rename(w->path, moved);
    w->disk.space = (size_t)-1;
    w->disk.fail[FAKE_WRITE] = UV_EIO;
    w->disk.times[FAKE_WRITE] = 1;
    output_reopen(&w->output);
    sim_run(&w->sim);
    output_world_assert_said(
        w, "2 the previous file ends with an incomplete line: Input/output error\n"
           "1 writable again; no change was lost\n");
    assert_file(&w->folder, "moved", "first line\nsec");
    assert_file(&w->folder, "log", "second line\nthird line\n");
    free(moved);
}

static void closed_in_the_middle_of_a_line(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    output_world_put(w, LINES);
    w->disk.space = 100;
    output_close(&w->output);
    sim_run(&w->sim);
    assert_true(w->closed);
    assert_file(&w->folder, "log", "first line\n  \n");
}

/* Lines wait, and not a byte of the file is touched. */
static void a_log_that_is_locked_is_held_and_retried(void **state)
{
    struct output_world *w = *state;
    int fd;
    folder_write(&w->folder, "log", "theirs, and torn");
    fd = open(w->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    output_world_open(w, 0, 0);
    output_world_put(w, "1\n");
    assert_true(w->output.failing);
    output_world_assert_said(
        w, "3 another event log of this process has locked the file; lines are buffered, retrying "
           "until it works\n");
    sim_advance(&w->sim, 60000);
    output_world_assert_said(w, "");
    assert_file(&w->folder, "log", "theirs, and torn");
    close(fd);
    sim_advance(&w->sim, 30000);
    output_world_assert_said(w, "1 writable again; no change was lost\n");
    assert_file(&w->folder, "log", "                \n1\n");
}

static void rotated_between_lines(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 10, 3);
    output_world_put(w, "aaa\nbbb\nccc\n");
    output_world_put(w, "ddd\n");
    output_world_put(w, "a line that is longer than a file\ne\n");
    assert_file(&w->folder, "log.3", "aaa\nbbb\n");
    assert_file(&w->folder, "log.2", "ccc\nddd\n");
    assert_file(&w->folder, "log.1", "a line that is longer than a file\n");
    assert_file(&w->folder, "log", "e\n");
    assert_int_equal(w->output.rotations, 3);
    output_change(&w->output, &(struct output_settings){.rotate_size = 0});
    output_world_put(w, "ffffffffffff\n");
    assert_file(&w->folder, "log", "e\nffffffffffff\n");
}

static void a_line_cut_by_a_full_disk_is_finished_before_rotating(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 8, 1);
    w->disk.space = 6;
    output_world_put(w, "aaa\nbbb\nccc\n");
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, 1000);
    assert_file(&w->folder, "log.1", "aaa\nbbb\n");
    assert_file(&w->folder, "log", "ccc\n");
}

static void what_can_t_be_rotated_grows(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 4, 1);
    w->disk.fail[FAKE_RENAME] = UV_EACCES;
    output_world_put(w, "1\n2\n3\n4\n");
    output_world_put(w, "5\n");
    assert_file(&w->folder, "log", "1\n2\n3\n4\n5\n");
    output_world_assert_said(w, "3 rotation failed: Permission denied; the file keeps growing\n");
    w->disk.fail[FAKE_RENAME] = 0;
    sim_advance(&w->sim, OUTPUT_ROTATE_AGAIN_MS);
    output_world_put(w, "6\n");
    assert_file(&w->folder, "log.1", "1\n2\n3\n4\n5\n");
    assert_file(&w->folder, "log", "6\n");
}

/* Each try would shift the old logs by one number, and destroy one. */
static void a_rotation_that_keeps_failing_is_reported_once_and_keeps_the_old_logs(void **state)
{
    struct output_world *w = *state;
    folder_write(&w->folder, "log.1", "old\n");
    folder_write(&w->folder, "log.2", "older\n");
    output_world_open(w, 4, 2);
    w->disk.fail[FAKE_RENAME] = UV_EACCES;
    w->disk.skip[FAKE_RENAME] = 1;
    output_world_put(w, "1\n2\n3\n4\n");
    for (int i = 0; i < 3; i++) {
        sim_advance(&w->sim, OUTPUT_ROTATE_AGAIN_MS);
        output_world_put(w, "more\n");
    }
    output_world_assert_said(w, "3 rotation failed: Permission denied; the file keeps growing\n");
    assert_int_equal(w->output.rotations, 0);
    w->disk.fail[FAKE_RENAME] = 0;
    sim_advance(&w->sim, OUTPUT_ROTATE_AGAIN_MS);
    output_world_put(w, "5\n");
    output_world_assert_said(w, "1 rotated again; no rotated file was lost\n");
    assert_int_equal(w->output.rotations, 1);
    assert_file(&w->folder, "log", "5\n");
    assert_file(&w->folder, "log.1", "1\n2\n3\n4\nmore\nmore\nmore\n");
    assert_file(&w->folder, "log.2", "old\n");
    assert_file(&w->folder, "log.oldest", "older\n"); /* undoing failed as well */
}

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, output_world_set_up, output_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_file_that_was_moved_is_opened_anew),
        IN_WORLD(a_file_that_is_removed_between_two_writes_loses_nothing),
        IN_WORLD(lines_written_to_a_removed_file_are_counted),
        IN_WORLD(a_removed_file_is_noticed_before_it_is_reopened),
        IN_WORLD(lines_in_a_moved_file_are_not_lost),
        IN_WORLD(reopened_when_asked),
        IN_WORLD(reopened_in_the_middle_of_a_line),
        IN_WORLD(a_moved_file_never_keeps_half_a_line),
        IN_WORLD(a_file_that_others_wrote_to_is_not_blanked),
        IN_WORLD(half_a_line_that_can_t_be_blanked_is_reported),
        IN_WORLD(closed_in_the_middle_of_a_line),
        IN_WORLD(a_log_that_is_locked_is_held_and_retried),
        IN_WORLD(rotated_between_lines),
        IN_WORLD(a_line_cut_by_a_full_disk_is_finished_before_rotating),
        IN_WORLD(what_can_t_be_rotated_grows),
        IN_WORLD(a_rotation_that_keeps_failing_is_reported_once_and_keeps_the_old_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
