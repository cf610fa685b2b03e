/*
 * seq.c - reserves numbers by writing the file `seq` durably, and stores the exact end when it is
 * closed.
 *
 * The first block is reserved at the start, also on a full disk: then the file is overwritten in place.
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

static const struct sm_state states[] = {
    [SEQ_IDLE] = {"idle", SM_TO(SEQ_RESERVING) | SM_TO(SEQ_CLOSING)},
    [SEQ_RESERVING] = {"reserving", SM_TO(SEQ_IDLE) | SM_TO(SEQ_RETRYING) | SM_TO(SEQ_CLOSING)},
    [SEQ_RETRYING] = {"retrying", SM_TO(SEQ_RESERVING) | SM_TO(SEQ_CLOSING)},
    [SEQ_CLOSING] = {"closing", 0},
};

/* ---- reserving ---- */

static void write_end(struct seq *seq);

static void on_reserved(struct durable *file, int error)
{
    struct seq *seq = container_of(file, struct seq, file);
    bool waited = !seq_ready(seq), report = !seq->error != !error;
    if (!error)
        seq->reserved = seq->wanted;
    if (seq->sm.state == SEQ_CLOSING) {
        write_end(seq);
        return;
    }
    seq->error = error;
    if (error) {
        sm_move(&seq->sm, SEQ_RETRYING, "%s", strerror(-error));
        timer_start(seq->clock, &seq->retry,
                    backoff_ms(SEQ_RETRY_MIN_MS, SEQ_RETRY_MAX_MS, seq->retries++));
    } else {
        sm_move(&seq->sm, SEQ_IDLE, "reserved up to %" PRIu64, seq->reserved);
        seq->retries = 0;
    }
    if (report && seq->on_trouble)
        seq->on_trouble(seq, error);
    if (waited && seq_ready(seq) && seq->on_ready)
        seq->on_ready(seq);
}

static void reserve_block(struct seq *seq)
{
    char line[LINE_MAX_BYTES];
    size_t len;
    sm_move(&seq->sm, SEQ_RESERVING, "next is %" PRIu64, seq->next);
    seq->wanted = seq->next + SEQ_BLOCK;
    len = format_seq(line, seq->wanted, false);
    durable_write(&seq->file, seq->disk, seq->dir, "seq", 0600, (struct str){line, len},
                  on_reserved);
}

static void on_retry(struct timer *timer)
{
    reserve_block(container_of(timer, struct seq, retry));
}

uint64_t seq_take(struct seq *seq)
{
    uint64_t number = seq->next++;
    if (seq->sm.state == SEQ_IDLE && seq->dir && seq->next + SEQ_BLOCK / 2 >= seq->reserved)
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
    if (rc < 0 || strlen(id) != STATE_ID_SIZE - 1 || id[strspn(id, "0123456789abcdef")])
        return damaged_file(seq->dir, "log-id", err);
    memcpy(seq->log, id, STATE_ID_SIZE);
    seq->next = strtoull(line, &end, 10);
    seq->skipped = strcmp(end, " open") == 0;
    if (!seq->next || seq->next > UINT64_MAX / 2 || (!seq->skipped && strcmp(end, " closed") != 0))
        return damaged_file(seq->dir, "seq", err);
    return 0;
}

int seq_open(struct seq *seq, struct clock *clock, struct disk *disk, const char *dir,
             struct inf_error *err)
{
    char line[LINE_MAX_BYTES];
    int rc;
    *seq = (struct seq){.clock = clock, .disk = disk, .retry.fire = on_retry, .next = 1};
    sm_init(&seq->sm, states, SEQ_IDLE, "seq", NULL);
    if (!dir) {
        state_make_id(seq->log);
        return 0;
    }
    seq->dir = xstrdup(dir);
    rc = read_sequence(seq, err);
    if (rc == 0) { /* the first block, before the loop runs */
        size_t len = format_seq(line, seq->next + SEQ_BLOCK, false);
        struct inf_error other; /* a full disk */
        rc = state_write(seq->dir, "seq", (struct str){line, len}, err);
        if (rc < 0 && state_overwrite(seq->dir, "seq", (struct str){line, len}, &other) == 0)
            rc = 0;
    }
    if (rc == 0) {
        seq->reserved = seq->next + SEQ_BLOCK;
    } else {
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
    bool in_flight = seq->sm.state == SEQ_RESERVING;
    seq->on_closed = on_closed;
    sm_move(&seq->sm, SEQ_CLOSING, "next is %" PRIu64, seq->next);
    timer_stop(seq->clock, &seq->retry);
    if (!seq->dir)
        finish_closing(seq);
    else if (!in_flight)
        write_end(seq);
}
