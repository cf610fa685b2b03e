/*
 * daemon_log.h - the daemon's log about itself: logfmt or JSON lines on stderr, never mixed with events.
 *
 * It never waits for who reads it. While stderr takes nothing (a pipe that is full, a stopped
 * terminal) lines wait, and when there are too many of them the newest are dropped, which is said
 * when it goes on. O_NONBLOCK is not set: stderr may be shared with our parent.
 */
#ifndef DAEMON_DAEMON_LOG_H
#define DAEMON_DAEMON_LOG_H

#include "informer/informer.h"

#include "base/buf.h"
#include "daemon/conf/conf.h"
#include "seam/clock.h"

enum {
    OWNLOG_MAX = 64 * 1024, /* LIMIT: bytes that wait */
    OWNLOG_AGAIN_MS = 100,
};

/* A zeroed one works, but tries again only with the next line. */
struct daemon_log {
    enum inf_log_level level; /* lines below it are not written */
    enum conf_log_format format;
    int fd;              /* 0: stderr */
    struct clock *clock; /* NULL: no timer */
    struct timer again;
    struct buf waiting;
    uint64_t dropped; /* lines, since it was said last */
};

/* Everything is lent. */
void daemon_log_init(struct daemon_log *log, struct clock *clock, enum inf_log_level level,
                     enum conf_log_format format);

/* Other settings, from the next line on. */
void daemon_log_change(struct daemon_log *log, enum inf_log_level level,
                       enum conf_log_format format);

/* No timer from now on; what waits goes out with the lines to come, if it can. */
void daemon_log_leave_clock(struct daemon_log *log);

void daemon_log_free(struct daemon_log *log);

/* Adds one line, as it would be written at that time. */
void daemon_log_put(struct buf *out, enum conf_log_format format, int64_t at_us,
                    enum inf_log_level level, const char *line);

/* A log hook for inf_client_options; @ctx is the struct daemon_log. */
void daemon_log_line(void *ctx, enum inf_log_level level, const char *line);

__attribute__((format(printf, 3, 4))) void daemon_log_printf(struct daemon_log *log,
                                                             enum inf_log_level level,
                                                             const char *fmt, ...);

#endif
