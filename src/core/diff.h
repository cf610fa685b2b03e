/*
 * diff.h - diffs of any two JSON texts (diff.c), and diffs as JSON (diff_write.c).
 */
#ifndef CORE_DIFF_H
#define CORE_DIFF_H

#include "informer/diff.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum {
    DIFF_ITEMS_MAX = 256 * 1024, /* LIMIT: members and items looked at in one diff, of both sides */
};

struct inf_diff {
    struct inf_change *changes;
    size_t count;
    size_t cap;
    bool truncated;
    struct arena memory; /* paths, and the values of reorder */
};

/* Like inf_diff_make(), of two JSON values without white space around them. The diff lends from
 * both texts. */
struct inf_diff *diff_make(struct str old_text, struct str new_text,
                           const struct inf_diff_options *options);

/* Adds [{"op":"replace","path":"status.phase","old":"Pending","new":"Running"},...]. Where values
 * were left out it has "old_size" and "new_size" instead; "at" is there where an item does not go
 * to the end of its list. */
void diff_put_json(struct buf *out, const struct inf_diff *diff);

/* Adds ["status.phase",...]: only the paths. One that ends in a place may be there twice. */
void diff_put_paths(struct buf *out, const struct inf_diff *diff);

#endif
