/*
 * daemon_log.h - the daemon's own log: logfmt or JSON lines on stderr, separate from the event
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

/* Adds one formatted line with the time @at_us. */
void daemon_log_put(struct buf *out, enum conf_log_format format, int64_t at_us,
                    enum inf_log_level level, const char *line);

/* A log hook for inf_client_options; @ctx is the struct daemon_log. */
void daemon_log_line(void *ctx, enum inf_log_level level, const char *line);

__attribute__((format(printf, 3, 4))) void daemon_log_printf(struct daemon_log *log,
                                                             enum inf_log_level level,
                                                             const char *fmt, ...);

#endif
