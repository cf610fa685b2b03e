/*
 * journal.h - the event log: changes of all watches, numbered in one sequence, to any number of
 * outputs, each with its own filter, form and file.
 *
 *     handler->on_event      -> journal_event(journal, watch, event)   a line for who wants it
 *     handler->on_batch_end  -> journal_flush(journal)                 one write for each output
 *
 * A change has the same number in every output, and numbers grow within each. No line is written
 * before its number is reserved for good. When an output is full, all watches that feed it are asked
 * to hold: nothing is lost meanwhile, and if the server has moved on when they go on, the RELIST or
 * GAP of their informer says so, here as anywhere.
 */
#ifndef DAEMON_JOURNAL_H
#define DAEMON_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/event.h"
#include "informer/informer.h"

#include "base/list.h"
#include "daemon/journal/change.h"
#include "daemon/journal/disk.h"
#include "daemon/journal/filter.h"
#include "daemon/journal/ignored.h"
#include "daemon/journal/note.h"
#include "daemon/journal/output.h"
#include "daemon/journal/record.h"
#include "daemon/journal/seq.h"
#include "daemon/journal/text_format.h"

enum journal_form {
    JOURNAL_JSONL,
    JOURNAL_SHORT,
};

/* Everything is copied. An output is known by its path, so that it can be kept when others change. */
struct journal_output_settings {
    struct output_settings file;
    enum journal_form form;
    struct record_options record;           /* max_line 0: the default */
    struct text_format_options text_format; /* for JOURNAL_SHORT */
    struct filter_settings filter;
    unsigned notes; /* what the daemon says itself, of 1 << NOTE_START ...; 0: all */
};

/* A watch as the journal knows it. Embedded in its owner, who fills in the first part. */
struct journal_watch {
    struct watch_id id; /* lent; `name` is there */
    bool ignore_heartbeats;
    bool ignore_unchanged; /* updates in which nothing that is kept changed */
    void (*on_hold)(struct journal_watch *watch, bool hold);

    struct list node;
    bool held;
    uint64_t events[3];  /* told, by verb */
    uint64_t heartbeats; /* not told, though somebody would have taken them */
    uint64_t unchanged;  /* the same */
    uint64_t gaps;
    struct ignored ignored; /* both, for each object since its last record */
};

enum {
    JOURNAL_LOST_MAX = 64, /* LIMIT: removed logs of which it is known how many lines they lost */
};

/* A log that a reload removed before all its lines were written. */
struct journal_lost {
    char *name; /* owned */
    uint64_t lines;
};

struct journal_stats {
    uint64_t next_seq;
    uint64_t bytes;    /* written, to outputs that were closed since, too; so the next three */
    uint64_t failures; /* reported */
    uint64_t rotations;
    uint64_t dropped; /* notes that found no room */
    size_t unwritten; /* bytes not out yet */
    unsigned outputs;
    unsigned failing;
    unsigned held;
};

struct journal {
    struct clock *clock;
    struct disk *disk;
    struct seq *seq;
    struct inf_budget *budget; /* the outputs' buffers count in it; NULL: nothing counts */
    struct list outputs;       /* of the journal's own struct */
    struct list leaving;       /* of the same: no more outputs, but not gone yet */
    struct list watches;
    struct journal_stats past;                  /* what outputs that are no more had counted */
    struct journal_lost lost[JOURNAL_LOST_MAX]; /* the oldest first */
    size_t n_lost;
    bool closing;
    bool draining;

    void *owner;
    void (*log)(void *owner, enum inf_log_level level, const char *line);
    void (*on_lost)(struct journal *journal, int error); /* a descriptor's end; of libuv */
    void (*on_change)(struct journal *journal,
                      bool deletes); /* of a cache, told or not; NULL is fine */
    void (*on_drained)(struct journal *journal);
    void (*on_closed)(struct journal *journal);
};

/* The owner fills in the callbacks afterwards; on_lost may be NULL. Everything is lent. */
void journal_init(struct journal *journal, struct clock *clock, struct disk *disk, struct seq *seq);

/*
 * These are the outputs from now on. One whose path was there before is kept, with what is new about
 * it; one that is not named any more writes what it has (see output_finish()) and is closed. If it is named again
 * meanwhile it goes on with what it has. Lines that it could not write are reported: to the log, by a GAP in the
 * outputs that remain, and by one in the log itself if it comes back. An output waits to be opened while another
 * one of its path is not closed yet, and while more than POOL_LOGS have files (see daemon/pool.h).
 * Returns 0, or -INF_EINVAL, changing nothing, if a filter can't be read or a path is there twice.
 */
int journal_set_outputs(struct journal *journal, const struct journal_output_settings *settings,
                        size_t n, struct inf_error *err);

/* Adds a watch, which may be asked to hold at once; removes it, and forgets its numbers. */
void journal_watch_add(struct journal *journal, struct journal_watch *watch);
void journal_watch_remove(struct journal_watch *watch);

/* ---- what happens ---- */

/* From handlers. Resyncs are left out: nothing changed. */
void journal_event(struct journal *journal, struct journal_watch *watch,
                   const struct inf_event *event);
void journal_gap(struct journal *journal, struct journal_watch *watch, const struct inf_gap *gap);
void journal_freshness(struct journal *journal, struct journal_watch *watch,
                       const struct inf_freshness *freshness);
/* @version NULL: several streams have none in common. */
void journal_synced(struct journal *journal, struct journal_watch *watch, size_t objects,
                    const char *version);

/* Sends what was collected. */
void journal_flush(struct journal *journal);

/* Says something, of @watch or (NULL) of the whole daemon, and sends it. */
void journal_note(struct journal *journal, struct journal_watch *watch, const struct note *note);

/* START, saying also whether the sequence skipped, and STOP. */
void journal_start(struct journal *journal);
void journal_stop(struct journal *journal, const char *why);

/* ---- files ---- */

/* All files anew (SIGUSR1). */
void journal_reopen(struct journal *journal);

/* Has on_drained() called once everything is written, perhaps at once. */
void journal_drain(struct journal *journal);

/* Closes all outputs, dropping what they have not written, then the sequence. on_closed() comes from
 * the loop, or at once if there is nothing to wait for. Watches need not be removed before. */
void journal_close(struct journal *journal);

/* ---- numbers ---- */

void journal_stats(const struct journal *journal, struct journal_stats *ret);

/* Calls @each with every output, those that are leaving included if @leaving says so. */
void journal_each_output(const struct journal *journal, bool leaving,
                         void (*each)(void *ctx, const struct output *output), void *ctx);

#endif
