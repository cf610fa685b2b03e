/*
 * seq.c - reserves numbers by writing the file `seq` durably, and stores the exact end when it is
 * closed.
 *
 * If reserving fails it is retried by a timer with growing delays, and seq_ready() stays false once
 * the reserved numbers are used up. If the end can't be stored, the next run skips the rest of the
 * block.
 */
#include "daemon/journal/seq.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"
#include "base/err.h"

enum {
    LINE_MAX_BYTES = 64,
};

static size_t format_seq(char line[LINE_MAX_BYTES], uint64_t number, bool closed)
{
    return (size_t)snprintf(line, LINE_MAX_BYTES, "%" PRIu64 " %s\n", number,
                            closed ? "closed" : "open");
}

/* ---- reserving ---- */

static void reserve_block(struct seq *seq);
static void write_end(struct seq *seq);

static void on_retry(struct timer *timer)
{
    reserve_block(container_of(timer, struct seq, retry));
}

static void note_error(struct seq *seq, int error)
{
    bool news = !seq->error != !error;
    seq->error = error;
    if (news && seq->on_trouble)
        seq->on_trouble(seq, error);
    if (!error) {
        seq->retries = 0;
        return;
    }
    timer_start(seq->clock, &seq->retry,
                backoff_ms(SEQ_RETRY_MIN_MS, SEQ_RETRY_MAX_MS, seq->retries++));
}

static void on_reserved(struct durable *file, int error)
{
    struct seq *seq = container_of(file, struct seq, file);
    bool waited = !seq_ready(seq);
    seq->busy = false;
    if (!error)
        seq->reserved = seq->wanted;
    if (seq->closing) {
        write_end(seq);
        return;
    }
    note_error(seq, error);
    if (waited && seq_ready(seq) && seq->on_ready)
        seq->on_ready(seq);
}

static void reserve_block(struct seq *seq)
{
    char line[LINE_MAX_BYTES];
    size_t len;
    seq->wanted = seq->next + SEQ_BLOCK;
    len = format_seq(line, seq->wanted, false);
    seq->busy = true;
    durable_write(&seq->file, seq->disk, seq->dir, "seq", 0600, (struct str){line, len},
                  on_reserved);
}

uint64_t seq_take(struct seq *seq)
{
    uint64_t number = seq->next++;
    if (seq->dir && !seq->busy && !seq->retry.running && !seq->closing &&
        seq->next + SEQ_BLOCK / 2 >= seq->reserved)
        reserve_block(seq);
    return number;
}

bool seq_ready(const struct seq *seq)
{
    return !seq->dir || seq->next <= seq->reserved;
}

/* ---- opening and closing ---- */

static int new_sequence(struct seq *seq, struct inf_error *err)
{
    char line[STATE_ID_SIZE + 1];
    int len;
    state_make_id(seq->log);
    len = snprintf(line, sizeof(line), "%s\n", seq->log);
    seq->next = 1;
    return state_write(seq->dir, "log-id", (struct str){line, (size_t)len}, err);
}

static int damaged_file(const char *dir, const char *name, struct inf_error *err)
{
    return err_set(
        err, INF_EIO,
        "file '%s/%s' is missing or damaged; remove 'seq' and 'log-id' in that directory to "
        "start a new sequence with a new id",
        dir, name);
}

static bool is_id(const char *text)
{
    return strlen(text) == STATE_ID_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == STATE_ID_SIZE - 1;
}

static int read_sequence(struct seq *seq, struct inf_error *err)
{
    char line[LINE_MAX_BYTES], id[LINE_MAX_BYTES], *end;
    int rc = state_read_text(seq->dir, "seq", line, sizeof(line), err);
    if (rc == -INF_ENOTFOUND)
        return new_sequence(seq, err);
    if (rc == 0)
        rc = state_read_text(seq->dir, "log-id", id, sizeof(id), err);
    if (rc < 0 && rc != -INF_ENOTFOUND)
        return rc;
    if (rc < 0 || !is_id(id))
        return damaged_file(seq->dir, "log-id", err);
    memcpy(seq->log, id, STATE_ID_SIZE);
    seq->next = strtoull(line, &end, 10);
    seq->skipped = strcmp(end, " open") == 0;
    if (!seq->next || seq->next > UINT64_MAX / 2 || (!seq->skipped && strcmp(end, " closed") != 0))
        return damaged_file(seq->dir, "seq", err);
    return 0;
}

static int reserve_first(struct seq *seq, struct inf_error *err)
{
    char line[LINE_MAX_BYTES];
    size_t len = format_seq(line, seq->next + SEQ_BLOCK, false);
    int rc = state_write(seq->dir, "seq", (struct str){line, len}, err);
    if (rc == 0)
        seq->reserved = seq->next + SEQ_BLOCK;
    return rc;
}

int seq_open(struct seq *seq, struct clock *clock, struct disk *disk, const char *dir,
             struct inf_error *err)
{
    int rc;
    *seq = (struct seq){.clock = clock, .disk = disk, .retry.fire = on_retry, .next = 1};
    if (!dir) {
        state_make_id(seq->log);
        return 0;
    }
    seq->dir = xstrdup(dir);
    rc = read_sequence(seq, err);
    if (rc == 0)
        rc = reserve_first(seq, err);
    if (rc < 0) {
        free(seq->dir);
        seq->dir = NULL;
    }
    return rc;
}

static void finish_closing(struct seq *seq)
{
    free(seq->dir);
    seq->dir = NULL;
    seq->on_closed(seq);
}

/* A failure is not retried: the next run skips the rest of the block. */
static void on_end_written(struct durable *file, int error)
{
    (void)error;
    finish_closing(container_of(file, struct seq, file));
}

static void write_end(struct seq *seq)
{
    char line[LINE_MAX_BYTES];
    size_t len = format_seq(line, seq->next, true);
    durable_write(&seq->file, seq->disk, seq->dir, "seq", 0600, (struct str){line, len},
                  on_end_written);
}

void seq_close(struct seq *seq, void (*on_closed)(struct seq *seq))
{
    seq->on_closed = on_closed;
    seq->closing = true;
    timer_stop(seq->clock, &seq->retry);
    if (!seq->dir)
        finish_closing(seq);
    else if (!seq->busy)
        write_end(seq);
}
