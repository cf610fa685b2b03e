/*
 * ownlog.h - the daemon's log about itself: lines on stderr, never mixed with events.
 *
 *     time=2026-11-16T00:58:11.204131Z level=info msg="synced: 3 objects at version 812"
 *     {"time":"2026-11-16T00:58:11.204131Z","level":"info","msg":"synced: ..."}
 */
#ifndef DAEMON_OWNLOG_H
#define DAEMON_OWNLOG_H

#include <stdint.h>

#include "informer/informer.h"

#include "base/buf.h"
#include "daemon/conf.h"

/* A log hook for inf_client_options; @format is a const enum conf_log_format *, NULL for logfmt. */
void ownlog_line(void *format, enum inf_log_level level, const char *line);

/* Adds the line, newline included, as it looks when written at @at_us. */
void ownlog_put(struct buf *out, enum conf_log_format format, int64_t at_us,
                enum inf_log_level level, const char *line);

#endif
