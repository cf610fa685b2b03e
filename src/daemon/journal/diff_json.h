/*
 * diff_json.h - a diff as JSON, whole or cut to what there is room for.
 */
#ifndef DAEMON_JOURNAL_DIFF_JSON_H
#define DAEMON_JOURNAL_DIFF_JSON_H

#include "informer/diff.h"

#include "base/buf.h"

/*
 * Adds [{"op":"replace","path":"status.phase","old":"Pending","new":"Running"},...]: the first
 * @changes changes, or all there are. A value over @value_max bytes, or one that the diff left out,
 * is told by its size instead: "old_size", "new_size". "at" is there where an item does not go to
 * the end of its list.
 */
void diff_json_put(struct buf *out, const struct inf_diff *diff, size_t changes, size_t value_max);

/* Adds ["status.phase",...]: only the paths. One that ends in a place may be there twice. */
void diff_json_put_paths(struct buf *out, const struct inf_diff *diff, size_t changes);

#endif
