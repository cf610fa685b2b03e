/*
 * test_output.c - lines through a disk that is slow, full, moved or gone: each is there once, whole,
 * in order.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/output.h"
#include "fake_disk.h"
#include "folder.h"

struct world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    struct output output;
    char *path;
    struct buf said;
    char holds[64]; /* "H" and "R" */
    int idle;
    int lost;
    bool closed;
    uint64_t dropped; /* lines */
};

static struct world *world_of(struct output *output)
{
    return container_of(output, struct world, output);
}

static void on_hold(struct output *output, bool hold)
{
    struct world *w = world_of(output);
    strcat(w->holds, hold ? "H" : "R"); /* NOLINT: a few */
}

static void on_idle(struct output *output)
{
    world_of(output)->idle++;
}

static void on_say(struct output *output, enum inf_log_level level, const char *line)
{
    const char *told = strstr(line, "/log: ");
    buf_printf(&world_of(output)->said, "%d %s\n", (int)level, told ? told + 6 : line);
}

static void on_lost(struct output *output, int error)
{
    world_of(output)->lost = error;
}

static void on_closed(struct output *output)
{
    world_of(output)->closed = true;
}

static void on_dropped(struct output *output, uint64_t lines)
{
    world_of(output)->dropped += lines;
}

static const struct output_events events = {on_hold, on_idle,   on_say,
                                            on_lost, on_closed, on_dropped};

static void open_output(struct world *w, uint64_t rotate_size, unsigned keep)
{
    output_init(
        &w->output, &w->sim.clock, &w->disk.disk,
        &(struct output_settings){.path = w->path, .rotate_size = rotate_size, .keep = keep},
        &events);
    sim_run(&w->sim);
}

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
    if (!w->closed)
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

static void one_write_for_what_was_collected(void **state)
{
    struct world *w = *state;
    open_output(w, 0, 0);
    buf_puts(&w->output.collected, "1\n");
    buf_puts(&w->output.collected, "2\n");
    assert_false(output_idle(&w->output));
    output_flush(&w->output);
    put(w, "3\n"); /* while the first is in flight */
    assert_file(&w->folder, "log", "1\n2\n3\n");
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2);
    assert_true(output_idle(&w->output));
    assert_int_equal(w->output.bytes, 6);
}

static void what_is_not_cleared_stays(void **state)
{
    struct world *w = *state;
    open_output(w, 0, 0);
    w->disk.frozen = true;
    put(w, "1\n");
    put(w, "2\n");
    buf_puts(&w->output.collected, "3\n"); /* its number is not reserved yet */
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_file(&w->folder, "log", "1\n2\n");
    assert_int_equal(output_unwritten(&w->output), 2);
    output_flush(&w->output);
    sim_run(&w->sim);
    assert_file(&w->folder, "log", "1\n2\n3\n");
}

static void marks(void **state)
{
    struct world *w = *state;
    char *block = malloc(OUTPUT_HIGH);
    memset(block, 'x', OUTPUT_HIGH);
    block[OUTPUT_HIGH - 2] = '\n';
    block[OUTPUT_HIGH - 1] = '\0';
    open_output(w, 0, 0);
    w->disk.frozen = true;
    put(w, block); /* in flight */
    assert_string_equal(w->holds, "");
    put(w, block);
    assert_string_equal(w->holds, "");
    put(w, "\n");
    assert_string_equal(w->holds, "H");
    assert_true(output_has_room(&w->output));
    put(w, block);
    put(w, "\n");
    assert_false(output_has_room(&w->output));
    assert_string_equal(w->holds, "H");
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_string_equal(w->holds, "HR");
    assert_true(output_idle(&w->output));
    free(block);
}

#define LINES "first line\nsecond line\nthird line\n"

/* The disk is full after each number of bytes: nothing is torn, doubled or lost. */
static void a_full_disk_at_every_byte(void **state)
{
    static const int errors[] = {UV_ENOSPC, UV_EIO, -EDQUOT, UV_EFBIG};
    struct world *w = *state;
    open_output(w, 0, 0);
    for (size_t n = 0; n < strlen(LINES); n++) {
        folder_write(&w->folder, "log", "");
        w->disk.space = n;
        w->disk.space_error = errors[n % ARRAY_LEN(errors)];
        put(w, LINES);
        assert_true(w->output.failing);
        put(w, "later\n");
        sim_advance(&w->sim, 500);
        w->disk.space = (size_t)-1;
        sim_advance(&w->sim, 31000);
        assert_false(w->output.failing);
        assert_file(&w->folder, "log", LINES "later\n");
    }
    assert_int_equal(w->output.failures, strlen(LINES));
}

static void it_is_reported_once_each_way(void **state)
{
    struct world *w = *state;
    open_output(w, 0, 0);
    w->disk.space = 3;
    put(w, LINES);
    assert_said(w, "3 No space left on device; lines wait, trying again until it works\n");
    sim_advance(&w->sim, 1000 + 2000 + 4000 + 8000 + 16000 + 30000 + 30000);
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2 + 7);
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, 30000);
    assert_said(w, "1 works again; no change was lost\n");
    assert_file(&w->folder, "log", LINES);
}

static void a_directory_that_is_not_there_yet(void **state)
{
    struct world *w = *state;
    char *dir = folder_file(&w->folder, "dir");
    free(w->path);
    w->path = folder_file(&w->folder, "dir/log");
    open_output(w, 0, 0);
    put(w, "1\n");
    assert_said(w, "3 its directory does not exist; lines wait, trying again until it works\n");
    mkdir(dir, 0700);
    sim_advance(&w->sim, 2000);
    assert_file(&w->folder, "dir/log", "1\n");
    assert_said(w, "1 works again; no change was lost\n");
    free(dir);
}

static void a_file_that_was_moved_is_opened_anew(void **state)
{
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    open_output(w, 0, 0);
    put(w, "1\n");
    rename(w->path, moved);
    sim_advance(&w->sim, OUTPUT_CHECK_MS);
    put(w, "2\n");
    assert_file(&w->folder, "moved", "1\n");
    assert_file(&w->folder, "log", "2\n");
    assert_said(w, "2 was moved or removed; opening it anew\n");
    free(moved);
}

static void reopened_when_asked(void **state)
{
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    open_output(w, 0, 0);
    put(w, "1\n");
    rename(w->path, moved);
    output_reopen(&w->output);
    put(w, "2\n");
    assert_file(&w->folder, "moved", "1\n");
    assert_file(&w->folder, "log", "2\n");
    assert_int_equal(w->said.len, 0);
    free(moved);
}

/* The operator moves the file to where there is room: the torn line is whole in the new one. */
static void reopened_in_the_middle_of_a_line(void **state)
{
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    open_output(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    put(w, LINES);
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
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    open_output(w, 0, 0);
    for (size_t n = 1; n < strlen(LINES); n++) {
        char *old, *new;
        w->disk.space = n;
        put(w, LINES);
        rename(w->path, moved);
        w->disk.space = (size_t)-1;
        output_reopen(&w->output);
        sim_run(&w->sim);
        old = folder_read(&w->folder, "moved");
        new = folder_read(&w->folder, "log");
        assert_int_equal(strlen(old), n);
        assert_int_equal(old[n - 1], '\n');
        assert_memory_equal(old, LINES, strlen(LINES) - strlen(new));
        assert_string_equal(new, LINES + strlen(LINES) - strlen(new));
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
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    open_output(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    put(w, LINES);
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
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    open_output(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    put(w, LINES);
    assert_said(w, "3 No space left on device; lines wait, trying again until it works\n");
    rename(w->path, moved);
    w->disk.space = (size_t)-1;
    w->disk.fail[FAKE_WRITE] = UV_EIO;
    w->disk.times[FAKE_WRITE] = 1;
    output_reopen(&w->output);
    sim_run(&w->sim);
    assert_said(w, "2 the file that was closed ends with an incomplete line: Input/output error\n"
                   "1 works again; no change was lost\n");
    assert_file(&w->folder, "moved", "first line\nsec");
    assert_file(&w->folder, "log", "second line\nthird line\n");
    free(moved);
}

static void closed_in_the_middle_of_a_line(void **state)
{
    struct world *w = *state;
    open_output(w, 0, 0);
    w->disk.space = strlen("first line\nsec");
    put(w, LINES);
    w->disk.space = 100;
    output_close(&w->output);
    sim_run(&w->sim);
    assert_true(w->closed);
    assert_file(&w->folder, "log", "first line\n  \n");
}

/* Lines wait, and not a byte of the file is touched. */
static void a_log_that_is_locked_is_held_and_retried(void **state)
{
    struct world *w = *state;
    int fd;
    folder_write(&w->folder, "log", "theirs, and torn");
    fd = open(w->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    open_output(w, 0, 0);
    put(w, "1\n");
    assert_true(w->output.failing);
    assert_said(w,
                "3 another event log of this process has locked the file; lines wait, trying again "
                "until it works\n");
    sim_advance(&w->sim, 60000);
    assert_said(w, "");
    assert_file(&w->folder, "log", "theirs, and torn");
    close(fd);
    sim_advance(&w->sim, 30000);
    assert_said(w, "1 works again; no change was lost\n");
    assert_file(&w->folder, "log", "                \n1\n");
}

static void rotated_between_lines(void **state)
{
    struct world *w = *state;
    open_output(w, 10, 3);
    put(w, "aaa\nbbb\nccc\n");
    put(w, "ddd\n");
    put(w, "a line that is longer than a file\ne\n");
    assert_file(&w->folder, "log.3", "aaa\nbbb\n");
    assert_file(&w->folder, "log.2", "ccc\nddd\n");
    assert_file(&w->folder, "log.1", "a line that is longer than a file\n");
    assert_file(&w->folder, "log", "e\n");
    assert_int_equal(w->output.rotations, 3);
    output_change(&w->output, &(struct output_settings){.rotate_size = 0});
    put(w, "ffffffffffff\n");
    assert_file(&w->folder, "log", "e\nffffffffffff\n");
}

static void a_line_cut_by_a_full_disk_is_finished_before_rotating(void **state)
{
    struct world *w = *state;
    open_output(w, 8, 1);
    w->disk.space = 6;
    put(w, "aaa\nbbb\nccc\n");
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, 1000);
    assert_file(&w->folder, "log.1", "aaa\nbbb\n");
    assert_file(&w->folder, "log", "ccc\n");
}

static void what_can_t_be_rotated_grows(void **state)
{
    struct world *w = *state;
    open_output(w, 4, 1);
    w->disk.fail[FAKE_RENAME] = UV_EACCES;
    put(w, "1\n2\n3\n4\n");
    put(w, "5\n");
    assert_file(&w->folder, "log", "1\n2\n3\n4\n5\n");
    assert_said(w, "3 can't rotate it: Permission denied; it goes on growing\n");
    w->disk.fail[FAKE_RENAME] = 0;
    sim_advance(&w->sim, OUTPUT_ROTATE_AGAIN_MS);
    put(w, "6\n");
    assert_file(&w->folder, "log.1", "1\n2\n3\n4\n5\n");
    assert_file(&w->folder, "log", "6\n");
}

/* Each try would shift the old logs by one number, and destroy one. */
static void a_rotation_that_keeps_failing_is_reported_once_and_keeps_the_old_logs(void **state)
{
    struct world *w = *state;
    folder_write(&w->folder, "log.1", "old\n");
    folder_write(&w->folder, "log.2", "older\n");
    open_output(w, 4, 2);
    w->disk.fail[FAKE_RENAME] = UV_EACCES;
    w->disk.skip[FAKE_RENAME] = 1;
    put(w, "1\n2\n3\n4\n");
    for (int i = 0; i < 3; i++) {
        sim_advance(&w->sim, OUTPUT_ROTATE_AGAIN_MS);
        put(w, "more\n");
    }
    assert_said(w, "3 can't rotate it: Permission denied; it goes on growing\n");
    assert_int_equal(w->output.rotations, 0);
    w->disk.fail[FAKE_RENAME] = 0;
    sim_advance(&w->sim, OUTPUT_ROTATE_AGAIN_MS);
    put(w, "5\n");
    assert_said(w, "1 rotated; no old log was lost\n");
    assert_int_equal(w->output.rotations, 1);
    assert_file(&w->folder, "log", "5\n");
    assert_file(&w->folder, "log.1", "1\n2\n3\n4\nmore\nmore\nmore\n");
    assert_file(&w->folder, "log.2", "old\n");
    assert_file(&w->folder, "log.oldest", "older\n"); /* undoing failed as well */
}

static void a_descriptor_s_failure_is_its_end(void **state)
{
    struct world *w = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    output_init(&w->output, &w->sim.clock, &w->disk.disk, &(struct output_settings){.fd = ends[1]},
                &events);
    assert_string_equal(output_name(&w->output), "stdout");
    w->disk.fail[FAKE_WRITE] = UV_EAGAIN; /* somebody made it non-blocking: only wait */
    put(w, "1\n");
    assert_int_equal(w->lost, 0);
    w->disk.fail[FAKE_WRITE] = UV_EPIPE;
    sim_advance(&w->sim, OUTPUT_AGAIN_MS);
    assert_int_equal(w->lost, UV_EPIPE);
    put(w, "2\n");
    assert_true(output_idle(&w->output));
    output_reopen(&w->output); /* stays as it is */
    close(ends[0]);
    close(ends[1]);
}

static void closed_in_the_middle_of_a_write(void **state)
{
    struct world *w = *state;
    open_output(w, 0, 0);
    w->disk.frozen = true;
    put(w, "1\n"); /* and the tear-down closes it */
}

static void closed_while_it_fails(void **state)
{
    struct world *w = *state;
    w->disk.fail[FAKE_OPEN] = UV_EMFILE;
    open_output(w, 0, 0);
    put(w, "1\n");
    assert_true(w->output.failing);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(one_write_for_what_was_collected),
        IN_WORLD(what_is_not_cleared_stays),
        IN_WORLD(marks),
        IN_WORLD(a_full_disk_at_every_byte),
        IN_WORLD(it_is_reported_once_each_way),
        IN_WORLD(a_directory_that_is_not_there_yet),
        IN_WORLD(a_file_that_was_moved_is_opened_anew),
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
        IN_WORLD(a_descriptor_s_failure_is_its_end),
        IN_WORLD(closed_in_the_middle_of_a_write),
        IN_WORLD(closed_while_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
