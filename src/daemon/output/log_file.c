/*
 * log_file.c - opening, repairing, writing, checking and closing a file. log_file_rotate.c has the
 * rotation.
 *
 * An operation is a chain of steps. Each step is one call of the disk and one function after_...(), which
 * gets the result and starts the next step or ends the operation.
 *
 * Opening: open, stat, lock, stat by path; then, if the file is not empty, its end is read through
 * a second descriptor and an incomplete last line is overwritten with blanks. If another process
 * replaces the file meanwhile, opening starts again, at most LOG_FILE_REOPENS_MAX times. Any other
 * failure closes what was opened and ends with that error.
 */
#include "daemon/output/log_file.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#include "base/base.h"

void log_file_init(struct log_file *file, struct disk *disk, const char *path)
{
    *file = (struct log_file){.disk = disk, .path = path, .fd = -1, .second_fd = -1};
}

bool log_file_is_open(const struct log_file *file)
{
    return file->fd >= 0;
}

bool log_file_is_busy(const struct log_file *file)
{
    return file->after;
}

bool log_file_is_same(const struct disk_stat *a, const struct disk_stat *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* ---- steps ---- */

static void on_step_done(struct disk_op *op, int64_t result)
{
    struct log_file *f = container_of(op, struct log_file, op);
    f->after(f, result);
}

struct disk_op *log_file_step(struct log_file *f,
                              void (*after)(struct log_file *file, int64_t result))
{
    f->after = after;
    f->op.done = on_step_done;
    return &f->op;
}

void log_file_end(struct log_file *f, int64_t result)
{
    f->after = NULL;
    f->done(f, result);
}

/* ---- opening: the steps in their order ---- */

static void after_open(struct log_file *f, int64_t result);
static void after_open_stat(struct log_file *f, int64_t result);
static void after_lock(struct log_file *f, int64_t result);
static void after_lock_stat(struct log_file *f, int64_t result);
static void after_second_open(struct log_file *f, int64_t result);
static void after_second_stat(struct log_file *f, int64_t result);
static void after_read(struct log_file *f, int64_t n);
static void after_blank(struct log_file *f, int64_t n);
static void after_newline(struct log_file *f, int64_t result);
static void after_second_close(struct log_file *f, int64_t result);
static void after_aborted_close(struct log_file *f, int64_t result);

/* Opening failed: closes what is open, then ends with the first error. */
static void abort_opening(struct log_file *f, int64_t error)
{
    f->error = f->error ? f->error : (int)error;
    if (f->second_fd >= 0)
        f->disk->ops->close(f->disk, log_file_step(f, after_second_close), f->second_fd);
    else if (f->fd >= 0)
        f->disk->ops->close(f->disk, log_file_step(f, after_aborted_close), f->fd);
    else
        log_file_end(f, f->error);
}

void log_file_start_opening(struct log_file *f)
{
    f->error = 0;
    f->disk->ops->open(f->disk, log_file_step(f, after_open), f->path,
                       O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
}

static void after_open(struct log_file *f, int64_t result)
{
    if (result < 0) {
        abort_opening(f, result);
        return;
    }
    f->fd = (int)result;
    f->disk->ops->fstat(f->disk, log_file_step(f, after_open_stat), f->fd);
}

static void after_open_stat(struct log_file *f, int64_t result)
{
    if (result < 0) {
        abort_opening(f, result);
        return;
    }
    f->stat = f->op.stat;
    f->size = f->unfinished = 0;
    if (f->stat.regular)
        f->disk->ops->lock(f->disk, log_file_step(f, after_lock), f->fd, f->path, true);
    else
        log_file_end(f, 0);
}

static void after_lock(struct log_file *f, int64_t result)
{
    f->holder = f->op.lock_holder;
    f->is_local = f->op.is_local;
    if (result < 0)
        abort_opening(f, result);
    else
        f->disk->ops->stat(f->disk, log_file_step(f, after_lock_stat), f->path);
}

/* Before the file was locked, another process may have rotated it or written to it. */
static void after_lock_stat(struct log_file *f, int64_t result)
{
    bool moved = result == -ENOENT || (result >= 0 && !log_file_is_same(&f->op.stat, &f->stat));
    if (moved || result < 0) {
        abort_opening(f, moved ? LOG_FILE_MOVED : result);
        return;
    }
    f->size = f->incomplete = f->op.stat.size;
    f->continues = f->size ? f->continues : 0;
    if (f->size)
        f->disk->ops->open(f->disk, log_file_step(f, after_second_open), f->path,
                           O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    else
        log_file_end(f, 0);
}

static void after_second_open(struct log_file *f, int64_t result)
{
    if (result < 0) {
        abort_opening(f, result == -ENOENT ? LOG_FILE_MOVED : result);
        return;
    }
    f->second_fd = (int)result;
    f->disk->ops->fstat(f->disk, log_file_step(f, after_second_stat), f->second_fd);
}

static size_t piece_of(uint64_t len)
{
    return len < LOG_FILE_PIECE ? (size_t)len : LOG_FILE_PIECE;
}

/* Reads what is missing of the piece before `incomplete`. */
static void read_piece(struct log_file *f)
{
    size_t len = piece_of(f->incomplete), got = f->piece_len;
    f->disk->ops->read(f->disk, log_file_step(f, after_read), f->second_fd, f->piece + got,
                       len - got, (int64_t)(f->incomplete - len + got));
}

static void after_second_stat(struct log_file *f, int64_t result)
{
    if (result < 0) {
        abort_opening(f, result);
    } else if (!log_file_is_same(&f->op.stat, &f->stat)) {
        abort_opening(f, LOG_FILE_MOVED);
    } else {
        f->piece_len = 0;
        read_piece(f);
    }
}

/* With O_APPEND, Linux writes at the end of the file even if an offset is given. */
static int set_append(int fd, bool append)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, append ? flags | O_APPEND : flags & ~O_APPEND);
}

static void write_blanks(struct log_file *f)
{
    f->disk->ops->write(f->disk, log_file_step(f, after_blank), f->fd, f->piece,
                        piece_of(f->size - f->blanked), (int64_t)f->blanked);
}

static void write_newline(struct log_file *f)
{
    f->disk->ops->write(f->disk, log_file_step(f, after_newline), f->fd, "\n", 1, -1);
}

/* Looks for the last newline, piece by piece from the end. */
static void after_read(struct log_file *f, int64_t n)
{
    size_t len = piece_of(f->incomplete);
    uint64_t start = f->incomplete - len;
    const char *newline;
    if (n <= 0) { /* 0: another process has truncated the file */
        abort_opening(f, n ? n : LOG_FILE_MOVED);
        return;
    }
    f->piece_len += (size_t)n;
    if (f->piece_len < len) {
        read_piece(f);
        return;
    }
    newline = memrchr(f->piece, '\n', len);
    f->incomplete = newline ? start + (uint64_t)(newline - f->piece) + 1 : start;
    if (!newline && f->incomplete && f->size - f->incomplete < LOG_FILE_INCOMPLETE_MAX) {
        f->piece_len = 0;
        read_piece(f);
        return;
    }
    if (f->size - f->incomplete != f->continues)
        f->continues = 0;
    f->unfinished = f->continues;
    if (f->incomplete + f->continues == f->size) {
        f->disk->ops->close(f->disk, log_file_step(f, after_second_close), f->second_fd);
    } else if (set_append(f->fd, false) < 0) {
        write_newline(f); /* an append-only file (chattr +a) keeps its incomplete line */
    } else {
        f->blanked = f->incomplete;
        memset(f->piece, ' ', sizeof(f->piece));
        write_blanks(f);
    }
}

static void after_blank(struct log_file *f, int64_t n)
{
    if (n <= 0) { /* UNTESTED: 0; no file system writes nothing and reports success */
        abort_opening(f, n ? n : -EIO);
        return;
    }
    f->blanked += (uint64_t)n;
    if (f->blanked < f->size) {
        write_blanks(f);
        return;
    }
    set_append(f->fd, true);
    write_newline(f);
}

static void after_newline(struct log_file *f, int64_t n)
{
    if (n <= 0) { /* UNTESTED: 0, as in after_blank() */
        abort_opening(f, n ? n : -EIO);
        return;
    }
    f->size++;
    f->disk->ops->close(f->disk, log_file_step(f, after_second_close), f->second_fd);
}

static void after_second_close(struct log_file *f, int64_t result)
{
    (void)result;
    f->second_fd = -1;
    if (f->error)
        abort_opening(f, f->error);
    else
        log_file_end(f, 0);
}

static void after_aborted_close(struct log_file *f, int64_t result)
{
    (void)result;
    f->fd = -1;
    if (f->error == LOG_FILE_MOVED && f->reopens++ < LOG_FILE_REOPENS_MAX)
        log_file_start_opening(f);
    else
        log_file_end(f, f->error);
}

void log_file_open(struct log_file *file)
{
    assert(!log_file_is_busy(file) && !log_file_is_open(file));
    file->reopens = 0;
    log_file_start_opening(file);
}

/* ---- writing ---- */

static void after_write(struct log_file *f, int64_t n)
{
    const char *newline = n > 0 ? memrchr(f->bytes, '\n', (size_t)n) : NULL;
    if (newline)
        f->unfinished = (uint64_t)(f->bytes + n - newline - 1);
    else if (n > 0)
        f->unfinished += (uint64_t)n;
    f->size += n > 0 ? (uint64_t)n : 0;
    log_file_end(f, n);
}

void log_file_write(struct log_file *file, const char *bytes, size_t len)
{
    struct disk_op *op = log_file_step(file, after_write);
    assert(log_file_is_open(file));
    file->bytes = bytes;
    if (file->stat.regular)
        file->disk->ops->append(file->disk, op, file->fd, bytes, len);
    else
        file->disk->ops->write_polled(file->disk, op, file->fd, bytes, len);
}

void log_file_collect_write(struct log_file *file)
{
    if (file->after == after_write && file->stat.regular)
        file->disk->ops->collect(file->disk, &file->op);
}

void log_file_cancel_write(struct log_file *file)
{
    if (file->after == after_write)
        file->disk->ops->cancel(file->disk, &file->op);
}

/* ---- checking ---- */

static void after_check_same(struct log_file *f, int64_t result)
{
    log_file_end(f, result >= 0 && log_file_is_same(&f->op.stat, &f->stat));
}

void log_file_check_same(struct log_file *file)
{
    assert(!log_file_is_busy(file) && log_file_is_open(file));
    file->disk->ops->stat(file->disk, log_file_step(file, after_check_same), file->path);
}

/* A file system without link counts has the count 0 when the file is opened, too. */
static bool has_name(const struct log_file *f, int64_t links)
{
    return links || !f->stat.links;
}

static void after_check_name(struct log_file *f, int64_t result)
{
    log_file_end(f, result < 0 || has_name(f, (int64_t)f->op.stat.links));
}

void log_file_check_name(struct log_file *file)
{
    assert(!log_file_is_busy(file) && log_file_is_open(file));
    if (file->is_local)
        log_file_end(file, has_name(file, file->disk->ops->links(file->disk, file->fd)));
    else
        file->disk->ops->fstat(file->disk, log_file_step(file, after_check_name), file->fd);
}

/* ---- closing ---- */

static void after_close(struct log_file *f, int64_t result)
{
    (void)result;
    f->fd = -1;
    log_file_end(f, f->error);
}

static void close_file(struct log_file *f, int64_t error)
{
    f->error = (int)error;
    f->disk->ops->close(f->disk, log_file_step(f, after_close), f->fd);
}

static void after_close_blank(struct log_file *f, int64_t n);

/* The last byte becomes a newline. */
static void blank_unfinished(struct log_file *f)
{
    size_t len = piece_of(f->size - f->blanked);
    memset(f->piece, ' ', len);
    if (f->blanked + len == f->size)
        f->piece[len - 1] = '\n';
    f->disk->ops->write(f->disk, log_file_step(f, after_close_blank), f->fd, f->piece, len,
                        (int64_t)f->blanked);
}

static void after_close_blank(struct log_file *f, int64_t n)
{
    f->blanked += n > 0 ? (uint64_t)n : 0;
    if (n <= 0) /* UNTESTED: 0, as in after_blank() */
        close_file(f, n ? n : -EIO);
    else if (f->blanked < f->size)
        blank_unfinished(f);
    else
        close_file(f, 0);
}

/* If another process has truncated the file or written to it, its end is not overwritten. */
static void after_close_stat(struct log_file *f, int64_t result)
{
    if (result < 0 || f->op.stat.size != f->size || set_append(f->fd, false) < 0) {
        close_file(f, result < 0 ? result : 0);
        return;
    }
    f->blanked = f->size - f->unfinished;
    blank_unfinished(f);
}

void log_file_close(struct log_file *file)
{
    assert(!log_file_is_busy(file) && log_file_is_open(file));
    if (file->stat.regular && file->unfinished)
        file->disk->ops->fstat(file->disk, log_file_step(file, after_close_stat), file->fd);
    else
        close_file(file, 0);
}
