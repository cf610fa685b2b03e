/*
 * ownlog.h - the daemon's log about itself: logfmt or JSON lines on stderr, never mixed with events.
 */
#ifndef DAEMON_OWNLOG_H
#define DAEMON_OWNLOG_H

#include "informer/informer.h"

#include "base/buf.h"
#include "daemon/conf.h"

struct ownlog {
    enum inf_log_level level; /* lines below it are not written */
    enum conf_log_format format;
};

/* Adds one line, as it would be written at that time. */
void ownlog_put(struct buf *out, enum conf_log_format format, int64_t at_us,
                enum inf_log_level level, const char *line);

/* A log hook for inf_client_options; @ctx is the struct ownlog. */
void ownlog_line(void *ctx, enum inf_log_level level, const char *line);

__attribute__((format(printf, 3, 4))) void ownlog_printf(struct ownlog *log,
                                                         enum inf_log_level level, const char *fmt,
                                                         ...);

#endif
