/*
 * event_log.h - one configured event log: its filter and format, the buffer of its lines, and how it
 * is doing. Its lines go to a sink (daemon/output/sink.h) that may be slow or fail; the loop never
 * blocks, and no line is lost.
 *
 * Lines are collected while handlers run. The lines that event_log_flush() releases are written in one
 * piece; meanwhile the next lines are collected. If a reader is slow (a pager, a stopped terminal) or
 * a disk is full, lines accumulate: above EVENT_LOG_HIGH on_hold lets the owner hold its source, below
 * EVENT_LOG_LOW to resume it.
 *
 * - A sink that fails (full disk, missing directory, ...) is reported once, retried after 1 s to 30 s,
 *   and continues at the byte where it stopped.
 * - A sink that is opened again gets the complete line of which the previous file has the beginning.
 * - An inherited descriptor can't be reopened: its first failure is final, and collected lines are
 *   dropped.
 *
 * An event log has at most one operation in flight, so it occupies at most one thread of the pool, but
 * for as long as the kernel takes, even after event_log_close(): see daemon/pool.h for why this delays
 * no other log.
 */
#ifndef DAEMON_OUTPUT_EVENT_LOG_H
#define DAEMON_OUTPUT_EVENT_LOG_H

#include <stdbool.h>

#include "informer/informer.h"
#include "informer/state.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/sm.h"
#include "daemon/format/record_format.h"
#include "daemon/journal/filter.h"
#include "daemon/output/event_order.h"
#include "daemon/output/log_ahead.h"
#include "daemon/output/sink.h"
#include "seam/clock.h"

enum {
    EVENT_LOG_HIGH = 1024 * 1024, /* LIMIT: bytes collected before on_hold is called */
    EVENT_LOG_LOW = 256 * 1024,
    EVENT_LOG_MAX = 2 * EVENT_LOG_HIGH, /* LIMIT: with daemon records, which are never held */
    EVENT_LOG_RETRY_MIN_MS = 1000,
    EVENT_LOG_RETRY_MAX_MS = 30000,
    EVENT_LOG_AGAIN_MS = 20,     /* after -EAGAIN */
    EVENT_LOG_FINISH_MS = 10000, /* for a removed log to write its remaining lines */
    EVENT_LOG_AHEAD_MS = 5000,   /* watches wait this long for the end of the log to be read */
};

/* Everything is copied. A log is identified by its target, so that a reload can keep it. */
struct event_log_settings {
    struct sink_settings sink;
    uint64_t stuck_after_ms;            /* 0: never; see struct event_log_status */
    const struct record_format *format; /* NULL: jsonl */
    const char *format_argument;        /* valid, or NULL if the format takes none */
    struct record_options record;       /* max_line 0: the default; without state and fields */
    const struct inf_index *fields;     /* names and paths, for record.fields */
    size_t n_fields;
    struct filter_settings filter;
    unsigned notes; /* daemon records to write, a mask of 1 << NOTE_START ...; 0: all */
};

struct event_log;

struct event_log_events {
    void (*on_hold)(struct event_log *log); /* `held` has changed; also from event_log_flush() */
    void (*on_idle)(struct event_log *log); /* all released lines are written or lost */
    void (*on_log)(struct event_log *log, enum inf_log_level level, const char *line);
    /* A write to an inherited descriptor is about to start. May be NULL. */
    void (*on_print)(struct event_log *log);
    /* An inherited descriptor failed; a negative errno value. */
    void (*on_lost)(struct event_log *log, int error);
    /* After event_log_close(): the owner may free the memory. */
    void (*on_closed)(struct event_log *log);
    /* From event_log_close(): @lines were not written. */
    void (*on_dropped)(struct event_log *log, uint64_t lines);
    /* Lines were added by a timer: the owner should flush. */
    void (*on_lines)(struct event_log *log);
    /* @lines were written to a file that had been removed. */
    void (*on_removed)(struct event_log *log, uint64_t lines);
    /* Something was written. May be NULL. */
    void (*on_written)(struct event_log *log);
};

enum event_log_state {
    EVENT_LOG_WAITING, /* for event_log_begin() */
    EVENT_LOG_READY,   /* no operation is in flight */
    EVENT_LOG_RECALLING,
    EVENT_LOG_OPENING,
    EVENT_LOG_CHECKING,
    EVENT_LOG_ROTATING,
    EVENT_LOG_WRITING,
    EVENT_LOG_REOPENING, /* closing the sink, to open it again */
    EVENT_LOG_RETRYING,  /* after a failure, until the timer fires */
    EVENT_LOG_LOST,      /* an inherited descriptor failed */
    EVENT_LOG_CLOSING,   /* until on_closed() */
};

#define EVENT_LOG_NONE UINT64_MAX

struct event_log {
    struct list node; /* for the owner */
    void *owner;
    const struct event_log_events *events;
    struct clock *clock;
    char *name; /* owned: the target */
    struct sink *sink;
    struct sm sm; /* enum event_log_state */

    struct filter *filter; /* owned; NULL: accepts everything */
    const struct record_format *format;
    char *format_argument;        /* owned; NULL: none */
    struct record_options record; /* owns the state */
    struct record_fields *fields; /* owned: record.fields */
    unsigned notes;

    struct event_order order; /* initial Events that are not in `collected` yet */
    struct timer order_timer;
    struct buf collected;
    size_t released;               /* bytes of `collected` that may be written */
    size_t saved;                  /* bytes of `collected` that are in `queue` */
    struct inf_state_queue *queue; /* on disk, before the lines are written; NULL: not saved */
    struct buf writing;
    size_t written; /* bytes of `writing` */
    bool recall;    /* `writing` is from event_log_restore(): some of it may be written already */
    struct log_ahead *ahead;  /* owned; NULL: the state has all records of the log */
    bool reading_ahead;       /* until the end of the log was read: the watches are held */
    struct timer ahead_timer; /* or until this */
    bool held;      /* `collected` has reached EVENT_LOG_HIGH and not yet fallen to EVENT_LOG_LOW */
    bool finishing; /* no more lines are added */
    bool reopen_requested;     /* by event_log_reopen(); logged when it is done */
    struct inf_budget *budget; /* charged for unwritten bytes; NULL: none */
    size_t charged;            /* bytes */

    struct timer retry;
    struct timer deadline; /* of event_log_finish() */
    unsigned retries;
    int error; /* of the last failure; a negative errno value */
    struct deferred_free deferred_free;

    /* event_log_health.c */
    struct timer stuck_timer; /* checks whether lines have waited too long */
    uint64_t stuck_after_ms;
    uint64_t collected_ms; /* when the first line of `collected` was added; EVENT_LOG_NONE: empty */
    uint64_t deferred_ms;  /* the same for lines that are not released, as far as is known */
    uint64_t writing_ms;   /* the same for `writing` */
    uint64_t failing_ms;   /* when it started to fail; EVENT_LOG_NONE: it does not fail */
    bool stuck_reported;

    /* counters */
    uint64_t bytes;              /* written */
    uint64_t failures;           /* reported */
    uint64_t dropped;            /* daemon records dropped because the buffer was full */
    uint64_t dropped_unreported; /* of these, not yet reported by a GAP */
};

struct event_log_status {
    const char *name;   /* borrowed */
    const char *state;  /* "writable", "held", "failing", "stuck" or "waiting" */
    const char *reason; /* why it fails or is stuck; NULL: it is not, or the reason is unknown */
    size_t unwritten;   /* bytes */
    uint64_t oldest_ms; /* age of the oldest unwritten line; EVENT_LOG_NONE: there is none */
    uint64_t unable_ms; /* time it could not be written: oldest_ms, or since it fails if longer */
    uint64_t stuck_after_ms;
    bool held;
    bool failing;
    bool stuck; /* unable_ms has reached stuck_after_ms */
};

/* The log is WAITING. Its filter, format and times are set by event_log_configure(). */
void event_log_init(struct event_log *log, struct clock *clock, struct disk *disk,
                    struct inf_budget *budget, const char *target,
                    const struct event_log_events *events);

/* Applies settings with the same target. Takes ownership of @filter and @fields, which are made of
 * them; both may be NULL. */
void event_log_configure(struct event_log *log, const struct event_log_settings *settings,
                         struct filter *filter, struct record_fields *fields);

/* While it is WAITING: saves its lines in @queue from now on (NULL: no longer). Lines of a previous run
 * that @queue has are written first, except those at the end of the file and of the
 * rotated ones. What can't be read back, such as a pipe, gets all of them. */
void event_log_restore(struct event_log *log, struct inf_state_queue *queue);

/* While it is WAITING, after an unclean stop: the log may have records of the sequence @log, from the
 * number @from on, that the state has lost (log_ahead.h). Does nothing if they can't be read back. */
void event_log_restore_ahead(struct event_log *event_log, const char *log, uint64_t from);

/* Opens the sink of a log that is WAITING. */
void event_log_begin(struct event_log *log);

/* ---- lines ---- */

bool event_log_accepts_change(const struct event_log *log, const char *watch,
                              const struct inf_event *event);

/* @watch NULL: the note is about the daemon. A format without notes
 * accepts only gaps. */
bool event_log_accepts_note(const struct event_log *log, const char *watch, enum note_type type);

/* The initial Events of a format that orders them are collected first: see event_order.h. A change that the
 * log has already, see event_log_restore_ahead(), is not added. */
void event_log_put_change(struct event_log *log, const struct change *change);

/* Adds the initial Events if there are some of @watch, whose state has changed. NULL: in any case. */
void event_log_release_events(struct event_log *log, const struct watch_id *watch);

/* A note can't be held back: it is dropped and counted if there is no room. */
void event_log_put_note(struct event_log *log, const struct note *note, const struct stamp *stamp,
                        const struct watch_id *watch);

/* The same without that limit. If the format has no notes, a gap is logged instead. */
void event_log_add_note(struct event_log *log, const struct note *note, const struct stamp *stamp,
                        const struct watch_id *watch);

/* Whether there is room for a daemon record. */
bool event_log_has_room(const struct event_log *log);

/* Releases all collected lines for writing. */
void event_log_flush(struct event_log *log);

/* The end of a write may be reported late; this makes sure that it is reported as soon as it has
 * ended. */
void event_log_collect(struct event_log *log);

/* Adds the collected lines to the queue on disk, if there is one; releases them when they are written
 * there. */
void event_log_save(struct event_log *log);
void event_log_release_saved(struct event_log *log);

/* To be called instead of event_log_flush() when collected lines may not be written yet: holds the
 * source if there are too many. */
void event_log_defer(struct event_log *log);

/* ---- life ---- */

/* Closes the sink and opens what its target names now. Inherited descriptors stay. */
void event_log_reopen(struct event_log *log);

/* No more lines are added: writes those that are released now or later, for at most
 * EVENT_LOG_FINISH_MS including retries, then closes as event_log_close() does. */
void event_log_finish(struct event_log *log);

/* Cancels event_log_finish(), before it has closed the log: lines are added again. */
void event_log_resume(struct event_log *log);

/* Drops and logs unwritten lines, and closes the log. on_closed() is called from the loop when no
 * operation is in flight; apart from on_dropped(), no other callback is called. */
void event_log_close(struct event_log *log);

/* ---- status ---- */

/* Whether an operation of the sink is in flight. */
bool event_log_is_busy(const struct event_log *log);

/* Whether nothing is collected or in flight. */
bool event_log_is_idle(const struct event_log *log);
bool event_log_is_failing(const struct event_log *log);

/* Bytes and lines that are not written. */
size_t event_log_unwritten(const struct event_log *log);
uint64_t event_log_unwritten_lines(const struct event_log *log);

void event_log_status(const struct event_log *log, struct event_log_status *ret);

/* ---- for its parts: event_log_lines.c ---- */

/* Takes the format of @settings and returns its state. A format that does not change keeps its state:
 * a table goes on without another header. */
void *event_log_take_format(struct event_log *log, const struct event_log_settings *settings);
void event_log_release_format(struct event_log *log);

/* Ordered lines have waited long enough: see event_order.h. */
void event_log_on_order_timer(struct timer *timer);

/* Moves the released lines from `collected` to `writing`, all of which is written. */
void event_log_take_released(struct event_log *log);

/* Lines were written or given up: confirms them to the queue. */
void event_log_confirm(struct event_log *log);

/* The buffers have changed: charges the budget; _update_hold() also holds or releases the watches. */
void event_log_charge(struct event_log *log);
void event_log_update_hold(struct event_log *log);

/* ---- for its parts: event_log_health.c ---- */

/* Message for an error of the sink. */
const char *event_log_error_text(const struct event_log *log, int error);

void event_log_health_init(struct event_log *log);

/* Lines may have been added: records since when they wait. */
void event_log_note_lines(struct event_log *log, bool released);

/* Something was written or failed: updates whether the log is stuck, and its timer. */
void event_log_note_progress(struct event_log *log);

#endif
