/*
 * log_tail.c - open, stat, read and close the log; if it is too short, list its directory, and do the same for the
 * rotated files, from the newest on, until there are enough bytes.
 *
 * Each step is one call of the disk and one function after_...(). If the log or the newest rotated file can't be
 * opened or read, that error ends the operation; an older one ends it without an error. A file that does not exist is
 * empty: a crash in the middle of a rotation leaves a number unused.
 */
#include "daemon/output/log_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

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

static void open_form(struct log_tail *t, enum log_form form)
{
    char *path = log_rotated_path(&t->rotated, t->number, form);
    t->form = form;
    t->disk->ops->open(t->disk, next_step(t, after_open), path,
                       O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    free(path);
}

/* PATH.oldest is newer than a file that an earlier configuration has left with its number. */
static void open_file(struct log_tail *t)
{
    bool may_be_oldest = t->number == t->rotated.n_dates + t->rotated.keep + 1;
    open_form(t, may_be_oldest ? LOG_OLDEST : LOG_PLAIN);
}

static void list_directory(struct log_tail *t)
{
    char *directory = log_rotated_directory(&t->rotated);
    t->disk->ops->list(t->disk, next_step(t, after_list), directory);
    free(directory);
}

static void end_reading(struct log_tail *t, int error)
{
    log_rotated_free(&t->rotated);
    t->after = NULL;
    t->done(t, error);
}

/* A log with dates only is not rotated by informerd. Else the files with numbers are the newest ones. */
static bool is_last(const struct log_tail *t)
{
    const struct log_rotated *names = &t->rotated;
    return names->n_dates && !names->greatest ? t->number == names->n_dates
                                              : log_rotated_may_be_last(names, t->number);
}

/* The current file is read completely, or does not exist. */
static void end_file(struct log_tail *t)
{
    t->len += t->error ? 0 : t->got;
    if (t->error) {
        end_reading(t, t->number > t->first ? 0 : t->error);
    } else if (t->len == t->wanted || (t->number && is_last(t))) {
        end_reading(t, 0);
    } else if (!t->number) {
        list_directory(t);
    } else {
        t->number++;
        open_file(t);
    }
}

static void close_file(struct log_tail *t, int error)
{
    t->error = error;
    t->disk->ops->close(t->disk, next_step(t, after_close), t->fd);
}

static void after_list(struct log_tail *t, int64_t result)
{
    log_rotated_look(&t->rotated, result >= 0 ? t->op.names : NULL);
    t->first = t->number = t->rotated.greatest ? (unsigned)t->rotated.n_dates + 1 : 1;
    open_file(t);
}

static void after_open(struct log_tail *t, int64_t result)
{
    t->got = 0;
    if (result == -ENOENT && t->form == LOG_OLDEST) {
        open_form(t, LOG_PLAIN);
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

void log_tail_read(struct log_tail *tail, struct disk *disk, const char *path, unsigned keep,
                   size_t wanted, void (*done)(struct log_tail *tail, int error))
{
    *tail = (struct log_tail){.disk = disk,
                              .rotated = {.path = path, .keep = keep},
                              .fd = -1,
                              .wanted = wanted,
                              .done = done};
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
