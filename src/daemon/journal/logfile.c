/*
 * logfile.c - the steps of each operation: logfile_begin() starts a step, on_step() handles its end
 * and starts the next.
 *
 * Opening: open, stat, lock, stat by path; then, if the file is not empty, its end is read through
 * a second descriptor and an incomplete last line is overwritten with blanks. If another process
 * replaces the file meanwhile, opening starts again, at most LOGFILE_REOPENS_MAX times. Any other
 * failure closes what was opened and ends with that error.
 */
#include "daemon/journal/logfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/base.h"
#include "daemon/journal/logfile_internal.h"

void logfile_init(struct logfile *file, struct disk *disk, const char *path, int fd,
                  void (*done)(struct logfile *file, int64_t result))
{
    file->disk = disk;
    file->path = path;
    file->fd = path ? -1 : fd;
    file->mend_fd = -1;
    file->size = file->unfinished = 0;
    file->error = 0;
    file->step = LOGFILE_IDLE;
    file->stat = (struct disk_stat){0};
    file->holder = 0;
    file->done = done;
}

bool logfile_is_open(const struct logfile *file)
{
    return file->fd >= 0;
}

bool logfile_is_busy(const struct logfile *file)
{
    return file->step != LOGFILE_IDLE;
}

void logfile_end(struct logfile *f, int64_t result)
{
    f->step = LOGFILE_IDLE;
    f->done(f, result);
}

/* ---- opening ---- */

/* Opening failed: closes what is open, then ends with the error. */
static void abort_opening(struct logfile *f, int error)
{
    f->error = f->error ? f->error : error;
    if (f->mend_fd >= 0)
        logfile_begin(f, LOGFILE_MEND_CLOSE);
    else if (f->fd >= 0)
        logfile_begin(f, LOGFILE_CLOSE);
    else
        logfile_end(f, f->error);
}

static void after_look(struct logfile *f)
{
    f->stat = f->op.stat;
    f->size = f->unfinished = 0;
    if (f->stat.regular)
        logfile_begin(f, LOGFILE_LOCK);
    else
        logfile_end(f, 0);
}

/* Before the file was locked, another process may have rotated it or written to it. */
static void after_lock_look(struct logfile *f)
{
    if (!logfile_is_same(&f->op.stat, &f->stat)) {
        abort_opening(f, LOGFILE_MOVED);
        return;
    }
    f->size = f->torn = f->op.stat.size;
    if (f->size)
        logfile_begin(f, LOGFILE_MEND_OPEN);
    else
        logfile_end(f, 0);
}

bool logfile_is_same(const struct disk_stat *a, const struct disk_stat *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static size_t piece_of(uint64_t len)
{
    return len < LOGFILE_PIECE ? (size_t)len : LOGFILE_PIECE;
}

/* With O_APPEND, Linux writes at the end of the file even if an offset is given. */
static int set_append(int fd, bool append)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, append ? flags | O_APPEND : flags & ~O_APPEND);
}

static void begin_reading(struct logfile *f)
{
    f->piece_len = 0;
    logfile_begin(f, LOGFILE_MEND_READ);
}

/* An append-only file (chattr +a) keeps its incomplete line, which is only ended with a newline. */
static void begin_blanking(struct logfile *f)
{
    f->blanked = f->torn;
    memset(f->piece, ' ', sizeof(f->piece));
    logfile_begin(f, set_append(f->fd, false) < 0 ? LOGFILE_MEND_END : LOGFILE_MEND_BLANK);
}

/* Looks for the last newline, piece by piece from the end. */
static void after_mend_read(struct logfile *f, int64_t n)
{
    size_t len = piece_of(f->torn);
    uint64_t start = f->torn - len;
    const char *newline;
    if (n == 0) { /* another process has truncated the file */
        abort_opening(f, LOGFILE_MOVED);
        return;
    }
    f->piece_len += (size_t)n;
    if (f->piece_len < len) {
        logfile_begin(f, LOGFILE_MEND_READ);
        return;
    }
    newline = memrchr(f->piece, '\n', len);
    f->torn = newline ? start + (uint64_t)(newline - f->piece) + 1 : start;
    if (!newline && f->torn && f->size - f->torn < LOGFILE_TORN_MAX)
        begin_reading(f);
    else if (f->torn == f->size)
        logfile_begin(f, LOGFILE_MEND_CLOSE);
    else
        begin_blanking(f);
}

static void after_mend_blank(struct logfile *f, int64_t n)
{
    f->blanked += (uint64_t)n;
    if (f->blanked < f->size) {
        logfile_begin(f, LOGFILE_MEND_BLANK);
        return;
    }
    set_append(f->fd, true);
    logfile_begin(f, LOGFILE_MEND_END);
}

static void after_mend_close(struct logfile *f)
{
    f->mend_fd = -1;
    if (f->error)
        abort_opening(f, f->error);
    else
        logfile_end(f, 0);
}

static void after_close(struct logfile *f)
{
    f->fd = -1;
    if (f->error == LOGFILE_MOVED && f->reopens++ < LOGFILE_REOPENS_MAX)
        logfile_begin(f, LOGFILE_OPEN);
    else
        logfile_end(f, f->error);
}

/* ---- closing ---- */

/* If another process has truncated the file or written to it, its end is not overwritten. */
static void after_close_look(struct logfile *f)
{
    if (f->op.stat.size != f->size || set_append(f->fd, false) < 0) {
        logfile_begin(f, LOGFILE_CLOSE);
        return;
    }
    f->blanked = f->size - f->unfinished;
    logfile_begin(f, LOGFILE_CLOSE_BLANK);
}

/* The last byte becomes a newline. */
static void blank_unfinished(struct logfile *f)
{
    size_t len = piece_of(f->size - f->blanked);
    memset(f->piece, ' ', len);
    if (f->blanked + len == f->size)
        f->piece[len - 1] = '\n';
    f->disk->ops->write(f->disk, &f->op, f->fd, f->piece, len, (int64_t)f->blanked);
}

static void after_close_blank(struct logfile *f, int64_t n)
{
    f->blanked += (uint64_t)n;
    logfile_begin(f, f->blanked < f->size ? LOGFILE_CLOSE_BLANK : LOGFILE_CLOSE);
}

static void fail_blanking(struct logfile *f, int error)
{
    f->error = error;
    logfile_begin(f, LOGFILE_CLOSE);
}

/* ---- writing ---- */

static void after_write(struct logfile *f, int64_t n)
{
    const char *newline = n > 0 ? memrchr(f->bytes, '\n', (size_t)n) : NULL;
    if (newline)
        f->unfinished = (uint64_t)(f->bytes + n - newline - 1);
    else if (n > 0)
        f->unfinished += (uint64_t)n;
    f->size += n > 0 ? (uint64_t)n : 0;
    logfile_end(f, n);
}

/* ---- steps ---- */

static bool is_opening(enum logfile_step step)
{
    return step >= LOGFILE_OPEN && step <= LOGFILE_MEND_END;
}

static bool is_blanking(enum logfile_step step)
{
    return step == LOGFILE_MEND_BLANK || step == LOGFILE_MEND_END || step == LOGFILE_CLOSE_BLANK;
}

/* Handles the failure of a step. False: the end of the step handles it. */
static bool fail_step(struct logfile *f, int error)
{
    bool gone = error == -ENOENT && (f->step == LOGFILE_LOCK_LOOK || f->step == LOGFILE_MEND_OPEN);
    if (is_opening(f->step))
        abort_opening(f, gone ? LOGFILE_MOVED : error);
    else if (f->step == LOGFILE_CLOSE_LOOK || f->step == LOGFILE_CLOSE_BLANK)
        fail_blanking(f, error);
    else
        return false;
    return true;
}

static void on_step(struct disk_op *op, int64_t result)
{
    struct logfile *f = container_of(op, struct logfile, op);
    enum logfile_step step = f->step;
    if (step == LOGFILE_LOCK || step == LOGFILE_ROTATE_TEST)
        f->holder = op->lock_holder;
    if (result == 0 && is_blanking(step))
        result = -EIO; /* UNTESTED: no file system writes nothing and reports success */
    if (result < 0 && fail_step(f, (int)result))
        return;
    switch (step) {
    case LOGFILE_IDLE: break;
    case LOGFILE_OPEN:
        f->fd = (int)result;
        logfile_begin(f, LOGFILE_LOOK);
        break;
    case LOGFILE_LOOK: after_look(f); break;
    case LOGFILE_LOCK: logfile_begin(f, LOGFILE_LOCK_LOOK); break;
    case LOGFILE_LOCK_LOOK: after_lock_look(f); break;
    case LOGFILE_MEND_OPEN:
        f->mend_fd = (int)result;
        logfile_begin(f, LOGFILE_MEND_LOOK);
        break;
    case LOGFILE_MEND_LOOK:
        if (logfile_is_same(&op->stat, &f->stat))
            begin_reading(f);
        else
            abort_opening(f, LOGFILE_MOVED);
        break;
    case LOGFILE_MEND_READ: after_mend_read(f, result); break;
    case LOGFILE_MEND_BLANK: after_mend_blank(f, result); break;
    case LOGFILE_MEND_END:
        f->size++;
        logfile_begin(f, LOGFILE_MEND_CLOSE);
        break;
    case LOGFILE_MEND_CLOSE: after_mend_close(f); break;
    case LOGFILE_WRITE: after_write(f, result); break;
    case LOGFILE_CHECK: logfile_end(f, result >= 0 && logfile_is_same(&op->stat, &f->stat)); break;
    case LOGFILE_NAMES: logfile_end(f, result < 0 || op->stat.links || !f->stat.links); break;
    case LOGFILE_ROTATE_CHECK:
    case LOGFILE_ROTATE_SEEK:
    case LOGFILE_ROTATE_TEST:
    case LOGFILE_ROTATE_TEST_CLOSE:
    case LOGFILE_ROTATE_SHIFT:
    case LOGFILE_ROTATE_UNDO:
    case LOGFILE_ROTATE_REMOVE:
    case LOGFILE_ROTATE_CLOSE: logfile_rotate_step(f, result); break;
    case LOGFILE_CLOSE_LOOK: after_close_look(f); break;
    case LOGFILE_CLOSE_BLANK: after_close_blank(f, result); break;
    case LOGFILE_CLOSE: after_close(f); break;
    }
}

static void begin_mending(struct logfile *f)
{
    const struct disk_ops *ops = f->disk->ops;
    size_t n = piece_of(f->torn), got = f->piece_len;
    switch ((int)f->step) {
    case LOGFILE_MEND_OPEN:
        ops->open(f->disk, &f->op, f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
        break;
    case LOGFILE_MEND_LOOK: ops->fstat(f->disk, &f->op, f->mend_fd); break;
    case LOGFILE_MEND_READ:
        ops->read(f->disk, &f->op, f->mend_fd, f->piece + got, n - got,
                  (int64_t)(f->torn - n + got));
        break;
    case LOGFILE_MEND_BLANK:
        ops->write(f->disk, &f->op, f->fd, f->piece, piece_of(f->size - f->blanked),
                   (int64_t)f->blanked);
        break;
    case LOGFILE_MEND_END: ops->write(f->disk, &f->op, f->fd, "\n", 1, -1); break;
    default: ops->close(f->disk, &f->op, f->mend_fd);
    }
}

void logfile_begin(struct logfile *f, enum logfile_step step)
{
    const struct disk_ops *ops = f->disk->ops;
    f->step = step;
    f->op.done = on_step;
    switch (step) {
    case LOGFILE_OPEN:
        f->error = 0;
        ops->open(f->disk, &f->op, f->path,
                  O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
        break;
    case LOGFILE_LOOK: ops->fstat(f->disk, &f->op, f->fd); break;
    case LOGFILE_LOCK: ops->lock(f->disk, &f->op, f->fd, f->path, true); break;
    case LOGFILE_LOCK_LOOK: ops->stat(f->disk, &f->op, f->path); break;
    case LOGFILE_MEND_OPEN:
    case LOGFILE_MEND_LOOK:
    case LOGFILE_MEND_READ:
    case LOGFILE_MEND_BLANK:
    case LOGFILE_MEND_END:
    case LOGFILE_MEND_CLOSE: begin_mending(f); break;
    case LOGFILE_CHECK: ops->stat(f->disk, &f->op, f->path); break;
    case LOGFILE_NAMES: ops->fstat(f->disk, &f->op, f->fd); break;
    case LOGFILE_CLOSE_LOOK: ops->fstat(f->disk, &f->op, f->fd); break;
    case LOGFILE_CLOSE_BLANK: blank_unfinished(f); break;
    case LOGFILE_CLOSE: ops->close(f->disk, &f->op, f->fd); break;
    case LOGFILE_ROTATE_CHECK:
    case LOGFILE_ROTATE_SEEK:
    case LOGFILE_ROTATE_TEST:
    case LOGFILE_ROTATE_TEST_CLOSE:
    case LOGFILE_ROTATE_SHIFT:
    case LOGFILE_ROTATE_UNDO:
    case LOGFILE_ROTATE_REMOVE:
    case LOGFILE_ROTATE_CLOSE: logfile_rotate_begin(f); break;
    case LOGFILE_WRITE: /* begun by logfile_write() */
    case LOGFILE_IDLE: break;
    }
}

/* ---- operations ---- */

void logfile_open(struct logfile *file)
{
    assert(!logfile_is_busy(file) && !logfile_is_open(file));
    file->reopens = 0;
    logfile_begin(file, LOGFILE_OPEN);
}

void logfile_write(struct logfile *file, const char *bytes, size_t len)
{
    assert(!logfile_is_busy(file) && logfile_is_open(file));
    file->bytes = bytes;
    logfile_begin(file, LOGFILE_WRITE);
    if (file->path && !file->stat.regular)
        file->disk->ops->write_polled(file->disk, &file->op, file->fd, bytes, len);
    else
        file->disk->ops->write(file->disk, &file->op, file->fd, bytes, len, -1);
}

void logfile_cancel_write(struct logfile *file)
{
    if (file->step == LOGFILE_WRITE)
        file->disk->ops->cancel(file->disk, &file->op);
}

void logfile_check(struct logfile *file)
{
    assert(!logfile_is_busy(file) && logfile_is_open(file));
    logfile_begin(file, LOGFILE_CHECK);
}

/* A file system without link counts has the count 0 when the file is opened, too. */
void logfile_look(struct logfile *file)
{
    assert(!logfile_is_busy(file) && logfile_is_open(file));
    logfile_begin(file, LOGFILE_NAMES);
}

void logfile_rotate(struct logfile *file, unsigned keep)
{
    assert(!logfile_is_busy(file) && logfile_is_open(file) && keep);
    file->reopens = 0;
    file->keep = keep;
    file->free_number = 1;
    file->rotate_error = 0;
    logfile_begin(file, LOGFILE_ROTATE_CHECK);
}

void logfile_close(struct logfile *file)
{
    assert(!logfile_is_busy(file) && logfile_is_open(file));
    file->error = 0;
    logfile_begin(file,
                  file->stat.regular && file->unfinished ? LOGFILE_CLOSE_LOOK : LOGFILE_CLOSE);
}
