/*
 * seq.h - numbers for records: each is given once in the life of an installation, in order.
 *
 * Numbers are reserved on disk in blocks, the next block when half of one is used, so that giving
 * one costs nothing. What is not reserved yet must not be seen outside: seq_ready() says whether
 * all that was given may be. After a crash, numbering goes on behind the block, and `skipped` says
 * so; a clean end leaves no hole.
 *
 * The file `seq` of the state directory holds "65537 open" while numbers below that may have been
 * given, "777 closed" when exactly those were. A new sequence has a new id: without the file
 * nobody knows what was given.
 */
#ifndef DAEMON_JOURNAL_SEQ_H
#define DAEMON_JOURNAL_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

#include "daemon/journal/durable.h"
#include "daemon/state.h"
#include "seam/clock.h"

enum {
    SEQ_BLOCK = 65536,
    SEQ_RETRY_MIN_MS = 1000,
    SEQ_RETRY_MAX_MS = 30000,
};

struct seq {
    char *dir; /* NULL: nothing is kept */
    struct clock *clock;
    struct disk *disk;
    uint64_t next;     /* the next one to give */
    uint64_t reserved; /* those below it may be seen */
    uint64_t wanted;   /* what is being written */
    char log[STATE_ID_SIZE];
    bool skipped; /* the last run did not end well: numbers up to this run's first were not used */
    bool busy;
    bool closing;
    int error; /* the last attempt's; 0: it went well */
    uint64_t delay_ms;
    struct timer retry;
    struct durable file;

    void *owner;
    void (*on_ready)(struct seq *seq);              /* what was not, is now; may be NULL */
    void (*on_trouble)(struct seq *seq, int error); /* once; 0: it is over; may be NULL */
    void (*on_closed)(struct seq *seq);
};

/*
 * Goes on where the last run ended. Without @dir it begins at 1, under an id of its own. Blocks for
 * two small files. Returns 0 or, naming the file and what to do, -INF_EIO.
 */
int seq_open(struct seq *seq, struct clock *clock, struct disk *disk, const char *dir,
             struct inf_error *err);

uint64_t seq_take(struct seq *seq);
bool seq_ready(const struct seq *seq);

/* Notes the exact end. @on_closed comes when that is done or has failed, perhaps at once; after it
 * the memory is the owner's. */
void seq_close(struct seq *seq, void (*on_closed)(struct seq *seq));

#endif
