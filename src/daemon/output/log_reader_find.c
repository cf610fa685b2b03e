/*
 * log_reader_find.c - finds the file that a reader starts with, and the file after a rotated one.
 *
 * First file: the files are opened from the newest to the oldest (log_rotated.h), until one begins before the wanted
 * record. If none does, the oldest one is used, and records are missing unless it has the first of all.
 *
 * Next file: the name of the current file is found by its identity; the next newer one follows. A rotation may rename
 * both at any moment, so the name is checked again after the file was opened. A file that has none of the names was
 * removed, compressed, or renamed by another program: the search for the first file starts again, after the last
 * record that was read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/json/json.h"
#include "daemon/output/log_file.h"
#include "daemon/output/log_reader_internal.h"

/* ---- operations ---- */

static void start_open(struct log_reader *r)
{
    r->opens = true;
    r->disk->ops->open(r->disk, &r->op, r->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
}

static void start_list(struct log_reader *r)
{
    char *directory = log_rotated_directory(&r->rotated);
    r->disk->ops->list(r->disk, &r->op, directory);
    free(directory);
}

static void start_fstat(struct log_reader *r)
{
    r->disk->ops->fstat(r->disk, &r->op, r->next_fd);
}

static void start_stat(struct log_reader *r)
{
    r->disk->ops->stat(r->disk, &r->op, r->name);
}

static void start_read_begin(struct log_reader *r)
{
    size_t len = r->next_is_gzip ? LOG_READER_PACKED : LOG_READER_PIECE;
    char *room;
    buf_clear(&r->bytes);
    if (r->next_is_gzip)
        log_reader_gzip_begin(r);
    room = r->next_is_gzip ? r->packed : buf_room(&r->bytes, len);
    r->disk->ops->read(r->disk, &r->op, r->next_fd, room, len, 0);
}

static void start_close(struct log_reader *r)
{
    int fd = r->next_fd;
    r->next_fd = -1;
    r->disk->ops->close(r->disk, &r->op, fd);
}

/* The examined file becomes the current one; the former one, if there was one, is to be closed. */
static void accept_next(struct log_reader *r)
{
    int former = r->fd;
    r->fd = r->next_fd;
    r->file = r->next_file;
    r->is_gzip = r->next_is_gzip;
    r->next_fd = former;
}

/* ---- names ---- */

static void use_name(struct log_reader *r, unsigned number, enum log_form form)
{
    free(r->name);
    r->number = number;
    r->form = form;
    r->name = log_rotated_path(&r->rotated, number, form);
}

/* The directory was read. If it can't be, there are no files with dates. */
static void use_list(struct log_reader *r, int64_t result)
{
    r->listed = true;
    log_rotated_look(&r->rotated, result >= 0 ? r->op.names : NULL);
}

/* The next form of the number, or the next older number. Returns false after the last one. */
static bool use_older(struct log_reader *r)
{
    do {
        if (r->number && r->form + 1 < LOG_FORMS) {
            use_name(r, r->number, r->form + 1);
        } else if (!r->exists && log_rotated_may_be_last(&r->rotated, r->number)) {
            return false;
        } else {
            r->exists = false;
            use_name(r, r->number + 1, LOG_PLAIN);
        }
    } while (!r->name);
    return true;
}

/* ---- the first file ---- */

static void try_older(struct log_reader *r);
static void after_first_open(struct log_reader *r, int64_t result);
static void after_first_stat(struct log_reader *r, int64_t result);
static void after_first_read(struct log_reader *r, int64_t n);
static void after_first_close(struct log_reader *r, int64_t result);

/* Whether records between the wanted one and the first one that is kept may have been removed. */
static bool has_gap(const struct log_reader *r)
{
    if (!r->has_first || r->first_seq <= 1)
        return false;
    switch (r->from.kind) {
    case LOG_FROM_START: break;
    case LOG_FROM_SEQ: return r->first_is_ours && r->first_seq > r->from.seq;
    case LOG_FROM_TIME: return r->first_us > r->from.time_us;
    }
    return false;
}

static void begin_reading(struct log_reader *r)
{
    bool gap = has_gap(r);
    log_reader_rewind(r);
    r->gap = gap ? r->first_seq - 1 : 0;
    if (gap)
        log_reader_report(r, LOG_READER_GAP);
    else
        log_reader_read(r);
}

static void after_first_list(struct log_reader *r, int64_t result)
{
    use_list(r, result);
    try_older(r);
}

static void try_older(struct log_reader *r)
{
    if (!r->listed) {
        log_reader_step(r, start_list, after_first_list);
    } else if (use_older(r)) {
        log_reader_step(r, start_open, after_first_open);
    } else if (r->fd >= 0) {
        begin_reading(r);
    } else {
        log_reader_report(r, LOG_READER_END); /* nothing is written yet */
    }
}

static void after_first_open(struct log_reader *r, int64_t result)
{
    if (result == -ENOENT) {
        try_older(r);
    } else if (result < 0) {
        log_reader_fail(r, result);
    } else {
        r->next_fd = (int)result;
        r->next_is_gzip = r->form == LOG_GZIP;
        r->exists = true;
        r->form = LOG_FORMS - 1; /* a compressed copy is not complete yet */
        log_reader_step(r, start_fstat, after_first_stat);
    }
}

static void after_first_stat(struct log_reader *r, int64_t result)
{
    r->next_file = r->op.stat;
    if (result < 0 || !r->next_file.regular)
        log_reader_fail(r, result < 0 ? result : -EINVAL);
    else
        log_reader_step(r, start_read_begin, after_first_read);
}

/* The first line that is a record; it may be cut at the end of the piece. */
static void read_first(struct log_reader *r)
{
    const char *at = r->bytes.bytes, *end = at + r->bytes.len;
    struct record_line record;
    r->has_first = false;
    while (at < end && !r->has_first) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        r->has_first = record_line_read_head((struct str){at, (size_t)(stop - at)}, &record);
        at = newline ? newline + 1 : end;
    }
    if (!r->has_first)
        return;
    r->first_seq = record.seq;
    r->first_us = record.time_us;
    r->first_is_ours = json_value_is(record.log, str_of(r->log));
}

/* Whether the current file begins before the wanted record. Records are written in the order of their
 * numbers, but only roughly in that of their times. */
static bool begins_before(const struct log_reader *r)
{
    switch (r->from.kind) {
    case LOG_FROM_START: break;
    case LOG_FROM_SEQ: return !r->first_is_ours || r->first_seq <= r->from.seq;
    case LOG_FROM_TIME: return r->first_us < r->from.time_us - LOG_READER_DISORDER_US;
    }
    return false;
}

static void after_first_read(struct log_reader *r, int64_t n)
{
    if (n < 0) {
        log_reader_fail(r, n);
        return;
    }
    if (r->next_is_gzip)
        (void)log_reader_inflate(r, (size_t)n); /* damaged: no record is found */
    else
        r->bytes.len = (size_t)n;
    read_first(r);
    accept_next(r);
    if (r->next_fd >= 0)
        log_reader_step(r, start_close, after_first_close);
    else
        after_first_close(r, 0);
}

static void after_first_close(struct log_reader *r, int64_t result)
{
    (void)result;
    if (r->has_first && begins_before(r))
        begin_reading(r);
    else
        try_older(r);
}

void log_reader_find_first(struct log_reader *r)
{
    r->listed = false;
    use_name(r, 0, LOG_PLAIN);
    log_reader_step(r, start_open, after_first_open);
}

/* ---- the next file ---- */

static void after_search_list(struct log_reader *r, int64_t result);
static void after_search(struct log_reader *r, int64_t result);
static void after_next_open(struct log_reader *r, int64_t result);
static void after_next_stat(struct log_reader *r, int64_t result);
static void after_check_list(struct log_reader *r, int64_t result);
static void after_check(struct log_reader *r, int64_t result);
static void after_next_close(struct log_reader *r, int64_t result);
static void after_retry_close(struct log_reader *r, int64_t result);
static void after_lost_close(struct log_reader *r, int64_t result);

static void search(struct log_reader *r)
{
    log_reader_step(r, start_list, after_search_list);
}

void log_reader_find_next(struct log_reader *r)
{
    r->retries = 0;
    search(r);
}

/* A rotation is in progress. The file of number 0 is missing until the log opens it again. */
static void search_again(struct log_reader *r)
{
    if (r->retries++ < LOG_READER_RETRIES_MAX && r->number)
        search(r);
    else
        log_reader_report(r, LOG_READER_END);
}

static bool is_current(const struct log_reader *r, int64_t result)
{
    return result >= 0 && log_file_is_same(&r->op.stat, &r->file);
}

static const char *newest_date(const struct log_reader *r)
{
    return r->rotated.n_dates ? r->rotated.dates[0] : NULL;
}

/* Rotations move files to greater numbers, so the search from the smallest one does not miss it. */
static void after_search_list(struct log_reader *r, int64_t result)
{
    use_list(r, result);
    free(r->newest);
    r->newest = r->rotated.n_dates ? xstrdup(newest_date(r)) : NULL;
    r->exists = false;
    use_name(r, 1, LOG_PLAIN);
    log_reader_step(r, start_stat, after_search);
}

static void after_search(struct log_reader *r, int64_t result)
{
    r->exists = r->exists || result >= 0;
    if (is_current(r, result)) {
        r->found = r->number;
        r->found_form = r->form;
        use_name(r, r->number - 1, LOG_PLAIN);
        log_reader_step(r, start_open, after_next_open);
    } else if (use_older(r)) {
        log_reader_step(r, start_stat, after_search);
    } else {
        if (r->last_seq)
            r->from = (struct log_position){.kind = LOG_FROM_SEQ, .seq = r->last_seq + 1};
        r->next_fd = r->fd;
        r->fd = -1;
        log_reader_step(r, start_close, after_lost_close);
    }
}

static void after_lost_close(struct log_reader *r, int64_t result)
{
    (void)result;
    log_reader_find_first(r);
}

static void after_next_open(struct log_reader *r, int64_t result)
{
    if (result == -ENOENT && r->number) { /* compressed, or a number is missing */
        if (r->form == LOG_PLAIN)
            use_name(r, r->number, LOG_GZIP);
        else
            use_name(r, r->number - 1, LOG_PLAIN);
        log_reader_step(r, start_open, after_next_open);
    } else if (result == -ENOENT) {
        search_again(r);
    } else if (result < 0) {
        log_reader_fail(r, result);
    } else {
        r->next_fd = (int)result;
        r->next_is_gzip = r->form == LOG_GZIP;
        log_reader_step(r, start_fstat, after_next_stat);
    }
}

static void after_next_stat(struct log_reader *r, int64_t result)
{
    r->next_file = r->op.stat;
    if (result < 0 || !r->next_file.regular)
        log_reader_fail(r, result < 0 ? result : -EINVAL);
    else
        log_reader_step(r, start_list, after_check_list);
}

/* Numbers change with each rotation, and new dates are the newest. */
static void after_check_list(struct log_reader *r, int64_t result)
{
    const char *newest;
    use_list(r, result);
    newest = newest_date(r);
    if (newest ? !r->newest || strcmp(newest, r->newest) != 0 : r->newest != NULL) {
        r->number = r->found;
        log_reader_step(r, start_close, after_retry_close);
        return;
    }
    use_name(r, r->found, r->found_form);
    log_reader_step(r, start_stat, after_check);
}

static void after_check(struct log_reader *r, int64_t result)
{
    if (is_current(r, result)) {
        accept_next(r);
        log_reader_step(r, start_close, after_next_close);
    } else {
        log_reader_step(r, start_close, after_retry_close);
    }
}

static void after_retry_close(struct log_reader *r, int64_t result)
{
    (void)result;
    search_again(r);
}

static void after_next_close(struct log_reader *r, int64_t result)
{
    (void)result;
    log_reader_rewind(r);
    log_reader_read(r);
}
