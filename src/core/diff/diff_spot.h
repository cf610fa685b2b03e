/*
 * diff_spot.h - finds the few places where two texts of the same shape differ, in one pass.
 *
 * Nearly every change is of that kind: some scalars have another value, the rest has the same bytes
 * at the same place of the document:
 *
 *     old   {"phase":"Running","conditions":[{"status":"False","type":"Ready"}],"reason":""}
 *     new   {"phase":"Running","conditions":[{"status":"True","type":"Ready"}],"reason":""}
 *            ---------------- the same bytes ----------     -------- again the same -----
 *
 * Where the bytes part there must be a value, with the same way down to it on both sides. That is
 * a spot. All that is around spots has the same bytes, so it is walked once for both, and what
 * holds no spot is not looked into. Only what the way down says must be sure: no key of an object
 * may be there twice, and one merge key must tell the items of a list apart. A part of which that
 * is not so, or that came or lost members, is a spot as a whole; what happened to it is for
 * diff_pair.h to say.
 *
 * The changes of the spots, one after the other, are what pairing would find for the whole.
 */
#ifndef CORE_DIFF_SPOT_H
#define CORE_DIFF_SPOT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    DIFF_SPOTS_MAX = 32,      /* with more, the part that has them is one; so with the others: */
    DIFF_SPOT_STEPS_MAX = 64, /* of all paths, those that they share counted once */
    DIFF_SPOT_DEPTH_MAX = 16, /* of each path */
};

/* .key, or [key=value] if it has a value */
struct diff_spot_step {
    size_t before; /* the step that led there; 0: none */
    struct str key;
    struct str value; /* NULL: none */
};

struct diff_spot {
    size_t step; /* its last */
    struct str old_text;
    struct str new_text;
};

struct diff_spots {
    struct diff_spot spots[DIFF_SPOTS_MAX];
    size_t count;
    struct diff_spot_step steps[DIFF_SPOT_STEPS_MAX]; /* the first is unused */
    size_t n_steps;
    size_t ignored; /* values that differ and don't count */
    size_t parts;   /* members and items looked at, of both texts */
};

/* The texts differ. Without @versions, resourceVersion and managedFields of metadata don't count.
 * False: they are not so alike. */
bool diff_spots_find(struct diff_spots *s, struct str old_text, struct str new_text, bool versions);

/* Adds the path of a spot to @out, and returns how many steps it has. */
size_t diff_spots_put_path(const struct diff_spots *s, const struct diff_spot *spot,
                           struct buf *out);

#endif
