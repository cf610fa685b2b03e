/*
 * test_logfile.c - a file that only grows: torn ends mended, moves noticed, rotation.
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
#include "daemon/logfile.h"
#include "fake_disk.h"
#include "folder.h"

struct world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    char *path;
    struct logfile file;
    int64_t result; /* of the last operation */
};

static void on_done(struct logfile *file, int64_t result)
{
    container_of(file, struct world, file)->result = result;
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    logfile_init(&w->file, &w->disk.disk, w->path, -1, on_done);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    assert_false(logfile_is_busy(&w->file));
    if (logfile_is_open(&w->file))
        logfile_close(&w->file);
    sim_run(&w->sim);
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    free(w->path);
    free(w);
    return 0;
}

static int64_t finish(struct world *w)
{
    assert_true(logfile_is_busy(&w->file));
    sim_run(&w->sim);
    assert_false(logfile_is_busy(&w->file));
    return w->result;
}

static int64_t open_file(struct world *w)
{
    logfile_open(&w->file);
    return finish(w);
}

static void write_text(struct world *w, const char *text)
{
    logfile_write(&w->file, text, strlen(text));
    assert_int_equal(finish(w), strlen(text));
}

static void close_file(struct world *w)
{
    logfile_close(&w->file);
    assert_int_equal(finish(w), 0);
}

static void it_appends_to_what_is_there(void **state)
{
    struct world *w = *state;
    struct stat st;
    assert_int_equal(open_file(w), 0);
    write_text(w, "one\n");
    close_file(w);
    assert_int_equal(open_file(w), 0);
    assert_int_equal(w->file.size, 4);
    write_text(w, "two\n");
    assert_file(&w->folder, "log", "one\ntwo\n");
    assert_int_equal(stat(w->path, &st), 0);
    assert_int_equal(st.st_mode & 0137u, 0);
}

/* A torn line of every length around the pieces in which it is looked for. */
static void torn_lines_are_blanked_in_place(void **state)
{
    static const size_t lengths[] = {1,    2,    100,  4091, 4092, 4093, 4095,
                                     4096, 4097, 8187, 8188, 8189, 20000};
    struct world *w = *state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(lengths); i++) {
        size_t len = lengths[i / 2];
        struct buf before = {0}, after = {0};
        const char *first = i % 2 ? "one\n" : ""; /* the file may be all torn */
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
        assert_int_equal(open_file(w), 0);
        write_text(w, "two\n");
        assert_int_equal(w->file.size, after.len - 1);
        assert_file(&w->folder, "log", after.bytes);
        close_file(w);
        buf_free(&before);
        buf_free(&after);
    }
}

static void a_whole_last_line_stays(void **state)
{
    struct world *w = *state;
    folder_write(&w->folder, "log", "one\n");
    assert_int_equal(open_file(w), 0);
    assert_file(&w->folder, "log", "one\n");
}

/* A file system may return fewer bytes than asked for, wherever the torn line begins. */
static void short_reads_blank_only_the_torn_line(void **state)
{
    struct world *w = *state;
    struct buf text = {0};
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "complete line %d\n", i);
    for (size_t max = 1; max < 3 * LOGFILE_PIECE; max = 3 * max + 1) {
        size_t whole = text.len;
        w->disk.read_max = max;
        buf_puts(&text, "torn");
        buf_putc(&text, '\0');
        folder_write(&w->folder, "log", text.bytes);
        assert_int_equal(open_file(w), 0);
        text.len = whole;
        buf_puts(&text, "    \n");
        buf_putc(&text, '\0');
        assert_file(&w->folder, "log", text.bytes);
        close_file(w);
        text.len = whole;
    }
    buf_free(&text);
}

static void append_to(const char *path, const char *text)
{
    FILE *file = fopen(path, "ae");
    fputs(text, file);
    fclose(file);
}

/* Another process replaces the file after it was opened and before its tail is read. */
static void replace_before_mending(struct fake_disk *disk, enum fake_call call)
{
    struct world *w = container_of(disk, struct world, disk);
    char *moved = folder_file(&w->folder, "moved");
    if (call == FAKE_OPEN && disk->calls[FAKE_OPEN] == 1) {
        rename(w->path, moved);
        folder_write(&w->folder, "log", "other\nfile of another process");
    }
    free(moved);
}

static void only_the_file_that_was_opened_is_mended(void **state)
{
    struct world *w = *state;
    folder_write(&w->folder, "log", "one\nthis line is torn");
    w->disk.before_call = replace_before_mending;
    assert_int_equal(open_file(w), 0);
    write_text(w, "two\n");
    assert_file(&w->folder, "moved", "one\nthis line is torn");
    assert_file(&w->folder, "log", "other\n                       \ntwo\n");
}

static void replace_at_each_open(struct fake_disk *disk, enum fake_call call)
{
    struct world *w = container_of(disk, struct world, disk);
    char *other = folder_file(&w->folder, "other");
    if (call == FAKE_OPEN) {
        folder_write(&w->folder, "other", "torn");
        rename(other, w->path);
    }
    free(other);
}

static void a_file_that_is_replaced_again_and_again_is_not_opened(void **state)
{
    struct world *w = *state;
    folder_write(&w->folder, "log", "torn");
    w->disk.before_call = replace_at_each_open;
    assert_int_equal(open_file(w), LOGFILE_MOVED);
    assert_int_equal(w->disk.calls[FAKE_OPEN], 2 * (1 + LOGFILE_REOPENS_MAX));
    assert_int_equal(w->disk.calls[FAKE_CLOSE], w->disk.calls[FAKE_OPEN]);
    assert_file(&w->folder, "log", "torn");
}

static void shorten_while_read(struct fake_disk *disk, enum fake_call call)
{
    struct world *w = container_of(disk, struct world, disk);
    if (call == FAKE_READ && disk->calls[FAKE_READ] == 1) {
        assert_int_equal(truncate(w->path, 0), 0);
        append_to(w->path, "new\n");
    }
}

static void a_file_that_is_truncated_while_it_is_read_loses_nothing(void **state)
{
    struct world *w = *state;
    folder_write(&w->folder, "log", "one\ntwo\ntorn");
    w->disk.read_max = 4;
    w->disk.before_call = shorten_while_read;
    assert_int_equal(open_file(w), 0);
    assert_int_equal(w->file.size, 4);
    assert_file(&w->folder, "log", "new\n");
}

/* Whatever fails while it is opened, nothing stays open, and the next attempt works. */
static void opening_fails_at_each_step(void **state)
{
    static const enum fake_call calls[] = {FAKE_OPEN, FAKE_LOOK, FAKE_READ, FAKE_WRITE};
    struct world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        folder_write(&w->folder, "log", "one\ntorn");
        w->disk.fail[calls[i]] = UV_EIO;
        assert_int_equal(open_file(w), UV_EIO);
        assert_false(logfile_is_open(&w->file));
        w->disk.fail[calls[i]] = 0;
        assert_int_equal(open_file(w), 0);
        assert_file(&w->folder, "log", "one\n    \n");
        close_file(w);
    }
}

static void a_missing_directory_is_not_made(void **state)
{
    struct world *w = *state;
    char *deep = folder_file(&w->folder, "no/log");
    logfile_init(&w->file, &w->disk.disk, deep, -1, on_done);
    assert_int_equal(open_file(w), UV_ENOENT);
    free(deep);
}

static void moves_are_noticed(void **state)
{
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    assert_int_equal(open_file(w), 0);
    logfile_check(&w->file);
    assert_int_equal(finish(w), 1);
    rename(w->path, moved);
    logfile_check(&w->file);
    assert_int_equal(finish(w), 0);
    folder_write(&w->folder, "log", "another");
    logfile_check(&w->file);
    assert_int_equal(finish(w), 0);
    free(moved);
}

static void rotation_keeps_so_many(void **state)
{
    struct world *w = *state;
    char text[16];
    assert_int_equal(open_file(w), 0);
    for (int i = 1; i <= 4; i++) {
        snprintf(text, sizeof(text), "%d\n", i);
        write_text(w, text);
        logfile_rotate(&w->file, 2);
        assert_int_equal(finish(w), 0);
        assert_int_equal(w->file.size, 0);
    }
    assert_file(&w->folder, "log", "");
    assert_file(&w->folder, "log.1", "4\n");
    assert_file(&w->folder, "log.2", "3\n");
    assert_file(&w->folder, "log.3", "(none)");
}

static void a_rotation_that_fails_goes_on_with_the_old_file(void **state)
{
    struct world *w = *state;
    assert_int_equal(open_file(w), 0);
    write_text(w, "1\n");
    w->disk.fail[FAKE_RENAME] = UV_EACCES;
    logfile_rotate(&w->file, 1);
    assert_int_equal(finish(w), 0);
    assert_int_equal(w->file.rotate_error, UV_EACCES);
    write_text(w, "2\n");
    assert_file(&w->folder, "log", "1\n2\n");
}

static void fill_old_logs(struct world *w)
{
    if (logfile_is_open(&w->file))
        close_file(w);
    folder_write(&w->folder, "log", "5\n");
    folder_write(&w->folder, "log.1", "4\n");
    folder_write(&w->folder, "log.2", "3\n");
    folder_write(&w->folder, "log.3", "2\n");
    assert_int_equal(open_file(w), 0);
}

/* The text of all logs, newest first, whatever the names of the old ones are now. */
static char *all_logs(struct world *w)
{
    static const char *const names[] = {"log", "log.1", "log.2", "log.3", "log.oldest"};
    struct buf all = {0};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *text = folder_read(&w->folder, names[i]);
        buf_puts(&all, strcmp(text, "(none)") ? text : "");
        free(text);
    }
    buf_putc(&all, '\0');
    return all.bytes;
}

static void assert_all_logs(struct world *w, const char *expected)
{
    char *text = all_logs(w);
    assert_string_equal(text, expected);
    free(text);
}

enum {
    RENAMES = 4
}; /* of a rotation that keeps 3 files, when there are 3 */

/* Each rename in turn fails once: everything is as it was before. */
static void a_failed_rotation_changes_nothing(void **state)
{
    struct world *w = *state;
    for (unsigned n = 0; n < RENAMES; n++) {
        fill_old_logs(w);
        w->disk.fail[FAKE_RENAME] = UV_EACCES;
        w->disk.skip[FAKE_RENAME] = n;
        w->disk.times[FAKE_RENAME] = 1;
        logfile_rotate(&w->file, 3);
        assert_int_equal(finish(w), 0);
        assert_int_equal(w->file.rotate_error, UV_EACCES);
        assert_file(&w->folder, "log", "5\n");
        assert_file(&w->folder, "log.1", "4\n");
        assert_file(&w->folder, "log.2", "3\n");
        assert_file(&w->folder, "log.3", "2\n");
        assert_file(&w->folder, "log.oldest", "(none)");
        write_text(w, "6\n");
        assert_file(&w->folder, "log", "5\n6\n");
        logfile_rotate(&w->file, 3);
        assert_int_equal(finish(w), 0);
        assert_int_equal(w->file.rotate_error, 0);
        assert_all_logs(w, "5\n6\n4\n3\n");
    }
}

/* From some rename on all fail, so that what was renamed stays renamed; then again; then none. */
static void a_rotation_that_cannot_be_undone_destroys_nothing(void **state)
{
    struct world *w = *state;
    for (unsigned n = 0; n < RENAMES; n++) {
        fill_old_logs(w);
        w->disk.fail[FAKE_RENAME] = UV_EIO;
        w->disk.skip[FAKE_RENAME] = n;
        for (int again = 0; again < 3; again++) {
            logfile_rotate(&w->file, 3);
            assert_int_equal(finish(w), 0);
            assert_int_equal(w->file.rotate_error, UV_EIO);
            assert_all_logs(w, "5\n4\n3\n2\n");
        }
        write_text(w, "6\n");
        w->disk.fail[FAKE_RENAME] = 0;
        logfile_rotate(&w->file, 3);
        assert_int_equal(finish(w), 0);
        write_text(w, "7\n");
        logfile_rotate(&w->file, 3);
        assert_int_equal(finish(w), 0);
        assert_file(&w->folder, "log", "");
        assert_file(&w->folder, "log.1", "7\n");
        assert_file(&w->folder, "log.2", "5\n6\n");
        assert_file(&w->folder, "log.3", "4\n");
    }
}

static void a_rotation_fills_a_missing_number_before_it_removes_a_file(void **state)
{
    struct world *w = *state;
    char *second = folder_file(&w->folder, "log.2");
    fill_old_logs(w);
    unlink(second);
    logfile_rotate(&w->file, 3);
    assert_int_equal(finish(w), 0);
    assert_file(&w->folder, "log.1", "5\n");
    assert_file(&w->folder, "log.2", "4\n");
    assert_file(&w->folder, "log.3", "2\n");
    free(second);
}

/* What has the path now is not ours to rename. */
static void a_file_that_was_replaced_is_not_rotated(void **state)
{
    struct world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    fill_old_logs(w);
    rename(w->path, moved);
    folder_write(&w->folder, "log", "another\n");
    logfile_rotate(&w->file, 3);
    assert_int_equal(finish(w), 0);
    assert_int_equal(w->file.rotate_error, LOGFILE_MOVED);
    assert_all_logs(w, "another\n4\n3\n2\n");
    write_text(w, "6\n");
    assert_file(&w->folder, "log", "another\n6\n");
    assert_file(&w->folder, "moved", "5\n");
    free(moved);
}

/* Neither what exists can be found out, nor the file itself be looked at. */
static void a_rotation_whose_directory_cannot_be_read_changes_nothing(void **state)
{
    struct world *w = *state;
    for (unsigned n = 1; n < 4; n++) {
        fill_old_logs(w);
        w->disk.fail[FAKE_LOOK] = UV_EACCES;
        w->disk.skip[FAKE_LOOK] = n;
        logfile_rotate(&w->file, 3);
        assert_int_equal(finish(w), 0);
        assert_int_equal(w->file.rotate_error, UV_EACCES);
        assert_all_logs(w, "5\n4\n3\n2\n");
        w->disk.fail[FAKE_LOOK] = 0;
    }
}

static void a_descriptor_is_open_and_stays_so(void **state)
{
    struct world *w = *state;
    int ends[2];
    char text[8] = {0};
    assert_int_equal(pipe(ends), 0);
    logfile_init(&w->file, &w->disk.disk, NULL, ends[1], on_done);
    assert_true(logfile_is_open(&w->file));
    write_text(w, "one\n");
    assert_int_equal(read(ends[0], text, sizeof(text)), 4);
    assert_string_equal(text, "one\n");
    w->file.fd = -1;
    close(ends[0]);
    close(ends[1]);
}

static void a_fifo_without_a_reader_is_not_waited_for(void **state)
{
    struct world *w = *state;
    assert_int_equal(mkfifo(w->path, 0600), 0);
    assert_int_equal(open_file(w), UV_ENXIO);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(it_appends_to_what_is_there),
        IN_WORLD(torn_lines_are_blanked_in_place),
        IN_WORLD(a_whole_last_line_stays),
        IN_WORLD(short_reads_blank_only_the_torn_line),
        IN_WORLD(only_the_file_that_was_opened_is_mended),
        IN_WORLD(a_file_that_is_replaced_again_and_again_is_not_opened),
        IN_WORLD(a_file_that_is_truncated_while_it_is_read_loses_nothing),
        IN_WORLD(opening_fails_at_each_step),
        IN_WORLD(a_missing_directory_is_not_made),
        IN_WORLD(moves_are_noticed),
        IN_WORLD(rotation_keeps_so_many),
        IN_WORLD(a_rotation_that_fails_goes_on_with_the_old_file),
        IN_WORLD(a_failed_rotation_changes_nothing),
        IN_WORLD(a_rotation_that_cannot_be_undone_destroys_nothing),
        IN_WORLD(a_rotation_fills_a_missing_number_before_it_removes_a_file),
        IN_WORLD(a_file_that_was_replaced_is_not_rotated),
        IN_WORLD(a_rotation_whose_directory_cannot_be_read_changes_nothing),
        IN_WORLD(a_descriptor_is_open_and_stays_so),
        IN_WORLD(a_fifo_without_a_reader_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
