/*
 * patch.h - applies a diff to JSON trees with simple code, to check that the diff is complete.
 */
#ifndef TEST_PATCH_H
#define TEST_PATCH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "core/diff/diff.h"

/*
 * Whether the changes of @diff, applied to @old_text in order, give @new_text: the same values,
 * lists in the same order. Each target must exist, have the old value of the change, and a path
 * that can be parsed and is canonical. New values that the diff omits are taken from @new_text. If
 * not, @why has the reason.
 */
bool patch_gives(const struct inf_diff *diff, struct str old_text, struct str new_text,
                 struct buf *why);

/* The same as an assertion, which shows the reason. */
void patch_assert(const struct inf_diff *diff, struct str old_text, struct str new_text);

/* Whether two diffs of the same texts are equal in every respect. */
bool patch_same(const struct inf_diff *a, const struct inf_diff *b);

/* The same as an assertion, which shows both. */
void patch_assert_same(const struct inf_diff *got, const struct inf_diff *wanted);

/* One line for each change: "~ path old -> new", "+ path new", "+ path @at new", "- path old",
 * "% path old -> new" (reorder). The caller frees it. */
char *patch_lines(const struct inf_diff *diff);

/* JSON as written in tests: a ' stands for a ". The caller frees it. */
char *patch_json(const char *text);

#endif
