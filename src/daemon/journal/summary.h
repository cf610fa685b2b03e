/*
 * summary.h - a short text of a diff, with the most important change first:
 *
 *     status.phase Pending -> Running, status.podIP -> 10.1.2.3, spec.nodeName removed, 3 more
 */
#ifndef DAEMON_JOURNAL_SUMMARY_H
#define DAEMON_JOURNAL_SUMMARY_H

#include <stdbool.h>

#include "informer/diff.h"

#include "base/buf.h"
#include "base/str.h"

/* Adds as many changes as fit into @max bytes, at least one; without @values only their paths.
 * Strings are decoded, so the text may contain any character. */
void summary_put_changes(struct buf *out, const struct inf_diff *diff, bool values, size_t max);

/* Adds @text; if it is longer than @max bytes, its first @max bytes and an ellipsis. */
void summary_put_cut(struct buf *out, struct str text, size_t max);

#endif
