/*
 * daemon_log.h - the daemon's own log: logfmt, JSON or text lines on stderr, separate from the event
 * logs.
 *
 * Writing never blocks. While stderr accepts nothing (a full pipe, a stopped terminal) up to
 * DAEMON_LOG_MAX bytes of lines are buffered; further lines are dropped and counted, and the count is
 * logged when writing resumes. O_NONBLOCK is not set: stderr may be shared with the parent process.
 */
#ifndef DAEMON_DAEMON_LOG_H
#define DAEMON_DAEMON_LOG_H

#include "informer/informer.h"

#include "base/buf.h"
#include "daemon/conf/conf.h"
#include "seam/clock.h"

enum {
    DAEMON_LOG_MAX = 64 * 1024, /* LIMIT: buffered bytes; exceeded by at most one line */
    DAEMON_LOG_AGAIN_MS = 100,
};

/* A zeroed struct works, but without a clock it retries only when the next line is logged. */
struct daemon_log {
    enum inf_log_level level; /* minimum level to write */
    enum conf_log_format format;
    int fd;              /* 0: stderr */
    struct clock *clock; /* NULL: no timer */
    struct timer again;
    struct buf waiting;
    uint64_t dropped; /* lines dropped and not yet reported */
    bool holding;
    struct buf held;    /* lines since daemon_log_hold() */
    bool progress;      /* a text of daemon_log_progress() is shown */
    bool quiet_retries; /* lines of a watch that retries are not written: see watch_session.c */
};

/* @clock is borrowed. */
void daemon_log_init(struct daemon_log *log, struct clock *clock, enum inf_log_level level,
                     enum conf_log_format format);

/* Changes the settings, from the next line on. */
void daemon_log_change(struct daemon_log *log, enum inf_log_level level,
                       enum conf_log_format format);

/* Stops using the clock. Buffered lines are written with the next line, if possible. */
void daemon_log_leave_clock(struct daemon_log *log);

void daemon_log_free(struct daemon_log *log);

/* Keeps lines of watches that retry, up to DAEMON_LOG_MAX bytes, until daemon_log_release(). */
void daemon_log_hold(struct daemon_log *log);

/* Writes the lines that were kept, or drops them with @discard. Does nothing if none are kept. */
void daemon_log_release(struct daemon_log *log, bool discard);

/* Adds one formatted line with the time @at_us. */
void daemon_log_put(struct buf *out, enum conf_log_format format, int64_t at_us,
                    enum inf_log_level level, const char *line);

/* A log hook for inf_client_options; @ctx is the struct daemon_log. */
void daemon_log_line(void *ctx, enum inf_log_level level, const char *line);

__attribute__((format(printf, 3, 4))) void daemon_log_printf(struct daemon_log *log,
                                                             enum inf_log_level level,
                                                             const char *fmt, ...);

/* Writes a line whose level is not shown, but @status, a word of at most 8 letters. */
__attribute__((format(printf, 3, 4))) void daemon_log_status(struct daemon_log *log,
                                                             const char *status, const char *fmt,
                                                             ...);

/*
 * Shows @text without a line break in place of the previous one, on a terminal; NULL: erases it. The
 * next line of this log erases it too. @text must fit into one line. It is not shown while lines wait
 * to be written.
 */
void daemon_log_progress(struct daemon_log *log, const char *text);

#endif
