/*
 * output.h - writes lines to a file or a descriptor that may be slow or fail, without blocking the
 * loop or losing a line.
 *
 * Lines are collected while handlers run. The lines that output_flush() releases are written with
 * one write on libuv's pool (FIFOs and terminals: polled by the loop, see seam/disk.h);
 * meanwhile the next lines are collected. If a reader is slow (a pager, a stopped terminal) or a
 * disk is full, lines accumulate: above OUTPUT_HIGH the owner is asked to hold its source, below
 * OUTPUT_LOW to resume it.
 *
 * - A file that fails (full disk, missing directory, ...) is reported once, retried after 1 s to
 *   30 s, and continues at the byte where it stopped.
 * - A file that was moved is reopened within a second of writing. A line that is partly in the old
 *   file is written completely to the new one.
 * - A file that was removed is detected before the next write, or after the one in flight, whose
 *   lines are counted as lost.
 * - A descriptor can't be reopened: its first failure is final, and collected lines are dropped.
 *
 * O_NONBLOCK is never set on a descriptor: it may be shared with the parent process.
 *
 * An output has at most one operation in flight, so it occupies at most one thread of the pool, but
 * for as long as the kernel takes, even after output_close(): see daemon/pool.h for why this delays
 * no other output.
 */
#ifndef DAEMON_JOURNAL_OUTPUT_H
#define DAEMON_JOURNAL_OUTPUT_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/buf.h"
#include "daemon/journal/logfile.h"
#include "seam/clock.h"

enum {
    OUTPUT_HIGH = 1024 * 1024, /* LIMIT: bytes collected before the owner is asked to hold */
    OUTPUT_LOW = 256 * 1024,
    OUTPUT_MAX = 2 * OUTPUT_HIGH, /* LIMIT: with daemon records, which are never held */
    OUTPUT_RETRY_MIN_MS = 1000,
    OUTPUT_RETRY_MAX_MS = 30000,
    OUTPUT_AGAIN_MS = 20, /* when a descriptor made non-blocking by another process is full */
    OUTPUT_CHECK_MS = 1000,
    OUTPUT_LOOK_MS = 5, /* the check for a removed file is not repeated within this time */
    OUTPUT_ROTATE_AGAIN_MS = 60000,
    OUTPUT_LOCKED_TEXT = 96,
    OUTPUT_FINISH_MS = 10000, /* for a removed output to write its remaining lines */
};

/* The path is copied. */
struct output_settings {
    const char *path; /* NULL: `fd`, called "stdout" */
    int fd;
    uint64_t rotate_size;      /* 0: never */
    unsigned keep;             /* rotated files; 0 counts as 1: a file in use is never truncated */
    uint64_t stuck_after_ms;   /* 0: never; see struct output_status */
    bool waits;                /* do not open the file before output_begin() */
    struct inf_budget *budget; /* charged for unwritten bytes; NULL: none */
};

struct output;

struct output_events {
    void (*on_hold)(struct output *output, bool hold); /* also from output_flush() */
    void (*on_idle)(struct output *output);            /* all released lines are written or lost */
    void (*on_say)(struct output *output, enum inf_log_level level, const char *line);
    void (*on_lost)(struct output *output, int error); /* a descriptor failed; a libuv error */
    void (*on_closed)(
        struct output *output); /* after output_close(): the owner may free the memory */
    /* From output_close(): @lines were not written. */
    void (*on_dropped)(struct output *output, uint64_t lines);
    /* @lines were written to a file that had been removed. */
    void (*on_removed)(struct output *output, uint64_t lines);
};

/* The file operation in flight. */
enum output_doing {
    OUTPUT_NOTHING,
    OUTPUT_OPENING,
    OUTPUT_ROTATING,
    OUTPUT_CHECKING, /* whether the path still names the open file */
    OUTPUT_LOOKING,  /* whether the open file still has a name */
    OUTPUT_WRITING,
    OUTPUT_CLOSING,
};

struct output {
    struct clock *clock;
    const struct output_events *events;
    char *path; /* owned; NULL: a descriptor */
    uint64_t rotate_size;
    unsigned keep;
    struct logfile file;
    enum output_doing doing;
    struct buf collected;
    size_t cleared; /* bytes of `collected` that may be written */
    struct buf writing;
    size_t written; /* bytes of `writing` */
    struct timer retry;
    struct timer deadline;   /* of output_finish() */
    struct timer stuck_look; /* checks whether lines have waited too long */
    uint32_t retries;        /* since the last success */
    uint64_t check_due_ms;
    uint64_t look_due_ms;
    uint64_t unseen_lines; /* written since the last check that the file still has a name */
    uint64_t rotate_due_ms;
    bool rotation_failing; /* reported */
    struct inf_budget *budget;
    size_t counted; /* bytes charged to `budget` */
    uint64_t stuck_after_ms;
    uint64_t collected_ms; /* when the first line of `collected` was added; OUTPUT_NONE: empty */
    uint64_t kept_back_ms; /* the same for lines that are not released, as far as is known */
    uint64_t writing_ms;   /* the same for `writing` */
    uint64_t failing_ms;   /* when it started to fail; OUTPUT_NONE: it does not fail */
    int error;             /* why it fails; a libuv error */
    char locked_by[OUTPUT_LOCKED_TEXT]; /* message, if `error` is -EBUSY */
    bool held;
    bool failing;
    bool stuck; /* reported */
    bool waits; /* until output_begin() */
    bool lost;
    bool reopening;
    bool finishing; /* no more lines are added */
    bool closing;
    struct deferred_free deferred_free;

    uint64_t bytes;    /* written */
    uint64_t failures; /* reported */
    uint64_t rotations;
};

#define OUTPUT_NONE UINT64_MAX

/* The state of an output. */
struct output_status {
    const char *name;   /* borrowed */
    const char *state;  /* "writable", "held", "failing", "stuck" or "waiting" */
    const char *reason; /* why it fails or is stuck; NULL: it is not, or the reason is unknown */
    size_t unwritten;   /* bytes */
    uint64_t oldest_ms; /* age of the oldest unwritten line; OUTPUT_NONE: there is none */
    uint64_t unable_ms; /* time it could not be written: oldest_ms, or since it fails if longer */
    uint64_t stuck_after_ms;
    bool held;
    bool failing;
    bool stuck; /* unable_ms has reached stuck_after_ms */
};

/* Initialises @output and starts opening its file. */
void output_init(struct output *output, struct clock *clock, struct disk *disk,
                 const struct output_settings *settings, const struct output_events *events);

/* Changes rotation and stuck_after of the same file. */
void output_change(struct output *output, const struct output_settings *settings);

/* Releases all collected lines for writing. */
void output_flush(struct output *output);

/* To be called instead of output_flush() when collected lines may not be written yet: holds the
 * source if there are too many. */
void output_wait(struct output *output);

/* Whether nothing is collected or in flight. */
bool output_idle(const struct output *output);

/* Whether there is room for a daemon record, which can't be held back. */
bool output_has_room(const struct output *output);

/* Bytes and lines that are not written. */
size_t output_unwritten(const struct output *output);
uint64_t output_unwritten_lines(const struct output *output);

void output_status(const struct output *output, struct output_status *ret);

/* Opens the file of an output with `waits`. */
void output_begin(struct output *output);

/* Closes the file and opens what its path names now. Descriptors stay. */
void output_reopen(struct output *output);

/* No more lines are added: writes those that are released now or later, for at most
 * OUTPUT_FINISH_MS including retries, then closes as output_close() does. */
void output_finish(struct output *output);

/* Cancels output_finish(), before it has closed the output: lines are added again. */
void output_resume(struct output *output);

/* Drops and logs unwritten lines, and closes the output. on_closed() is called from the loop
 * when no operation is in flight; apart from on_dropped(), no other callback is called. */
void output_close(struct output *output);

/* "stdout", or the path. */
const char *output_name(const struct output *output);

/* ---- for its parts: output_health.c ---- */

__attribute__((format(printf, 3, 4))) void output_say(struct output *output,
                                                      enum inf_log_level level, const char *fmt,
                                                      ...);

/* Message why the file can't be opened or written; valid until the next output_note_lock(). */
const char *output_error_text(const struct output *output, int error);

/* Remembers which process holds the lock of the file. */
void output_note_lock(struct output *output);

void output_health_init(struct output *output);

/* Newlines in @bytes. */
uint64_t output_count_lines(const char *bytes, size_t len);

/* Lines may have been added: records since when they wait. */
void output_note_lines(struct output *output, bool cleared);

/* Something was written or failed: updates whether the output is stuck, and its timer. */
void output_note_progress(struct output *output);

#endif
