/*
 * report_metrics.h - a page with all metrics of the daemon, written in slices.
 *
 *     page = metrics_page_new(d);                          the values of this moment
 *     while (!metrics_page_put_some(page, 64, &out))       in one tick or in several
 *         ...
 *     metrics_page_free(page);
 */
#ifndef DAEMON_HTTP_REPORT_METRICS_H
#define DAEMON_HTTP_REPORT_METRICS_H

#include <stdbool.h>

#include "base/buf.h"

struct daemon;
struct metrics_page;

/* Collects the values. The page does not refer to @d afterwards. */
struct metrics_page *metrics_page_new(struct daemon *d);

/* Appends the next part of the page, at most @items (over 0) watches and event logs of families: see
 * metrics.h. Returns true when the page is complete; it is not called again then. */
bool metrics_page_put_some(struct metrics_page *page, size_t items, struct buf *out);

/* NULL is allowed. */
void metrics_page_free(struct metrics_page *page);

#endif
