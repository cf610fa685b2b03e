/*
 * test_log_file_rotate.c - rotation: the numbers of the files, also after failures; and locks, which move with
 * the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "log_file_world.h"

static void rotation_keeps_the_given_number_of_files(void **state)
{
    struct log_file_world *w = *state;
    char text[16];
    assert_int_equal(log_file_world_open(w), 0);
    for (int i = 1; i <= 4; i++) {
        snprintf(text, sizeof(text), "%d\n", i);
        log_file_world_write(w, text);
        log_file_rotate(&w->file, 2);
        assert_int_equal(log_file_world_finish(w), 0);
        assert_int_equal(w->file.size, 0);
    }
    assert_file(&w->folder, "log", "");
    assert_file(&w->folder, "log.1", "4\n");
    assert_file(&w->folder, "log.2", "3\n");
    assert_file(&w->folder, "log.3", "(none)");
}

static void a_rotation_that_fails_continues_in_the_same_file(void **state)
{
    struct log_file_world *w = *state;
    assert_int_equal(log_file_world_open(w), 0);
    log_file_world_write(w, "1\n");
    w->disk.fail[FAKE_RENAME] = -EACCES;
    log_file_rotate(&w->file, 1);
    assert_int_equal(log_file_world_finish(w), 0);
    assert_int_equal(w->file.rotate_error, -EACCES);
    log_file_world_write(w, "2\n");
    assert_file(&w->folder, "log", "1\n2\n");
}

static void write_rotated_files(struct log_file_world *w)
{
    if (log_file_is_open(&w->file))
        log_file_world_close(w);
    folder_write(&w->folder, "log", "5\n");
    folder_write(&w->folder, "log.1", "4\n");
    folder_write(&w->folder, "log.2", "3\n");
    folder_write(&w->folder, "log.3", "2\n");
    assert_int_equal(log_file_world_open(w), 0);
}

/* The contents of all files, newest first, whatever names the rotated ones have now. */
static char *read_all_files(struct log_file_world *w)
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

static void assert_all_files(struct log_file_world *w, const char *expected)
{
    char *text = read_all_files(w);
    assert_string_equal(text, expected);
    free(text);
}

enum {
    RENAMES = 4
}; /* of a rotation that keeps 3 files, when there are 3 */

/* Each rename fails once, in turn: all files keep their names. */
static void a_failed_rotation_changes_nothing(void **state)
{
    struct log_file_world *w = *state;
    for (unsigned n = 0; n < RENAMES; n++) {
        write_rotated_files(w);
        w->disk.fail[FAKE_RENAME] = -EACCES;
        w->disk.skip[FAKE_RENAME] = n;
        w->disk.times[FAKE_RENAME] = 1;
        log_file_rotate(&w->file, 3);
        assert_int_equal(log_file_world_finish(w), 0);
        assert_int_equal(w->file.rotate_error, -EACCES);
        assert_file(&w->folder, "log", "5\n");
        assert_file(&w->folder, "log.1", "4\n");
        assert_file(&w->folder, "log.2", "3\n");
        assert_file(&w->folder, "log.3", "2\n");
        assert_file(&w->folder, "log.oldest", "(none)");
        log_file_world_write(w, "6\n");
        assert_file(&w->folder, "log", "5\n6\n");
        log_file_rotate(&w->file, 3);
        assert_int_equal(log_file_world_finish(w), 0);
        assert_int_equal(w->file.rotate_error, 0);
        assert_all_files(w, "5\n6\n4\n3\n");
    }
}

/* From the nth rename on all fail, so that the earlier ones can't be undone; later they succeed. */
static void a_rotation_that_cannot_be_undone_destroys_nothing(void **state)
{
    struct log_file_world *w = *state;
    for (unsigned n = 0; n < RENAMES; n++) {
        write_rotated_files(w);
        w->disk.fail[FAKE_RENAME] = -EIO;
        w->disk.skip[FAKE_RENAME] = n;
        for (int again = 0; again < 3; again++) {
            log_file_rotate(&w->file, 3);
            assert_int_equal(log_file_world_finish(w), 0);
            assert_int_equal(w->file.rotate_error, -EIO);
            assert_all_files(w, "5\n4\n3\n2\n");
        }
        log_file_world_write(w, "6\n");
        w->disk.fail[FAKE_RENAME] = 0;
        log_file_rotate(&w->file, 3);
        assert_int_equal(log_file_world_finish(w), 0);
        log_file_world_write(w, "7\n");
        log_file_rotate(&w->file, 3);
        assert_int_equal(log_file_world_finish(w), 0);
        assert_file(&w->folder, "log", "");
        assert_file(&w->folder, "log.1", "7\n");
        assert_file(&w->folder, "log.2", "5\n6\n");
        assert_file(&w->folder, "log.3", "4\n");
    }
}

static void a_rotation_fills_a_missing_number_before_it_removes_a_file(void **state)
{
    struct log_file_world *w = *state;
    char *second = folder_file(&w->folder, "log.2");
    write_rotated_files(w);
    unlink(second);
    log_file_rotate(&w->file, 3);
    assert_int_equal(log_file_world_finish(w), 0);
    assert_file(&w->folder, "log.1", "5\n");
    assert_file(&w->folder, "log.2", "4\n");
    assert_file(&w->folder, "log.3", "2\n");
    free(second);
}

/* The file that has the path now is of another process. */
static void a_file_that_was_replaced_is_not_rotated(void **state)
{
    struct log_file_world *w = *state;
    char *moved = folder_file(&w->folder, "moved");
    write_rotated_files(w);
    rename(w->path, moved);
    folder_write(&w->folder, "log", "another\n");
    log_file_rotate(&w->file, 3);
    assert_int_equal(log_file_world_finish(w), 0);
    assert_int_equal(w->file.rotate_error, LOG_FILE_MOVED);
    assert_all_files(w, "another\n4\n3\n2\n");
    assert_file(&w->folder, "moved", "5\n");
    free(moved);
}

/* After the check, before the log itself is renamed. */
static void move_before_last_rename(struct fake_disk *disk, enum fake_call call)
{
    struct log_file_world *w = container_of(disk, struct log_file_world, disk);
    char *moved = folder_file(&w->folder, "moved");
    if (call == FAKE_RENAME && disk->calls[FAKE_RENAME] == RENAMES - 1)
        rename(w->path, moved);
    free(moved);
}

static void a_file_moved_during_rotation_loses_no_rotated_file(void **state)
{
    struct log_file_world *w = *state;
    write_rotated_files(w);
    w->disk.before_call = move_before_last_rename;
    log_file_rotate(&w->file, 3);
    assert_int_equal(log_file_world_finish(w), 0);
    assert_int_equal(w->file.rotate_error, LOG_FILE_MOVED);
    assert_file(&w->folder, "moved", "5\n");
    assert_file(&w->folder, "log.1", "4\n");
    assert_file(&w->folder, "log.2", "3\n");
    assert_file(&w->folder, "log.3", "2\n");
    assert_file(&w->folder, "log.oldest", "(none)");
}

/* It is unknown which files exist: first for the log, then for each rotated file. */
static void a_rotation_whose_directory_cannot_be_read_changes_nothing(void **state)
{
    struct log_file_world *w = *state;
    for (unsigned n = 0; n < 4; n++) {
        enum fake_call call = n ? FAKE_OPEN : FAKE_STAT;
        write_rotated_files(w);
        w->disk.fail[call] = -EIO;
        w->disk.skip[call] = n ? n - 1 : 0;
        log_file_rotate(&w->file, 3);
        assert_int_equal(log_file_world_finish(w), 0);
        assert_int_equal(w->file.rotate_error, -EIO);
        assert_all_files(w, "5\n4\n3\n2\n");
        w->disk.fail[call] = 0;
    }
}

/* Its owner or mode prevents testing its lock, but not renaming it. */
static void a_rotated_file_that_can_t_be_read_is_renamed(void **state)
{
    struct log_file_world *w = *state;
    write_rotated_files(w);
    w->disk.fail[FAKE_OPEN] = -EACCES;
    w->disk.times[FAKE_OPEN] = 1;
    log_file_rotate(&w->file, 3);
    assert_int_equal(log_file_world_finish(w), 0);
    assert_int_equal(w->file.rotate_error, 0);
    assert_all_files(w, "5\n4\n3\n");
}

/* ---- locks ---- */

/* The log of another daemon. */
struct rival {
    struct log_file_world *w;
    char *path;
    struct log_file file;
    int64_t result;
};

static void on_rival_done(struct log_file *file, int64_t result)
{
    container_of(file, struct rival, file)->result = result;
}

static void rival_init(struct rival *r, struct log_file_world *w, const char *name)
{
    *r = (struct rival){.w = w, .path = folder_file(&w->folder, name)};
    log_file_init(&r->file, &w->disk.disk, r->path);
    r->file.done = on_rival_done;
}

static int64_t rival_open(struct rival *r)
{
    r->result = 1;
    log_file_open(&r->file);
    sim_run(&r->w->sim);
    assert_false(log_file_is_busy(&r->file));
    return r->result;
}

static void rival_done(struct rival *r)
{
    if (log_file_is_open(&r->file))
        log_file_close(&r->file);
    sim_run(&r->w->sim);
    free(r->path);
}

static void a_locked_file_is_neither_opened_nor_repaired(void **state)
{
    struct log_file_world *w = *state;
    struct rival rival;
    rival_init(&rival, w, "log");
    assert_int_equal(log_file_world_open(w), 0);
    log_file_world_write(w, "one\nhalf a li");
    assert_int_equal(rival_open(&rival), -EBUSY);
    assert_int_equal(rival.file.holder, getpid());
    assert_false(log_file_is_open(&rival.file));
    assert_file(&w->folder, "log", "one\nhalf a li");
    log_file_world_write(w, "ne\n");
    assert_file(&w->folder, "log", "one\nhalf a line\n");
    log_file_world_close(w);
    assert_int_equal(rival_open(&rival), 0);
    assert_int_equal(log_file_world_open(w), -EBUSY);
    rival_done(&rival);
}

static void the_lock_moves_with_a_rotation(void **state)
{
    struct log_file_world *w = *state;
    struct rival rival, old;
    rival_init(&rival, w, "log");
    rival_init(&old, w, "log.1");
    assert_int_equal(log_file_world_open(w), 0);
    log_file_world_write(w, "1\n");
    log_file_rotate(&w->file, 1);
    assert_int_equal(log_file_world_finish(w), 0);
    assert_int_equal(rival_open(&rival), -EBUSY);
    assert_int_equal(rival_open(&old), 0);
    rival_done(&old);
    rival_done(&rival);
}

static void a_rotation_that_would_rename_a_locked_file_fails(void **state)
{
    struct log_file_world *w = *state;
    for (int n = 1; n <= 3; n++) {
        char name[16];
        struct rival rival;
        write_rotated_files(w);
        snprintf(name, sizeof(name), "log.%d", n);
        rival_init(&rival, w, name);
        assert_int_equal(rival_open(&rival), 0);
        log_file_rotate(&w->file, 3);
        assert_int_equal(log_file_world_finish(w), 0);
        assert_int_equal(w->file.rotate_error, -EBUSY);
        assert_all_files(w, "5\n4\n3\n2\n");
        rival_done(&rival);
    }
}

/* Another daemon rotates and closes the file just before we lock it. */
static void rotate_before_lock(struct fake_disk *disk, enum fake_call call)
{
    struct log_file_world *w = container_of(disk, struct log_file_world, disk);
    char *moved = folder_file(&w->folder, "log.1");
    if (call == FAKE_LOCK && disk->calls[FAKE_LOCK] == 0) {
        rename(w->path, moved);
        folder_write(&w->folder, "log", "new\n");
    }
    free(moved);
}

static void a_file_that_was_rotated_before_it_was_locked_is_opened_again(void **state)
{
    struct log_file_world *w = *state;
    folder_write(&w->folder, "log", "old, incomplete");
    w->disk.before_call = rotate_before_lock;
    assert_int_equal(log_file_world_open(w), 0);
    log_file_world_write(w, "two\n");
    assert_file(&w->folder, "log", "new\ntwo\n");
    assert_file(&w->folder, "log.1", "old, incomplete");
}

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, log_file_world_set_up, log_file_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(rotation_keeps_the_given_number_of_files),
        IN_WORLD(a_rotation_that_fails_continues_in_the_same_file),
        IN_WORLD(a_failed_rotation_changes_nothing),
        IN_WORLD(a_rotation_that_cannot_be_undone_destroys_nothing),
        IN_WORLD(a_rotation_fills_a_missing_number_before_it_removes_a_file),
        IN_WORLD(a_file_that_was_replaced_is_not_rotated),
        IN_WORLD(a_file_moved_during_rotation_loses_no_rotated_file),
        IN_WORLD(a_rotation_whose_directory_cannot_be_read_changes_nothing),
        IN_WORLD(a_rotated_file_that_can_t_be_read_is_renamed),
        IN_WORLD(a_locked_file_is_neither_opened_nor_repaired),
        IN_WORLD(the_lock_moves_with_a_rotation),
        IN_WORLD(a_rotation_that_would_rename_a_locked_file_fails),
        IN_WORLD(a_file_that_was_rotated_before_it_was_locked_is_opened_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
