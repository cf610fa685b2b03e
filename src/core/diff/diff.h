/*
 * diff.h - diffs of any two JSON texts.
 */
#ifndef CORE_DIFF_H
#define CORE_DIFF_H

#include "informer/diff.h"

#include "base/arena.h"
#include "base/str.h"

enum {
    DIFF_ITEMS_MAX = 256 * 1024, /* LIMIT: members and items of both texts in one diff */
};

struct inf_diff {
    struct inf_change *changes;
    size_t count;
    size_t cap;
    bool truncated;
    struct arena memory; /* paths, and the values of reorder */
};

/* Like inf_diff_make(), of two JSON values without white space around them. The diff
 * keeps pointers into both texts. */
struct inf_diff *diff_make(struct str old_text, struct str new_text,
                           const struct inf_diff_options *options);

/* For tests: the same by pairs only (diff_pair.h), without the short cut for similar texts. The result
 * must be the same. */
struct inf_diff *diff_make_by_pairs(struct str old_text, struct str new_text,
                                    const struct inf_diff_options *options);

#endif
