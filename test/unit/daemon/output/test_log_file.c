/*
 * test_log_file.c - opening, repairing, checking and closing a log file.
 */
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
#include "base/buf.h"
#include "log_file_world.h"

static void appends_to_an_existing_file(void **state)
{
    struct log_file_world *w = *state;
    struct stat st;
    assert_int_equal(log_file_world_open(w), 0);
    log_file_world_write(w, "one\n");
    log_file_world_close(w);
    assert_int_equal(log_file_world_open(w), 0);
    assert_int_equal(w->file.size, 4);
    log_file_world_write(w, "two\n");
    assert_file(&w->folder, "log", "one\ntwo\n");
    assert_int_equal(stat(w->path, &st), 0);
    assert_int_equal(st.st_mode & 0137u, 0);
}

/* Incomplete lines of all lengths around the size of the pieces that are read. */
static void incomplete_lines_are_blanked_in_place(void **state)
{
    static const size_t lengths[] = {1,    2,    100,  4091, 4092, 4093, 4095,
                                     4096, 4097, 8187, 8188, 8189, 20000};
    struct log_file_world *w = *state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(lengths); i++) {
        size_t len = lengths[i / 2];
        struct buf before = {0}, after = {0};
        const char *first = i % 2 ? "one\n" : ""; /* or there is no complete line */
        buf_puts(&before, first);
        buf_puts(&after, first);
        memset(buf_room(&before, len), '{', len);
        memset(buf_room(&after, len), ' ', len);
        before.len += len;
        after.len += len;
        buf_puts(&after, "\ntwo\n");
        buf_putc(&before, '\0');
        buf_putc(&after, '\0');
        folder_write(&w->folder, "log", before.bytes);
        assert_int_equal(log_file_world_open(w), 0);
        log_file_world_write(w, "two\n");
        assert_int_equal(w->file.size, after.len - 1);
        assert_file(&w->folder, "log", after.bytes);
        log_file_world_close(w);
        buf_free(&before);
        buf_free(&after);
    }
}

static void a_complete_last_line_is_kept(void **state)
{
    struct log_file_world *w = *state;
    folder_write(&w->folder, "log", "one\n");
    assert_int_equal(log_file_world_open(w), 0);
    assert_file(&w->folder, "log", "one\n");
}

/* A file system may return fewer bytes than requested. */
static void short_reads_blank_only_the_incomplete_line(void **state)
{
    struct log_file_world *w = *state;
    struct buf text = {0};
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "complete line %d\n", i);
    for (size_t max = 1; max < 3 * LOG_FILE_PIECE; max = 3 * max + 1) {
        size_t whole = text.len;
        w->disk.read_max = max;
        buf_puts(&text, "torn");
        buf_putc(&text, '\0');
        folder_write(&w->folder, "log", text.bytes);
        assert_int_equal(log_file_world_open(w), 0);
        text.len = whole;
        buf_puts(&text, "    \n");
        buf_putc(&text, '\0');
        assert_file(&w->folder, "log", text.bytes);
        log_file_world_close(w);
        text.len = whole;
    }
    buf_free(&text);
}

static void append_to_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "ae");
    fputs(text, file);
    fclose(file);
}

/* Another process replaces the file after it was opened and before its end is read. */
static void replace_before_repair(struct fake_disk *disk, enum fake_call call)
{
    struct log_file_world *w = container_of(disk, struct log_file_world, disk);
    char *moved = folder_file(&w->folder, "moved");
    if (call == FAKE_OPEN && disk->calls[FAKE_OPEN] == 1) {
        rename(w->path, moved);
        folder_write(&w->folder, "log", "other\nfile of another process");
    }
    free(moved);
}

static void only_the_file_that_was_opened_is_repaired(void **state)
{
    struct log_file_world *w = *state;
    folder_write(&w->folder, "log", "one\nthis line is torn");
    w->disk.before_call = replace_before_repair;
    assert_int_equal(log_file_world_open(w), 0);
    log_file_world_write(w, "two\n");
    assert_file(&w->folder, "moved", "one\nthis line is torn");
    assert_file(&w->folder, "log", "other\n                       \ntwo\n");
}

static void replace_at_each_open(struct fake_disk *disk, enum fake_call call)
{
    struct log_file_world *w = container_of(disk, struct log_file_world, disk);
    char *other = folder_file(&w->folder, "other");
    if (call == FAKE_OPEN) {
        folder_write(&w->folder, "other", "torn");
        rename(other, w->path);
    }
    free(other);
}

static void a_file_that_is_replaced_at_each_attempt_is_not_opened(void **state)
{
    struct log_file_world *w = *state;
    folder_write(&w->folder, "log", "torn");
    w->disk.before_call = replace_at_each_open;
    assert_int_equal(log_file_world_open(w), LOG_FILE_MOVED);
    assert_int_equal(w->disk.calls[FAKE_OPEN], 2 * (1 + LOG_FILE_REOPENS_MAX));
    assert_int_equal(w->disk.calls[FAKE_CLOSE], w->disk.calls[FAKE_OPEN]);
    assert_file(&w->folder, "log", "torn");
}

static void truncate_while_read(struct fake_disk *disk, enum fake_call call)
{
    struct log_file_world *w = container_of(disk, struct log_file_world, disk);
    if (call == FAKE_READ && disk->calls[FAKE_READ] == 1) {
        assert_int_equal(truncate(w->path, 0), 0);
        append_to_file(w->path, "new\n");
    }
}

static void a_file_that_is_truncated_while_it_is_read_loses_nothing(void **state)
{
    struct log_file_world *w = *state;
    folder_write(&w->folder, "log", "one\ntwo\ntorn");
    w->disk.read_max = 4;
    w->disk.before_call = truncate_while_read;
    assert_int_equal(log_file_world_open(w), 0);
    assert_int_equal(w->file.size, 4);
    assert_file(&w->folder, "log", "new\n");
}

static void a_failure_at_any_step_of_opening_leaves_nothing_open(void **state)
{
    static const enum fake_call calls[] = {FAKE_OPEN, FAKE_STAT, FAKE_READ, FAKE_WRITE};
    struct log_file_world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        folder_write(&w->folder, "log", "one\ntorn");
        w->disk.fail[calls[i]] = -EIO;
        assert_int_equal(log_file_world_open(w), -EIO);
        assert_false(log_file_is_open(&w->file));
        w->disk.fail[calls[i]] = 0;
        assert_int_equal(log_file_world_open(w), 0);
        assert_file(&w->folder, "log", "one\n    \n");
        log_file_world_close(w);
    }
}

static void a_missing_directory_is_not_created(void **state)
{
    struct log_file_world *w = *state;
    char *deep = folder_file(&w->folder, "no/log");
    log_file_world_use(w, deep);
    assert_int_equal(log_file_world_open(w), -ENOENT);
    free(deep);
}

static void detects_that_the_file_was_moved(void **state)
{
    struct log_file_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    assert_int_equal(log_file_world_open(w), 0);
    log_file_check_same(&w->file);
    assert_int_equal(log_file_world_finish(w), 1);
    rename(w->path, moved);
    log_file_check_same(&w->file);
    assert_int_equal(log_file_world_finish(w), 0);
    folder_write(&w->folder, "log", "another");
    log_file_check_same(&w->file);
    assert_int_equal(log_file_world_finish(w), 0);
    free(moved);
}

static void a_fifo_without_a_reader_is_an_error(void **state)
{
    struct log_file_world *w = *state;
    assert_int_equal(mkfifo(w->path, 0600), 0);
    assert_int_equal(log_file_world_open(w), -ENXIO);
}

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, log_file_world_set_up, log_file_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(appends_to_an_existing_file),
        IN_WORLD(incomplete_lines_are_blanked_in_place),
        IN_WORLD(a_complete_last_line_is_kept),
        IN_WORLD(short_reads_blank_only_the_incomplete_line),
        IN_WORLD(only_the_file_that_was_opened_is_repaired),
        IN_WORLD(a_file_that_is_replaced_at_each_attempt_is_not_opened),
        IN_WORLD(a_file_that_is_truncated_while_it_is_read_loses_nothing),
        IN_WORLD(a_failure_at_any_step_of_opening_leaves_nothing_open),
        IN_WORLD(a_missing_directory_is_not_created),
        IN_WORLD(detects_that_the_file_was_moved),
        IN_WORLD(a_fifo_without_a_reader_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
