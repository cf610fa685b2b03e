/*
 * diff_align.h - pairs two objects that have the same keys in the same order, and two lists of which
 * that is true of the merge keys of their items.
 *
 * Mostly that is so: a change alters a few values and leaves the rest where it was. Then the two
 * texts can be walked together, and what differs is found without collecting, sorting or even
 * looking into what does not:
 *
 *     old   {"phase":"Running","podIP":"10.1.2.3","ready":false,"reason":""}
 *     new   {"phase":"Running","podIP":"10.1.2.3","ready":true,"reason":""}
 *            ------- the same bytes -----------------     -- again the same -
 *
 * What lies within the same bytes is walked once, for both. What is not so alike is for diff_pair.h,
 * which would come to the same result here.
 */
#ifndef CORE_DIFF_ALIGN_H
#define CORE_DIFF_ALIGN_H

#include "core/diff_pair.h"

/*
 * As diff_pair_members() and diff_pair_lists(), but @p has only what differs. False: they are not so alike, or
 * are many, or a key is there twice, or none identifies the items; nothing has been taken from *@room.
 */
bool diff_align_members(struct diff_pairing *p, struct arena *memory, size_t *room,
                        struct str old_text, struct str new_text, bool versions);
bool diff_align_items(struct diff_pairing *p, struct arena *memory, size_t *room,
                      struct str old_text, struct str new_text);

#endif
