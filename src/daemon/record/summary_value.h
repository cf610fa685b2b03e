/*
 * summary_value.h - the values of one change in a summary (summary.h).
 */
#ifndef DAEMON_RECORD_SUMMARY_VALUE_H
#define DAEMON_RECORD_SUMMARY_VALUE_H

#include <stdbool.h>

#include "informer/diff.h"

#include "base/buf.h"
#include "daemon/record/line_diff.h"

enum {
    SUMMARY_VALUE_MAX = 48,                        /* bytes of one value */
    SUMMARY_VALUE_COLUMNS = 2 * SUMMARY_VALUE_MAX, /* columns: a value with its ellipsis */
};

/* Whether the old and the new value are written, not only that there was a change. */
bool summary_shows_both_values(const struct inf_change *change);

/* Adds what happened to the value: " Pending -> Running", " removed". Each value has at most @max columns;
 * of a longer one the part is written where both differ. @lines may be NULL. */
void summary_put_effect(struct buf *out, const struct inf_change *change,
                        const struct line_diff *lines, const char *arrow, const char *ellipsis,
                        size_t max);

#endif
