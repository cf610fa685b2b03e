/*
 * report.h - how the daemon is doing, for people, for Prometheus and for who looks into a dump.
 */
#ifndef DAEMON_HTTP_REPORT_H
#define DAEMON_HTTP_REPORT_H

#include <stdbool.h>

#include "base/buf.h"

struct daemon;
struct watcher_status;

/* Adds how one watch is: "live, 5 objects, last heard 3s ago, last event 1m ago", or what it is
 * instead, for how long, and why. */
void report_status(const struct watcher_status *status, struct buf *out);

/* Adds a line for each watch and each event log (if not @verbose, each that is not writable): what it
 * is, and since when. Returns whether all are ready; an event log is, unless its lines could not be
 * written for longer than its `stuck_after`. */
bool report_ready(const struct daemon *d, bool verbose, struct buf *out);

/* Adds one sentence: "12 watches, 11 live; secrets: forbidden". */
void report_sentence(const struct daemon *d, struct buf *out);

/* Adds all numbers, as metrics.h writes them. */
void report_metrics(struct daemon *d, struct buf *out);

/* Adds everything as one JSON object, a line for each watch. */
void report_dump(struct daemon *d, struct buf *out);

#endif
