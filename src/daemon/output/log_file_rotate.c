/*
 * log_file_rotate.c - path.1 becomes path.2, path becomes path.1, and a new file is opened.
 *
 * Normal path: check that the path still names our file; find the first unused number, testing that
 * no process has locked the files before it; rename the files from the highest number down; close
 * our descriptor and open the new file. If no number up to `keep` is unused, the oldest file
 * becomes path.oldest and is removed when our file has been renamed.
 *
 * If a rename fails, the earlier ones are undone in reverse order, and the log continues in its
 * file, which stays open until its own rename has succeeded. If undoing fails too, a number stays
 * free, which the next rotation uses, and path.oldest stays. So a rotation that fails never
 * replaces or removes a file, except a path.oldest left by an earlier failure, once there are
 * `keep` newer files again.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "daemon/output/log_file.h"

char *log_file_rotated_name(const char *path, unsigned number, unsigned keep)
{
    return number > keep ? xasprintf("%s.oldest", path) : xasprintf("%s.%u", path, number);
}

/* Number 0 is the log itself. */
static char *name_of(const struct log_file *f, unsigned number)
{
    return number ? log_file_rotated_name(f->path, number, f->keep) : xstrdup(f->path);
}

/* The steps in their order. */
static void after_check(struct log_file *f, int64_t result);
static void after_seek(struct log_file *f, int64_t result);
static void after_lock_test(struct log_file *f, int64_t result);
static void after_lock_test_close(struct log_file *f, int64_t result);
static void after_shift(struct log_file *f, int64_t result);
static void after_undo(struct log_file *f, int64_t result);
static void after_remove(struct log_file *f, int64_t result);
static void after_rotate_close(struct log_file *f, int64_t result);

void log_file_rotate(struct log_file *file, unsigned keep)
{
    assert(!log_file_is_busy(file) && log_file_is_open(file) && keep);
    file->reopens = 0;
    file->keep = keep;
    file->free_number = 1;
    file->rotate_error = 0;
    file->disk->ops->stat(file->disk, log_file_step(file, after_check), file->path);
}

/* Opens the file with the number `free_number`, to find out whether it exists. */
static void seek_number(struct log_file *f)
{
    char *name = name_of(f, f->free_number);
    f->disk->ops->open(f->disk, log_file_step(f, after_seek), name,
                       O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    free(name);
}

static void rename_number(struct log_file *f, unsigned from, unsigned to,
                          void (*after)(struct log_file *f, int64_t result))
{
    char *old = name_of(f, from), *new = name_of(f, to);
    f->disk->ops->rename(f->disk, log_file_step(f, after), old, new);
    free(old);
    free(new);
}

/* If another process moved or removed the file, it needs no rotation, only to be reopened. */
static void after_check(struct log_file *f, int64_t result)
{
    if (result == -ENOENT || (result >= 0 && !log_file_is_same(&f->op.stat, &f->stat)))
        f->rotate_error = LOG_FILE_MOVED;
    else if (result < 0)
        f->rotate_error = (int)result;
    if (f->rotate_error)
        log_file_end(f, 0);
    else
        seek_number(f);
}

static void start_renaming(struct log_file *f)
{
    f->first_free = f->free_number;
    rename_number(f, f->free_number - 1, f->free_number, after_shift);
}

/* `free_number` is used: continues with the next one. */
static void seek_next_number(struct log_file *f)
{
    f->free_number++;
    if (f->free_number <= f->keep)
        seek_number(f);
    else
        start_renaming(f);
}

static void after_seek(struct log_file *f, int64_t result)
{
    /* Errors of opening a file that exists; it can be renamed nevertheless. */
    bool exists = result == -EACCES || result == -EPERM || result == -ELOOP || result == -ENXIO;
    if (result >= 0) {
        char *name = name_of(f, f->free_number);
        f->second_fd = (int)result;
        f->disk->ops->lock(f->disk, log_file_step(f, after_lock_test), f->second_fd, name, false);
        free(name);
    } else if (result == -ENOENT) {
        start_renaming(f);
    } else if (exists) {
        seek_next_number(f);
    } else {
        f->rotate_error = (int)result;
        log_file_end(f, 0);
    }
}

/* A locked file is in use as a log, by another process or by this one. */
static void after_lock_test(struct log_file *f, int64_t result)
{
    f->holder = f->op.lock_holder;
    f->rotate_error = result < 0 ? (int)result : 0;
    f->disk->ops->close(f->disk, log_file_step(f, after_lock_test_close), f->second_fd);
}

static void after_lock_test_close(struct log_file *f, int64_t result)
{
    (void)result;
    f->second_fd = -1;
    if (f->rotate_error)
        log_file_end(f, 0);
    else
        seek_next_number(f);
}

static void undo_next_rename(struct log_file *f)
{
    if (f->free_number < f->first_free)
        rename_number(f, f->free_number + 1, f->free_number, after_undo);
    else
        log_file_end(f, 0);
}

/* A missing rotated file is not a failure: its number is unused now. If the log itself is
 * missing, another process has just moved it. */
static void after_shift(struct log_file *f, int64_t result)
{
    if (result == -ENOENT && f->free_number == 1)
        f->rotate_error = LOG_FILE_MOVED;
    else if (result < 0 && result != -ENOENT)
        f->rotate_error = (int)result;
    if (f->rotate_error) {
        undo_next_rename(f);
    } else if (--f->free_number) {
        rename_number(f, f->free_number - 1, f->free_number, after_shift);
    } else if (f->first_free > f->keep) {
        char *oldest = name_of(f, f->keep + 1);
        f->disk->ops->remove(f->disk, log_file_step(f, after_remove), oldest);
        free(oldest);
    } else {
        after_remove(f, 0);
    }
}

static void after_undo(struct log_file *f, int64_t result)
{
    if (result < 0 && result != -ENOENT) {
        log_file_end(f, 0);
        return;
    }
    f->free_number++;
    undo_next_rename(f);
}

/* A path.oldest that can't be removed is replaced by the next rotation. */
static void after_remove(struct log_file *f, int64_t result)
{
    (void)result;
    f->disk->ops->close(f->disk, log_file_step(f, after_rotate_close), f->fd);
}

static void after_rotate_close(struct log_file *f, int64_t result)
{
    (void)result;
    f->fd = -1;
    log_file_start_opening(f);
}
