/*
 * summary.h - a short text of a diff, with the most important change first:
 *
 *     status.phase Pending -> Running, status.podIP -> 10.1.2.3, spec.nodeName removed, 3 more
 */
#ifndef DAEMON_RECORD_SUMMARY_H
#define DAEMON_RECORD_SUMMARY_H

#include <stdbool.h>

#include "informer/diff.h"

#include "base/buf.h"
#include "base/str.h"
#include "daemon/record/line_diff.h"

/* Adds as many changes as fit into @max bytes, at least one; without @values only their paths.
 * Of a text in @lines (may be NULL) the changed lines are named: "data.f changed, lines 3-5".
 * Strings are decoded, so the text may contain any character. */
void summary_put_changes(struct buf *out, const struct inf_diff *diff,
                         const struct line_diffs *lines, bool values, size_t max);

/* How changes are fitted into a line. */
struct summary_fit {
    size_t columns;    /* 0: no limit but `max` */
    size_t max;        /* columns in any case */
    const char *arrow; /* with blanks */
    const char *ellipsis;
    const struct line_diffs *lines;                /* as above; may be NULL */
    void (*put)(struct buf *out, struct str text); /* makes text visible */
};

/* The same for a terminal: adds as many changes as fit into the columns. A path that does not fit is
 * shortened from the left, so that the values are visible: ...[web].restartCount 0 -> 1. The text is
 * visible. */
void summary_put_fitted(struct buf *out, const struct inf_diff *diff,
                        const struct summary_fit *fit);

/* Adds @text; if it is longer than @max bytes, its first @max bytes and an ellipsis. */
void summary_put_cut(struct buf *out, struct str text, size_t max);

#endif
