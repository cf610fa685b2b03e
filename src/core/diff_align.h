/*
 * diff_align.h - pairs the members of two objects that have the same keys in the same order.
 *
 * Mostly that is so: a change alters a few values and leaves the rest where it was. Then the two
 * texts can be walked together, and what differs is found without collecting, sorting or even
 * looking into what does not:
 *
 *     old   {"phase":"Running","podIP":"10.1.2.3","ready":false,"reason":""}
 *     new   {"phase":"Running","podIP":"10.1.2.3","ready":true,"reason":""}
 *            ------- the same bytes -----------------     -- again the same -
 *
 * Members that lie within the same bytes are walked once, for both.
 */
#ifndef CORE_DIFF_ALIGN_H
#define CORE_DIFF_ALIGN_H

#include "core/diff_pair.h"

/*
 * As diff_pair_members(), but @p has only the members that differ. False: they are not so alike, or
 * are many, or a key is there twice; nothing has been taken from *@room.
 */
bool diff_align_members(struct diff_pairing *p, struct arena *memory, size_t *room,
                        struct str old_text, struct str new_text, bool versions);

#endif
