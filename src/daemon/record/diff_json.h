/*
 * diff_json.h - a diff as JSON, complete or limited in the number of changes and the size of
 * values.
 */
#ifndef DAEMON_RECORD_DIFF_JSON_H
#define DAEMON_RECORD_DIFF_JSON_H

#include "informer/diff.h"

#include "base/buf.h"
#include "daemon/record/line_diff.h"

/*
 * Adds [{"op":"replace","path":"status.phase","old":"Pending","new":"Running"},...]: at most the
 * first @changes changes. For a value over @value_max bytes, or one that the diff omitted,
 * "old_size" or "new_size" has its size instead. A text in @lines (may be NULL) has both sizes and,
 * unless @value_max is 0, "hunks" with its changed lines instead of its values; "hunks_omitted" is the
 * number of hunks whose lines do not fit. "at" is the index of an item that is not at the
 * end of its list.
 */
void diff_json_put(struct buf *out, const struct inf_diff *diff, const struct line_diffs *lines,
                   size_t changes, size_t value_max);

/* Adds ["status.phase",...]: only the paths. A path of a list whose items have no key may occur
 * more than once. */
void diff_json_put_paths(struct buf *out, const struct inf_diff *diff, size_t changes);

#endif
