/*
 * ownlog.h - the daemon's log about itself: logfmt lines on stderr, never mixed with events.
 */
#ifndef DAEMON_OWNLOG_H
#define DAEMON_OWNLOG_H

#include "informer/informer.h"

/* A log hook for inf_client_options; @ctx is not used. */
void ownlog_line(void *ctx, enum inf_log_level level, const char *line);

#endif
