/*
 * line_diff.h - the changed lines of a text of several lines, such as a file in a ConfigMap, as hunks
 * of a unified diff without context:
 *
 *     @@ -3,2 +3,3 @@
 *     -worker_processes 1;
 *     -
 *     +worker_processes 4;
 *     +user www;
 *     +
 *
 * A text is compared by lines if it replaces another one, one of the two has at least LINE_DIFF_BREAKS
 * line breaks, and one has at least LINE_DIFF_BYTES bytes. Hashed values have no lines.
 *
 * Works on JSON strings as the server wrote them. Equal lines at both ends are skipped; the rest is
 * compared by the algorithm of Myers, up to a limit of lines and of edits. Beyond it the rest is one
 * hunk. The cost is proportional to the size of both texts plus a constant.
 */
#ifndef DAEMON_RECORD_LINE_DIFF_H
#define DAEMON_RECORD_LINE_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/diff.h"
#include "informer/event.h"

#include "base/buf.h"
#include "base/str.h"

enum {
    LINE_DIFF_BREAKS = 2,
    LINE_DIFF_BYTES = 200,
    LINE_DIFF_HUNKS_MAX = 32,    /* LIMIT: hunks that are kept; more are counted */
    LINE_DIFF_TEXT_MAX = 4096,   /* LIMIT: bytes of the lines of all hunks in a record */
    LINE_DIFF_LINES_MAX = 2048,  /* LIMIT: lines, of each text, that are compared with each other */
    LINE_DIFF_EDITS_MAX = 128,   /* LIMIT: removed and added lines that are searched for */
    LINE_DIFFS_LOOKUPS_MAX = 16, /* LIMIT: changes whose values are searched for in the objects */
};

/* Lines are counted from 1. A side without lines has the number of the line before. */
struct line_hunk {
    size_t old_line, old_count;
    size_t new_line, new_count;
    struct str old_text, new_text; /* the lines, as spelled in JSON, borrowed */
};

struct line_diff {
    size_t old_size, new_size; /* bytes of the JSON strings */
    struct line_hunk hunks[LINE_DIFF_HUNKS_MAX];
    size_t count;
    size_t more; /* hunks that are not kept */
};

/* Compares two JSON strings, quotes included. Returns false, and leaves @ret untouched, if they are
 * not compared by lines. */
bool line_diff_make(struct str old_json, struct str new_json, struct line_diff *ret);

/* Adds ["@@ -3,2 +3,3 @@\n-...",...] with at most about @max bytes of lines. A hunk whose lines do not
 * fit has only its first line. Returns the number of hunks whose lines were omitted. */
size_t line_diff_put_hunks(struct buf *out, const struct line_diff *diff, size_t max);

/* Adds "lines 3-5, 9", or "line 3": those of the new text; "after 8" where lines were only removed. */
void line_diff_put_lines(struct buf *out, const struct line_diff *diff);

/* ---- the texts of a change ---- */

/* For each change of a diff its line diff, or NULL. */
struct line_diffs;

/* Returns NULL if no change of @diff, which is that of @event, is compared by lines. Texts that the
 * diff omitted are those of the objects, for the first LINE_DIFFS_LOOKUPS_MAX: each costs a walk over
 * both objects. */
struct line_diffs *line_diffs_make(const struct inf_diff *diff, const struct inf_event *event);

/* NULL is allowed. */
void line_diffs_free(struct line_diffs *diffs);

/* The line diff of change number @i; NULL: none. @diffs may be NULL. */
const struct line_diff *line_diffs_get(const struct line_diffs *diffs, size_t i);

#endif
