/*
 * report.h - how the daemon is doing, for people, for Prometheus and for who looks into a dump.
 */
#ifndef DAEMON_REPORT_H
#define DAEMON_REPORT_H

#include <stdbool.h>

#include "base/buf.h"

struct daemon;

/* Adds a line for each watch: what it is, and since when. Returns whether all are ready. */
bool report_ready(const struct daemon *d, struct buf *out);

/* Adds one sentence: "12 watches, 11 live; secrets: forbidden". */
void report_sentence(const struct daemon *d, struct buf *out);

/* Adds all numbers, as metrics.h writes them. */
void report_metrics(struct daemon *d, struct buf *out);

/* Adds everything as one JSON object, a line for each watch. */
void report_dump(struct daemon *d, struct buf *out);

#endif
