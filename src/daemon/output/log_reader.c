/*
 * log_reader.c - reads a file in pieces, cuts it into lines, and notices when it was rotated.
 * log_reader_find.c finds the first and the next file.
 *
 * At the end of a file: if its path still names it, there is no more for now. Otherwise it was rotated.
 * Once the log does not write to it any more, it is read to its end again, because of what was written
 * in between; then the next file follows.
 *
 * Each step is one operation of the disk and one function after_...(). The first error ends reading.
 */
#include "daemon/output/log_reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/json/json.h"
#include "daemon/output/log_file.h"
#include "daemon/output/log_reader_internal.h"

/* ---- steps ---- */

void log_reader_gate_init(struct log_reader_gate *gate)
{
    gate->running = 0;
    list_init(&gate->waiting);
}

static void gate_run_next(struct log_reader_gate *gate)
{
    struct list *node;
    struct log_reader *r;
    if (gate->running >= LOG_READER_OPERATIONS || !(node = list_pop(&gate->waiting)))
        return;
    r = container_of(node, struct log_reader, node);
    gate->running++;
    r->opens = false;
    r->start(r);
}

static void dispose(struct log_reader *r);

static void on_step_done(struct disk_op *op, int64_t result)
{
    struct log_reader *r = container_of(op, struct log_reader, op);
    void (*after)(struct log_reader * reader, int64_t result) = r->after;
    r->after = NULL;
    r->gate->running--;
    gate_run_next(r->gate);
    if (r->user)
        after(r, result);
    else if (r->opens && result >= 0)
        r->next_fd = (int)result;
    if (r->after)
        return; /* the next step */
    r->busy = false;
    if (!r->user)
        dispose(r);
}

void log_reader_step(struct log_reader *r, void (*start)(struct log_reader *r),
                     void (*after)(struct log_reader *r, int64_t result))
{
    r->start = start;
    r->after = after;
    r->op.done = on_step_done;
    r->busy = true;
    list_push(&r->gate->waiting, &r->node);
    gate_run_next(r->gate);
}

void log_reader_report(struct log_reader *r, enum log_reader_result result)
{
    r->user->ops->on_more(r->user, result);
}

void log_reader_fail(struct log_reader *r, int64_t error)
{
    r->error = (int)error;
    log_reader_report(r, LOG_READER_FAILED);
}

/* ---- reading ---- */

static void start_read(struct log_reader *r)
{
    size_t len = r->is_gzip ? LOG_READER_PACKED : LOG_READER_PIECE;
    char *room = r->is_gzip ? r->packed : buf_room(&r->bytes, len);
    r->disk->ops->read(r->disk, &r->op, r->fd, room, len, (int64_t)r->offset);
}

static void start_stat(struct log_reader *r)
{
    r->disk->ops->stat(r->disk, &r->op, r->path);
}

void log_reader_rewind(struct log_reader *r)
{
    r->offset = 0;
    r->taken = 0;
    r->skipping = r->leaving = r->damaged = false;
    buf_clear(&r->bytes);
    if (r->is_gzip)
        log_reader_gzip_begin(r);
    else
        log_reader_gzip_end(r);
}

static void after_stat(struct log_reader *r, int64_t result)
{
    bool same = result >= 0 && log_file_is_same(&r->op.stat, &r->file);
    if (same && r->op.stat.size < r->offset) { /* truncated: logrotate's copytruncate */
        log_reader_rewind(r);
        log_reader_read(r);
    } else if (same || r->user->ops->is_written(r->user, &r->file)) {
        log_reader_report(r, LOG_READER_END);
    } else {
        r->leaving = true;
        log_reader_read(r);
    }
}

/* Drops a line that is longer than any record. Returns whether there is a complete line. */
static bool has_line(struct log_reader *r, size_t old)
{
    const char *newline = memchr(r->bytes.bytes + old, '\n', r->bytes.len - old);
    if (r->skipping && newline) {
        buf_consume(&r->bytes, (size_t)(newline - r->bytes.bytes) + 1);
        r->skipping = false;
        newline = r->bytes.len ? memchr(r->bytes.bytes, '\n', r->bytes.len) : NULL;
    }
    if (r->skipping || (!newline && r->bytes.len > LOG_READER_LINE_MAX)) {
        r->skipping = true;
        buf_clear(&r->bytes);
    }
    return newline;
}

/* A compressed file is complete: the next one follows. */
static void take_packed(struct log_reader *r, size_t len)
{
    size_t old = r->bytes.len;
    ssize_t used = log_reader_inflate(r, len);
    if (used < 0) {
        r->damaged = true;
        r->gap = r->last_seq;
        log_reader_report(r, LOG_READER_GAP);
        return;
    }
    r->offset += (uint64_t)used;
    if (r->bytes.len > old && has_line(r, old))
        log_reader_report(r, LOG_READER_LINES);
    else if (len || r->bytes.len > old)
        log_reader_read(r);
    else
        log_reader_find_next(r);
}

static void after_read(struct log_reader *r, int64_t n)
{
    size_t old = r->bytes.len;
    if (n < 0) {
        log_reader_fail(r, n);
        return;
    }
    if (r->is_gzip) {
        take_packed(r, (size_t)n);
        return;
    }
    if (n == 0) {
        if (r->leaving)
            log_reader_find_next(r);
        else
            log_reader_step(r, start_stat, after_stat);
        return;
    }
    r->bytes.len += (size_t)n;
    r->offset += (uint64_t)n;
    if (has_line(r, old))
        log_reader_report(r, LOG_READER_LINES);
    else
        log_reader_read(r);
}

void log_reader_read(struct log_reader *r)
{
    log_reader_step(r, start_read, after_read);
}

void log_reader_more(struct log_reader *r)
{
    assert(!r->after);
    buf_consume(&r->bytes, r->taken);
    r->taken = 0;
    if (r->bytes.cap > 4 * LOG_READER_PIECE && r->bytes.len < LOG_READER_PIECE) {
        struct buf small = {0}; /* after a long line */
        buf_put(&small, r->bytes.bytes, r->bytes.len);
        buf_free(&r->bytes);
        r->bytes = small;
    }
    if (r->fd < 0)
        log_reader_find_first(r);
    else if (r->damaged)
        log_reader_find_next(r);
    else
        log_reader_read(r);
}

/* ---- records ---- */

static bool is_ours(const struct log_reader *r, const struct record_line *record)
{
    return json_value_is(record->log, str_of(r->log));
}

bool log_reader_is_before(const struct log_reader *r, const struct record_line *record)
{
    switch (r->from.kind) {
    case LOG_FROM_START: break;
    case LOG_FROM_SEQ: return !is_ours(r, record) || record->seq < r->from.seq;
    case LOG_FROM_TIME: return record->time_us < r->from.time_us;
    }
    return false;
}

bool log_reader_take(struct log_reader *r, struct record_line *ret)
{
    for (;;) {
        const char *at = r->bytes.bytes + r->taken;
        size_t left = r->bytes.len - r->taken;
        const char *newline = left ? memchr(at, '\n', left) : NULL;
        if (!newline)
            return false;
        r->taken += (size_t)(newline - at) + 1;
        if (!record_line_read_head((struct str){at, (size_t)(newline - at)}, ret) ||
            log_reader_is_before(r, ret))
            continue;
        if (!is_ours(r, ret))
            return true;
        if (ret->seq <= r->last_seq) /* after a gap the file may be one that was read before */
            continue;
        r->last_seq = ret->seq;
        return true;
    }
}

uint64_t log_reader_gap(const struct log_reader *reader)
{
    return reader->gap;
}

int log_reader_error(const struct log_reader *reader)
{
    return reader->error;
}

/* ---- life ---- */

struct log_reader *log_reader_new(const struct log_reader_files *files,
                                  const struct log_position *from, struct log_reader_user *user)
{
    struct log_reader *r = NEW(struct log_reader);
    r->user = user;
    r->disk = files->disk;
    r->gate = files->gate;
    r->path = xstrdup(files->path);
    r->log = xstrdup(files->log);
    r->rotated = (struct log_rotated){.path = r->path, .keep = files->keep};
    r->from = *from;
    r->fd = r->next_fd = -1;
    list_init(&r->node);
    return r;
}

static void on_disposed(struct disk_op *op, int64_t result)
{
    (void)result;
    dispose(container_of(op, struct log_reader, op));
}

/* Closes its files, without the gate: a reader that waits there might never get its turn. */
static void dispose(struct log_reader *r)
{
    int fd = r->fd >= 0 ? r->fd : r->next_fd;
    if (fd >= 0) {
        *(r->fd >= 0 ? &r->fd : &r->next_fd) = -1;
        r->op.done = on_disposed;
        r->disk->ops->close(r->disk, &r->op, fd);
        return;
    }
    log_reader_gzip_end(r);
    log_rotated_free(&r->rotated);
    buf_free(&r->bytes);
    free(r->name);
    free(r->newest);
    free(r->path);
    free(r->log);
    free(r);
}

void log_reader_close(struct log_reader *r)
{
    if (!r)
        return;
    r->user = NULL;
    if (!list_empty(&r->node)) { /* its step has not begun */
        list_remove(&r->node);
        r->after = NULL;
        r->busy = false;
    }
    if (!r->busy)
        dispose(r);
}
