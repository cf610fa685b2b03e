/*
 * diff_mismatch.h - finds the few places where two texts of the same shape differ, in one pass.
 *
 * Nearly every change is of that kind: some scalars have another value, the rest has the same bytes
 * at the same place of the document:
 *
 *     old   {"phase":"Running","conditions":[{"status":"False","type":"Ready"}],"reason":""}
 *     new   {"phase":"Running","conditions":[{"status":"True","type":"Ready"}],"reason":""}
 *            ---------------- the same bytes ----------     -------- again the same -----
 *
 * Where the bytes differ there must be a value that has the same path on both sides: a mismatch. All
 * other bytes are equal, so they are walked once for both texts, and values without a mismatch are
 * skipped. The path must be unambiguous: no object on it may have a key twice, and one merge key
 * must identify the items of a list. A part for which this is not so, or that gained or lost
 * members, is one mismatch as a whole; the caller compares it by pairs (diff_pair.h).
 *
 * The changes of all mismatches, in order, are the same as those that pairing finds for the whole.
 */
#ifndef CORE_DIFF_MISMATCH_H
#define CORE_DIFF_MISMATCH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    /* A part that exceeds one of these is one mismatch as a whole. */
    DIFF_MISMATCHES_MAX = 32,
    DIFF_MISMATCH_STEPS_MAX = 64, /* of all paths; shared steps count once */
    DIFF_MISMATCH_DEPTH_MAX = 16, /* steps of one path */
};

/* .key, or [key=value] if it has a value. */
struct diff_mismatch_step {
    size_t parent; /* index of the previous step; 0: none */
    struct str key;
    struct str value; /* NULL: none */
};

struct diff_mismatch {
    size_t step; /* index of the last step of its path */
    struct str old_text;
    struct str new_text;
};

struct diff_mismatches {
    struct diff_mismatch mismatches[DIFF_MISMATCHES_MAX];
    size_t count;
    struct diff_mismatch_step steps[DIFF_MISMATCH_STEPS_MAX]; /* the first is unused */
    size_t n_steps;
    size_t ignored; /* mismatches in resourceVersion and managedFields, which don't count */
    size_t parts;   /* members and items visited, of both texts */
};

/* Finds the mismatches of two texts that differ. Without @versions, resourceVersion and managedFields
 * of metadata don't count. Returns false if the texts are not similar enough. */
bool diff_mismatch_find(struct diff_mismatches *s, struct str old_text, struct str new_text,
                        bool versions);

/* Appends the path of a mismatch to @out. Returns its number of steps. */
size_t diff_mismatch_put_path(const struct diff_mismatches *s, const struct diff_mismatch *mismatch,
                              struct buf *out);

#endif
