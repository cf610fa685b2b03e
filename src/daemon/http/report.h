/*
 * report.h - the state of the daemon: readiness, status line and state dump; for metrics see
 * report_metrics.h.
 */
#ifndef DAEMON_HTTP_REPORT_H
#define DAEMON_HTTP_REPORT_H

#include <stdbool.h>

#include "base/buf.h"

struct daemon;
struct watcher_status;

/* Appends the status of a watch: "live, 5 objects, last data 3s ago, last event 1m ago", or another
 * state, its duration and its reason. */
void report_status(const struct watcher_status *status, struct buf *out);

/* Appends a line for each watch and each event log with its state and duration. Without
 * @verbose, writable event logs are omitted. Returns whether all are ready; an event log is
 * ready unless its lines could not be written for longer than `stuck_after`. */
bool report_ready(struct daemon *d, bool verbose, struct buf *out);

/* Appends a one-line status: "12 watches, 11 live; secrets: forbidden". */
void report_sentence(const struct daemon *d, struct buf *out);

/* Appends the state as one JSON object, with a line for each watch and event log. @with_records: also the
 * parked records of handlers, which contain objects. */
void report_dump(struct daemon *d, bool with_records, struct buf *out);

#endif
