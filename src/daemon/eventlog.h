/*
 * eventlog.h - a change as one line of JSON.
 */
#ifndef DAEMON_EVENTLOG_H
#define DAEMON_EVENTLOG_H

#include "informer/event.h"

#include "base/buf.h"

/* Adds the record of @event, newline included. */
void eventlog_put(struct buf *out, const struct inf_event *event);

/* The same for a hole in what is told: RELIST, or GAP with a reason. */
void eventlog_put_gap(struct buf *out, const struct inf_gap *gap);

#endif
