/*
 * output.h - lines to a file or a descriptor that may be slow or fail, without ever holding up the
 * loop or losing a line.
 *
 * Lines are collected while handlers run. What output_flush() clears goes out with one write, on
 * libuv's pool (FIFOs and terminals: polled by the loop, see daemon/journal/disk.h), and until it is done the next ones are collected. A reader that sleeps (a pager, a
 * stopped terminal) or a disk that is full makes them pile up: over the high mark the owner is told
 * to hold its source, under the low mark to go on.
 *
 * A file that fails (full disk, vanished directory, ...) is reported once, tried again after 1 s to
 * 30 s, and goes on at the very byte where it stopped. A file that was moved is opened
 * anew within a second of writing, and a line that was half in the old one is whole in the new one. A file that was removed
 * is noticed before the next write, or after the one that is under way, whose lines are counted as lost.
 * A descriptor can't be opened anew: its first failure is its end, and what is collected is dropped.
 *
 * O_NONBLOCK is never set on a descriptor: it may be shared with our parent.
 *
 * An output has at most one operation under way, so it occupies at most one thread of the pool, but for as long
 * as the kernel keeps that, even after output_close(): see daemon/pool.h for why this delays no other output.
 */
#ifndef DAEMON_JOURNAL_OUTPUT_H
#define DAEMON_JOURNAL_OUTPUT_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/buf.h"
#include "daemon/journal/logfile.h"
#include "seam/clock.h"

enum {
    OUTPUT_HIGH = 1024 * 1024, /* LIMIT: bytes collected before the owner is told to hold */
    OUTPUT_LOW = 256 * 1024,
    OUTPUT_MAX = 2 * OUTPUT_HIGH, /* LIMIT: for what comes though the source is held: notes */
    OUTPUT_RETRY_MIN_MS = 1000,
    OUTPUT_RETRY_MAX_MS = 30000,
    OUTPUT_AGAIN_MS = 20, /* a descriptor that somebody else made non-blocking is full */
    OUTPUT_CHECK_MS = 1000,
    OUTPUT_LOOK_MS = 5, /* a look at whether the file was removed that is younger is not repeated */
    OUTPUT_ROTATE_AGAIN_MS = 60000,
    OUTPUT_LOCKED_TEXT = 96,
    OUTPUT_FINISH_MS = 10000, /* so long what is left may take when an output goes */
};

/* The path is copied. */
struct output_settings {
    const char *path; /* NULL: `fd`, called "stdout" */
    int fd;
    uint64_t rotate_size; /* 0: never */
    unsigned keep;        /* rotated files; 0 is 1, for a file is never emptied under its readers */
    uint64_t stuck_after_ms;   /* 0: never; see struct output_status */
    bool waits;                /* the file is not opened before output_begin() */
    struct inf_budget *budget; /* what waits counts in it; NULL: nowhere */
};

struct output;

struct output_events {
    void (*on_hold)(struct output *output, bool hold); /* also from output_flush() */
    void (*on_idle)(struct output *output);            /* all that was cleared is out, or lost */
    void (*on_say)(struct output *output, enum inf_log_level level, const char *line);
    void (*on_lost)(struct output *output, int error); /* a descriptor's end; of libuv */
    void (*on_closed)(struct output *output); /* after output_close(): the memory is the owner's */
    void (*on_dropped)(struct output *output,
                       uint64_t lines); /* from output_close(): not written */
    void (*on_removed)(struct output *output,
                       uint64_t lines); /* written to a file that was removed */
};

/* What of its file is in flight. */
enum output_doing {
    OUTPUT_NOTHING,
    OUTPUT_OPENING,
    OUTPUT_ROTATING,
    OUTPUT_CHECKING, /* whether the path still names it */
    OUTPUT_LOOKING,  /* whether it still has a name */
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
    size_t cleared; /* of `collected`: may go out */
    struct buf writing;
    size_t written; /* of `writing` */
    struct timer retry;
    struct timer deadline;   /* of finishing */
    struct timer stuck_look; /* whether lines have waited for too long */
    uint64_t delay_ms;
    uint64_t check_due_ms;
    uint64_t look_due_ms;
    uint64_t unseen_lines; /* written since the last look at whether the file still has a name */
    uint64_t rotate_due_ms;
    bool rotation_failing; /* reported */
    struct inf_budget *budget;
    size_t counted; /* in it */
    uint64_t stuck_after_ms;
    uint64_t collected_ms; /* when the first line of `collected` came; OUTPUT_NONE: there is none */
    uint64_t kept_back_ms; /* the same, of those that are not cleared, as far as is known */
    uint64_t writing_ms;   /* the same, of `writing` */
    uint64_t failing_ms;   /* since when it fails; OUTPUT_NONE: it does not */
    int error;             /* why it fails; of libuv */
    char locked_by[OUTPUT_LOCKED_TEXT]; /* in words, if that is UV_EBUSY */
    bool held;
    bool failing;
    bool stuck; /* reported */
    bool waits; /* for output_begin() */
    bool lost;
    bool reopening;
    bool finishing; /* no more lines come */
    bool closing;
    struct deferred_free deferred_free;

    uint64_t bytes;    /* written */
    uint64_t failures; /* reported */
    uint64_t rotations;
};

#define OUTPUT_NONE UINT64_MAX

/* How an output is doing. */
struct output_status {
    const char *name;   /* lent */
    const char *state;  /* "writable", "held", "failing", "stuck" or "waiting" */
    const char *reason; /* why it fails or is stuck; NULL: it does not, or that is not known */
    size_t unwritten;   /* bytes */
    uint64_t oldest_ms; /* how long the oldest line has waited; OUTPUT_NONE: none waits */
    uint64_t unable_ms; /* how long it could not be written: the same, or how long it fails */
    uint64_t stuck_after_ms;
    bool held;
    bool failing;
    bool stuck; /* unable_ms is over its limit */
};

/* Sets up @output and begins to open its file. */
void output_init(struct output *output, struct clock *clock, struct disk *disk,
                 const struct output_settings *settings, const struct output_events *events);

/* Other sizes for the same file. */
void output_change(struct output *output, const struct output_settings *settings);

/* Clears all that was collected (whole lines) for writing. */
void output_flush(struct output *output);

/* What was collected may not go out yet, but may be too much. */
void output_wait(struct output *output);

/* Whether nothing is collected or in flight. */
bool output_idle(const struct output *output);

/* Whether there is room for a line that can't be held back. */
bool output_has_room(const struct output *output);

/* Bytes and lines that are not out. */
size_t output_unwritten(const struct output *output);
uint64_t output_unwritten_lines(const struct output *output);

void output_status(const struct output *output, struct output_status *ret);

/* Ends the waiting that the settings asked for. */
void output_begin(struct output *output);

/* Closes the file and opens what its path names now. Descriptors stay. */
void output_reopen(struct output *output);

/* No more lines come: writes those that are cleared now or later, for ten seconds at most, failures
 * included, then ends as with output_close(). */
void output_finish(struct output *output);

/* Lines come again, after output_finish() and before it has ended. */
void output_resume(struct output *output);

/* Drops what is not written, saying how much that is, and ends: on_closed() comes from the loop once nothing is in flight;
 * until then nothing else is called. */
void output_close(struct output *output);

/* "stdout", or the path. */
const char *output_name(const struct output *output);

/* ---- for its parts: output_health.c ---- */

__attribute__((format(printf, 3, 4))) void output_say(struct output *output,
                                                      enum inf_log_level level, const char *fmt,
                                                      ...);

/* Why the file can't be opened or written, in words; lent until the next call of output_note_lock(). */
const char *output_error_text(const struct output *output, int error);

/* The lock of the file is held by another open file: remembers which process has that. */
void output_note_lock(struct output *output);

void output_health_init(struct output *output);

/* Newlines in @bytes. */
uint64_t output_count_lines(const char *bytes, size_t len);

/* Lines may have come: remembers since when they wait. */
void output_note_lines(struct output *output, bool cleared);

/* Something was written or failed: is it stuck any more, or will it be? */
void output_note_progress(struct output *output);

#endif
