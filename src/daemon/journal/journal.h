/*
 * journal.h - gives the changes of all watches one sequence of numbers and writes them to any number
 * of event logs.
 *
 *     watches ──> journal ──┬──> event log ──> sink: file ──────> log file ──> disk
 *                 seq       │    filter        check, rotate      open, repair
 *                           │    format
 *                           │    buffer
 *                           ├──> event log ──> sink: stdout
 *                           ├──> handler
 *                           └──> streams of the local API
 *
 * journal_event() adds a line to each event log that accepts the change; journal_flush() starts one
 * write for each. A change has the same number in every log, and numbers increase within each. No line
 * is written before its number is durably reserved. When a log is full, the watches that write to it
 * are held (on_hold()). Nothing is lost meanwhile: if the server no longer has the events when they
 * resume, their informer reports a RELIST or GAP.
 */
#ifndef DAEMON_JOURNAL_H
#define DAEMON_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/event.h"
#include "informer/informer.h"

#include "base/base.h"
#include "base/list.h"
#include "daemon/journal/ignored.h"
#include "daemon/journal/seq.h"
#include "daemon/output/event_log.h"
#include "daemon/record/change.h"
#include "daemon/record/note.h"
#include "daemon/rule/level_rules.h"
#include "daemon/watch/event_consumer.h"

/* What the journal keeps about a watch. Embedded in its owner, which fills in the first part. */
struct journal_watch {
    const struct watch_info *info; /* borrowed */
    void (*on_hold)(struct journal_watch *watch, bool hold);

    struct list node;
    bool held;
    uint64_t events[3];  /* reported, by verb */
    uint64_t heartbeats; /* ignored, although a log would have accepted them */
    uint64_t unchanged;  /* likewise */
    uint64_t noise;      /* likewise, by further presets and paths */
    uint64_t gaps;
    bool compared;          /* with the saved state, and the differences are not all reported */
    struct ignored ignored; /* updates of all three kinds, for each object since its last record */
};

/* Another receiver of records beside the event logs: a handler (daemon/handler/handler.h), or the streams
 * of the local API (daemon/service/events.h). Embedded in its owner, which fills in the first part. */
struct journal_output {
    const struct journal_output_ops *ops;
    const char *name;      /* borrowed */
    struct filter *filter; /* the owner's */
    unsigned context;      /* bits of enum context_part that it writes */
    bool held;             /* it holds its watches; call journal_update_holds() after a change */

    struct list node;
    bool accepts; /* the current event, apart from its level */
};

struct journal_output_ops {
    /* Its number may not be reserved yet. */
    void (*put_change)(struct journal_output *output, const struct change *change);
    /* The same for a record of the daemon; NULL: it gets none. @watch NULL: about the daemon itself. */
    void (*put_note)(struct journal_output *output, const struct note *note,
                     const struct stamp *stamp, const struct watch_id *watch);
    /* @watch has reported everything of @stream up to @version. NULL: the server has returned to an older state, and
     * versions of before can't be compared with later ones. The operation may be NULL. */
    void (*position)(struct journal_output *output, const struct watch_id *watch,
                     const char *stream, const char *version);
    /* The numbers are reserved: adds what it got to the state on disk, if there is one. */
    void (*save)(struct journal_output *output);
    /* What it added is saved: it may be used. */
    void (*release)(struct journal_output *output);
};

/* Learns when an event log has written something. Remove it with list_remove(). */
struct journal_follower {
    struct list node;
    /* May remove itself, and must not call the journal. */
    void (*on_written)(struct journal_follower *follower, const struct event_log *log);
};

enum {
    JOURNAL_LOST_MAX = 64, /* LIMIT: removed logs whose lost lines are remembered */
};

/* A log that a reload removed before all its lines were written. */
struct journal_lost {
    char *name; /* owned */
    uint64_t lines;
};

struct journal_stats {
    uint64_t next_seq;
    uint64_t bytes;    /* written; includes logs closed since, as do the next three */
    uint64_t failures; /* reported */
    uint64_t rotations;
    uint64_t dropped; /* daemon records dropped because a buffer was full */
    size_t unwritten; /* bytes not written yet */
    unsigned logs;
    unsigned failing;
    unsigned held;
};

/* Collected lines are saved on disk before they are written. */
enum journal_saving {
    JOURNAL_NOT_SAVING,
    JOURNAL_SAVING,       /* until inf_state's on_flushed() */
    JOURNAL_SAVING_AGAIN, /* the same, and there are lines that came later */
};

struct journal {
    struct event_consumer consumer; /* see journal_consumer.c */
    struct clock *clock;
    struct disk *disk;
    struct seq *seq;
    struct inf_state *state; /* lines are saved there before they are written; NULL: they are not */
    enum journal_saving saving;
    uint64_t saving_flush; /* the flush that is awaited */
    uint64_t ahead_from;   /* logs may have records from this number on that the state lacks; until
                                  journal_start(); 0: none */
    struct inf_budget *budget; /* charged for the buffers of the logs; NULL: none */
    struct list logs;          /* of struct event_log */
    struct list leaving;       /* of struct event_log: removed, but not closed yet */
    struct list outputs;       /* of struct journal_output */
    struct list watches;
    struct list followers; /* of struct journal_follower */
    struct change_reader reader;
    struct level_rules *levels;                 /* owned; NULL: every change is info */
    struct journal_stats past;                  /* counters of closed logs */
    struct journal_lost lost[JOURNAL_LOST_MAX]; /* the oldest first */
    size_t n_lost;
    bool closing;
    bool draining;

    void *owner;
    void (*log)(void *owner, enum inf_log_level level, const char *line);
    void (*on_print)(struct journal *journal);           /* lines are about to go to stdout */
    void (*on_lost)(struct journal *journal, int error); /* stdout failed; a negative errno */
    void (*on_drained)(struct journal *journal);
    void (*on_closed)(struct journal *journal);
};

/* The owner fills in the callbacks afterwards, and reader.context.owners if owners can be looked up;
 * on_print and on_lost may be NULL. Everything is borrowed. */
void journal_init(struct journal *journal, struct clock *clock, struct disk *disk, struct seq *seq);

/*
 * Replaces the event logs. One whose target existed before is kept, with its new settings. One that is
 * no longer listed writes what is buffered (see event_log_finish()) and is closed; if it is listed
 * again before that, it continues with its buffer. Lines that it could not write are reported: to the
 * daemon's log, by a GAP in the remaining logs, and by a GAP in the log itself if it is added again. A
 * log is not opened while another one of its target is not closed yet, nor while POOL_LOGS logs have
 * files (see daemon/pool.h). Returns 0, or -INF_EINVAL and changes nothing if a filter can't be parsed
 * or a target is listed twice.
 */
int journal_set_logs(struct journal *journal, const struct event_log_settings *settings, size_t n,
                     struct inf_error *err);

/* Adds an output; remove it before its filter is freed. Both, and journal_set_logs(), determine what is
 * read of each change. Call _update_outputs() after other changes of an output. */
void journal_add_output(struct journal *journal, struct journal_output *output);
void journal_remove_output(struct journal *journal, struct journal_output *output);
void journal_update_outputs(struct journal *journal);

/* Replaces the rules for the level of records; takes ownership. */
void journal_set_levels(struct journal *journal, struct level_rules *levels);

/* Adds a watch, which may be held at once. Removing it frees its list of ignored updates. */
void journal_watch_add(struct journal *journal, struct journal_watch *watch);
void journal_watch_remove(struct journal_watch *watch);

void journal_follow(struct journal *journal, struct journal_follower *follower);

/* ---- records ---- */

/* Resyncs are not written: nothing changed. @reason: see event_consumer.h. */
void journal_event(struct journal *journal, struct journal_watch *watch,
                   const struct inf_event *event, const char *reason);
/* @ns is the namespace of the stream; NULL: all namespaces of the watch. */
void journal_gap(struct journal *journal, struct journal_watch *watch, const char *ns,
                 const struct inf_gap *gap);
/* See event_consumer.h. */
void journal_position(struct journal *journal, const struct journal_watch *watch,
                      const char *stream, const char *version);
void journal_freshness(struct journal *journal, struct journal_watch *watch, const char *ns,
                       const struct inf_freshness *freshness);
/* @version NULL: several streams have no common version. */
void journal_synced(struct journal *journal, struct journal_watch *watch, size_t objects,
                    const char *version);

/* Starts writing the collected lines; with state on disk, saving them and everything that was noted. */
void journal_flush(struct journal *journal);

/* For on_flushed() of the state: the lines that were saved may be written. */
void journal_saved(struct journal *journal, uint64_t flush);

/* The watch replaces an earlier one of the same name: a GAP with the reason `restarted`. Flushes. */
void journal_restarted(struct journal *journal, struct journal_watch *watch, const char *why);

/* Writes a record about @watch, or about the daemon if @watch is NULL, and flushes. */
void journal_note(struct journal *journal, struct journal_watch *watch, const struct note *note);

/* Write START, with the reason if the sequence skipped numbers and with the text @state, and STOP. */
void journal_start(struct journal *journal, const char *state);
void journal_stop(struct journal *journal, const char *why);

/* ---- event logs ---- */

/* Reopens the files of all logs (SIGUSR1). */
void journal_reopen(struct journal *journal);

/* Sets the columns of lines on stdout, whose terminal was resized. Lines that are collected already
 * stay as they are. */
void journal_set_width(struct journal *journal, unsigned width);

/* The name of an event log or another output that is full and holds the watch named @watch; NULL: none
 * does. *@ret_is_log, which may be NULL, says which of them. */
const char *journal_holder(const struct journal *journal, const char *watch, bool *ret_is_log);

/* Learns which writes have ended: call it before a report. See event_log_collect(). */
void journal_collect(struct journal *journal);

/* Calls on_drained() when everything is written, possibly before it returns. */
void journal_drain(struct journal *journal);

/* Closes all logs, dropping lines that are not written, then the sequence. Calls on_closed()
 * from the loop, or before it returns if there is nothing to wait for. Watches need not be
 * removed before. */
void journal_close(struct journal *journal);

/* ---- statistics ---- */

void journal_stats(const struct journal *journal, struct journal_stats *ret);

/* Calls @each for every log; with @leaving also for those that were removed but are not closed
 * yet. */
void journal_each_log(const struct journal *journal, bool leaving,
                      void (*each)(void *ctx, const struct event_log *log), void *ctx);

/* ---- for its parts: journal_logs.c ---- */

#define for_each_log(log, list)                                                      \
    for (struct event_log *log = container_of((list)->next, struct event_log, node); \
         &(log)->node != (list); (log) = container_of((log)->node.next, struct event_log, node))

#define for_each_output(output, list)                                                             \
    for (struct journal_output *output = container_of((list)->next, struct journal_output, node); \
         &(output)->node != (list);                                                               \
         (output) = container_of((output)->node.next, struct journal_output, node))

/* Writes a GAP about @lines to this log only. */
void journal_gap_in_log(struct journal *journal, struct event_log *log, const char *reason,
                        const char *msg, uint64_t lines);

/* Holds or resumes the watches after a log became full or has room again. */
void journal_update_holds(struct journal *journal);

/* Calls on_drained() if the journal is draining and no log has anything left to write. */
void journal_check_drained(struct journal *journal);

#endif
