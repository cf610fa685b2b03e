/*
 * logfile_rotate.c - path.1 becomes path.2, path becomes path.1, and a new file is opened.
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
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "daemon/journal/logfile_internal.h"

char *logfile_rotated_name(const char *path, unsigned number, unsigned keep)
{
    return number > keep ? xasprintf("%s.oldest", path) : xasprintf("%s.%u", path, number);
}

/* Number 0 is the log itself. */
static char *name_of(const struct logfile *f, unsigned number)
{
    return number ? logfile_rotated_name(f->path, number, f->keep) : xstrdup(f->path);
}

static void rename_number(struct logfile *f, unsigned from, unsigned to)
{
    char *old = name_of(f, from), *new = name_of(f, to);
    f->disk->ops->rename(f->disk, &f->op, old, new);
    free(old);
    free(new);
}

static void open_number(struct logfile *f, unsigned number)
{
    char *name = name_of(f, number);
    f->disk->ops->open(f->disk, &f->op, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    free(name);
}

static void test_number(struct logfile *f, unsigned number)
{
    char *name = name_of(f, number);
    f->disk->ops->lock(f->disk, &f->op, f->mend_fd, name, false);
    free(name);
}

static void remove_oldest(struct logfile *f)
{
    char *name = name_of(f, f->keep + 1);
    f->disk->ops->remove(f->disk, &f->op, name);
    free(name);
}

void logfile_rotate_begin(struct logfile *f)
{
    switch ((int)f->step) {
    case LOGFILE_ROTATE_CHECK: f->disk->ops->stat(f->disk, &f->op, f->path); break;
    case LOGFILE_ROTATE_SEEK: open_number(f, f->free_number); break;
    case LOGFILE_ROTATE_TEST: test_number(f, f->free_number); break;
    case LOGFILE_ROTATE_TEST_CLOSE: f->disk->ops->close(f->disk, &f->op, f->mend_fd); break;
    case LOGFILE_ROTATE_SHIFT: rename_number(f, f->free_number - 1, f->free_number); break;
    case LOGFILE_ROTATE_UNDO: rename_number(f, f->free_number + 1, f->free_number); break;
    case LOGFILE_ROTATE_REMOVE: remove_oldest(f); break;
    default: f->disk->ops->close(f->disk, &f->op, f->fd);
    }
}

/* If another process moved or removed the file, it needs no rotation, only to be reopened. */
static void after_check(struct logfile *f, int64_t result)
{
    if (result == -ENOENT || (result == 0 && !logfile_is_same(&f->op.stat, &f->stat)))
        f->rotate_error = LOGFILE_MOVED;
    if (f->rotate_error)
        logfile_end(f, 0);
    else
        logfile_begin(f, LOGFILE_ROTATE_SEEK);
}

/* This number is used: continues with the next one. */
static void seek_next_number(struct logfile *f)
{
    f->free_number++;
    if (f->free_number <= f->keep) {
        logfile_begin(f, LOGFILE_ROTATE_SEEK);
        return;
    }
    f->first_free = f->free_number;
    logfile_begin(f, LOGFILE_ROTATE_SHIFT);
}

/* Errors of opening a file that exists; it can be renamed nevertheless. */
static bool exists_but_closed(int64_t error)
{
    return error == -EACCES || error == -EPERM || error == -ELOOP || error == -ENXIO;
}

static void after_seek(struct logfile *f, int64_t result)
{
    if (result >= 0) {
        f->mend_fd = (int)result;
        logfile_begin(f, LOGFILE_ROTATE_TEST);
    } else if (result == -ENOENT) {
        f->first_free = f->free_number;
        logfile_begin(f, LOGFILE_ROTATE_SHIFT);
    } else if (exists_but_closed(result)) {
        seek_next_number(f);
    } else {
        f->rotate_error = (int)result;
        logfile_end(f, 0);
    }
}

/* A locked file is in use as a log, by another process or by this one. */
static void after_test_close(struct logfile *f)
{
    f->mend_fd = -1;
    if (f->rotate_error)
        logfile_end(f, 0);
    else
        seek_next_number(f);
}

static void undo_next_rename(struct logfile *f)
{
    if (f->free_number < f->first_free)
        logfile_begin(f, LOGFILE_ROTATE_UNDO);
    else
        logfile_end(f, 0);
}

/* A missing rotated file is not a failure: its number is unused now. If the log itself is
 * missing, another process has just moved it. */
static void after_shift(struct logfile *f, int64_t result)
{
    if (result == -ENOENT && f->free_number == 1)
        f->rotate_error = LOGFILE_MOVED;
    if (f->rotate_error)
        undo_next_rename(f);
    else if (--f->free_number)
        logfile_begin(f, LOGFILE_ROTATE_SHIFT);
    else
        logfile_begin(f, f->first_free > f->keep ? LOGFILE_ROTATE_REMOVE : LOGFILE_ROTATE_CLOSE);
}

static void after_undo(struct logfile *f, int64_t result)
{
    if (result < 0 && result != -ENOENT) {
        logfile_end(f, 0);
        return;
    }
    f->free_number++;
    undo_next_rename(f);
}

/* Only errors of checking, testing and renaming are reported. A path.oldest that can't be
 * removed is replaced by the next rotation. */
static void note_error(struct logfile *f, int64_t result)
{
    bool matters = f->step == LOGFILE_ROTATE_CHECK || f->step == LOGFILE_ROTATE_TEST ||
                   f->step == LOGFILE_ROTATE_SHIFT;
    if (result < 0 && result != -ENOENT && matters)
        f->rotate_error = (int)result;
}

void logfile_rotate_step(struct logfile *f, int64_t result)
{
    note_error(f, result);
    switch ((int)f->step) {
    case LOGFILE_ROTATE_CHECK: after_check(f, result); break;
    case LOGFILE_ROTATE_SEEK: after_seek(f, result); break;
    case LOGFILE_ROTATE_TEST: logfile_begin(f, LOGFILE_ROTATE_TEST_CLOSE); break;
    case LOGFILE_ROTATE_TEST_CLOSE: after_test_close(f); break;
    case LOGFILE_ROTATE_SHIFT: after_shift(f, result); break;
    case LOGFILE_ROTATE_UNDO: after_undo(f, result); break;
    case LOGFILE_ROTATE_REMOVE: logfile_begin(f, LOGFILE_ROTATE_CLOSE); break;
    default: f->fd = -1; logfile_begin(f, LOGFILE_OPEN);
    }
}
