/*
 * patch.h - does what a diff says, with trees and by simple means, to see whether it says it all.
 */
#ifndef TEST_PATCH_H
#define TEST_PATCH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "core/diff/diff.h"

/*
 * Whether the changes of @diff, done to @old_text one after the other, give @new_text: the same
 * values, lists in the same order. Each place must be there, hold the old value that the change
 * tells, and have a path that can be parsed and is spelled canonically. New values that were left
 * out are looked up in @new_text. If not, @why says it.
 */
bool patch_gives(const struct inf_diff *diff, struct str old_text, struct str new_text,
                 struct buf *why);

/* The same as an assertion, which shows what went wrong. */
void patch_assert(const struct inf_diff *diff, struct str old_text, struct str new_text);

/* Whether two diffs of the same texts say the same in every respect. */
bool patch_same(const struct inf_diff *a, const struct inf_diff *b);

/* The same as an assertion, which shows both. */
void patch_assert_same(const struct inf_diff *got, const struct inf_diff *wanted);

/* One line for each change: "~ path old -> new", "+ path new", "+ path @at new", "- path old",
 * "% path old -> new" (reorder). The caller's. */
char *patch_lines(const struct inf_diff *diff);

/* JSON as tests write it: a ' stands for a ". The caller's. */
char *patch_json(const char *text);

#endif
