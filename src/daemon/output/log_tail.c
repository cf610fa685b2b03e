/*
 * log_tail.c - open, stat, read and close the log; if it is too short, the same for the newest rotated
 * file, whose name is looked up if it has a date.
 *
 * Each step is one call of the disk and one function after_...(). A file that can't be opened or read
 * ends the operation with that error; one that does not exist is empty.
 */
#include "daemon/output/log_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/output/log_rotated.h"

static void on_step_done(struct disk_op *op, int64_t result)
{
    struct log_tail *t = container_of(op, struct log_tail, op);
    t->after(t, result);
}

static struct disk_op *next_step(struct log_tail *t,
                                 void (*after)(struct log_tail *tail, int64_t result))
{
    t->after = after;
    t->op.done = on_step_done;
    return &t->op;
}

/* The steps in their order. */
static void after_open(struct log_tail *t, int64_t result);
static void after_list(struct log_tail *t, int64_t result);
static void after_stat(struct log_tail *t, int64_t result);
static void after_read(struct log_tail *t, int64_t n);
static void after_close(struct log_tail *t, int64_t result);

static void open_path(struct log_tail *t, const char *path)
{
    t->disk->ops->open(t->disk, next_step(t, after_open), path,
                       O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
}

static void open_file(struct log_tail *t)
{
    const struct log_rotated names = {.path = t->path};
    char *path = log_rotated_path(&names, t->number, LOG_PLAIN);
    open_path(t, path);
    free(path);
}

/* The current file is read completely, or does not exist. */
static void end_file(struct log_tail *t)
{
    t->len += t->got;
    if (t->error || t->number || t->len == t->wanted) {
        t->after = NULL;
        t->done(t, t->error);
        return;
    }
    t->number++;
    open_file(t);
}

static void close_file(struct log_tail *t, int error)
{
    t->error = error;
    t->disk->ops->close(t->disk, next_step(t, after_close), t->fd);
}

static void after_list(struct log_tail *t, int64_t result)
{
    struct log_rotated names = {.path = t->path};
    char *path;
    log_rotated_look(&names, result >= 0 ? t->op.names : NULL);
    if (names.n_dates) {
        path = log_rotated_path(&names, 1, LOG_PLAIN);
        open_path(t, path);
        free(path);
    } else {
        end_file(t);
    }
    log_rotated_free(&names);
}

/* There is no PATH.1. */
static void list_directory(struct log_tail *t)
{
    const struct log_rotated names = {.path = t->path};
    char *directory = log_rotated_directory(&names);
    t->listed = true;
    t->disk->ops->list(t->disk, next_step(t, after_list), directory);
    free(directory);
}

static void after_open(struct log_tail *t, int64_t result)
{
    t->got = 0;
    if (result == -ENOENT && t->number && !t->listed) {
        list_directory(t);
        return;
    }
    if (result < 0) {
        t->error = result == -ENOENT ? 0 : (int)result;
        end_file(t);
        return;
    }
    t->fd = (int)result;
    t->disk->ops->fstat(t->disk, next_step(t, after_stat), t->fd);
}

static void read_piece(struct log_tail *t)
{
    char *at = t->bytes + t->wanted - t->len - t->piece;
    t->disk->ops->read(t->disk, next_step(t, after_read), t->fd, at + t->got, t->piece - t->got,
                       (int64_t)(t->size - t->piece + t->got));
}

static void after_stat(struct log_tail *t, int64_t result)
{
    size_t missing = t->wanted - t->len;
    if (result < 0 || !t->op.stat.regular || !t->op.stat.size) {
        close_file(t, result < 0 ? (int)result : 0);
        return;
    }
    t->size = t->op.stat.size;
    t->piece = t->size < missing ? (size_t)t->size : missing;
    read_piece(t);
}

static void after_read(struct log_tail *t, int64_t n)
{
    if (n <= 0) { /* 0: another process has truncated the file */
        close_file(t, n ? (int)n : -EIO);
        return;
    }
    t->got += (size_t)n;
    if (t->got < t->piece)
        read_piece(t);
    else
        close_file(t, 0);
}

static void after_close(struct log_tail *t, int64_t result)
{
    (void)result;
    t->fd = -1;
    end_file(t);
}

void log_tail_read(struct log_tail *tail, struct disk *disk, const char *path, size_t wanted,
                   void (*done)(struct log_tail *tail, int error))
{
    *tail = (struct log_tail){.disk = disk, .path = path, .fd = -1, .wanted = wanted, .done = done};
    tail->bytes = xmalloc(wanted);
    open_file(tail);
}

struct str log_tail_bytes(const struct log_tail *tail)
{
    return (struct str){tail->bytes + tail->wanted - tail->len, tail->len};
}

void log_tail_free(struct log_tail *tail)
{
    free(tail->bytes);
    tail->bytes = NULL;
}
