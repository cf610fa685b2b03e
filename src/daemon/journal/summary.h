/*
 * summary.h - a diff in a few words, the most telling change first:
 *
 *     status.phase Pending -> Running, status.podIP -> 10.1.2.3, spec.nodeName removed, 3 more
 */
#ifndef DAEMON_JOURNAL_SUMMARY_H
#define DAEMON_JOURNAL_SUMMARY_H

#include <stdbool.h>

#include "informer/diff.h"

#include "base/buf.h"
#include "base/str.h"

/* Adds as many changes as @max bytes hold, at least one; without @values only their paths. What the
 * values say is decoded, so any character may be in it. */
void summary_put_changes(struct buf *out, const struct inf_diff *diff, bool values, size_t max);

/* Adds @text, cut with an ellipsis to at most @max bytes and that. */
void summary_put_cut(struct buf *out, struct str text, size_t max);

#endif
