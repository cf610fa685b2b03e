/*
 * seq.h - sequence numbers of records: increasing, each used once in the life of an installation.
 *
 * Numbers are reserved on disk in blocks. The next block is reserved when half of one is used, so
 * that taking a number costs nothing. A record must not be written before its number is reserved:
 * seq_ready() returns whether all numbers taken so far are. After a crash, numbering continues after
 * the reserved block, and `skipped` is set; a clean stop leaves no gap.
 *
 * The file `seq` of the state directory contains "16777217 open" while numbers below that may have
 * been used, and "777 closed" if exactly those were used. Without the file the used numbers are
 * unknown, so a new sequence with a new id starts.
 */
#ifndef DAEMON_JOURNAL_SEQ_H
#define DAEMON_JOURNAL_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/sm.h"
#include "daemon/journal/durable.h"
#include "daemon/state.h"
#include "seam/clock.h"

enum {
    /* So large that lines are not held soon if the directory is full or can't be written: at 1,000 records a
     * second that takes two hours or more. */
    SEQ_BLOCK = 16 * 1024 * 1024,
    SEQ_RETRY_MIN_MS = 1000,
    SEQ_RETRY_MAX_MS = 30000,
};

enum seq_state {
    SEQ_IDLE,
    SEQ_RESERVING, /* a block is being written */
    SEQ_RETRYING,  /* that failed; until the timer fires */
    SEQ_CLOSING,   /* the end is written when no reservation is in flight */
};

struct seq {
    struct sm sm; /* enum seq_state */
    char *dir;    /* NULL: nothing is stored */
    struct clock *clock;
    struct disk *disk;
    uint64_t next;     /* the next number to return */
    uint64_t reserved; /* numbers below it are reserved */
    uint64_t wanted;   /* the value of `reserved` that is being written */
    char log[STATE_ID_SIZE];
    bool skipped;     /* the last run did not stop cleanly: numbers before `next` may be unused */
    int error;        /* of the last attempt; 0: it succeeded */
    uint32_t retries; /* consecutive failures */
    struct timer retry;
    struct durable file;

    void *owner;
    void (*on_ready)(struct seq *seq); /* seq_ready() has become true; may be NULL */
    void (*on_trouble)(
        struct seq *seq,
        int error); /* reserving failed, reported once; 0: it works again; may be NULL */
    void (*on_closed)(struct seq *seq);
};

/*
 * Continues after the last run. Without @dir it starts at 1 with a new id. Blocks while two small
 * files are read and written. Returns 0, or -INF_EIO with @err naming the file and the remedy.
 */
int seq_open(struct seq *seq, struct clock *clock, struct disk *disk, const char *dir,
             struct inf_error *err);

uint64_t seq_take(struct seq *seq);
bool seq_ready(const struct seq *seq);

/* Stores the last number used. Calls @on_closed when that is done or has failed, possibly before
 * it returns; after that the owner may free the memory. */
void seq_close(struct seq *seq, void (*on_closed)(struct seq *seq));

#endif
