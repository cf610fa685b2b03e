/*
 * diff_pair.h - which member or item of an old text is which of the new one.
 *
 * Members go together by their key. Items of a list go together by merge key if there is one that
 * all of them have and no two of a list share; else, if that keeps their order, by their whole
 * text, as lines of a file do; else those that are the same at both ends. Then what stands at the
 * same place of both, with nothing moved before it, is a pair too.
 *
 * Where no list of changes would be a good answer (a key that is there twice, scalars in another
 * order) pairing is refused: the whole is replaced. All of it takes sorting, no more: n log n for n
 * items.
 */
#ifndef CORE_DIFF_PAIR_H
#define CORE_DIFF_PAIR_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct diff_item {
    struct str step;        /* of the path; unused in DIFF_BY_PLACE */
    struct str value;       /* as spelled */
    struct diff_item *mate; /* in the other text; NULL: it has none */
};

enum diff_by {
    DIFF_BY_MEMBER,
    DIFF_BY_KEY,
    DIFF_BY_PLACE, /* pairs that differ have the same place in both lists */
};

struct diff_pairing {
    enum diff_by by;
    struct diff_item *old_items; /* in the order of their text */
    struct diff_item *new_items; /* behind the old ones, in the same array */
    size_t old_count;
    size_t new_count;
    bool over_limit; /* not paired, since there is not enough room */
    bool reordered;  /* DIFF_BY_KEY: pairs have another order in the new list */
};

/*
 * Pairs two objects, or two lists; false: replace the whole. Takes the number of their members or
 * items from *@room; if there is too little of it, that is false too, with p->over_limit. Without
 * @versions, resourceVersion and managedFields don't count. The items live as long as @memory and
 * the texts.
 */
bool diff_pair_members(struct diff_pairing *p, struct arena *memory, size_t *room,
                       struct str old_text, struct str new_text, bool versions);
bool diff_pair_lists(struct diff_pairing *p, struct arena *memory, size_t *room,
                     struct str old_text, struct str new_text);

/* Whether that key of metadata says nothing but that there was a change. */
bool diff_pair_is_version(struct str key);

/* Makes pairs of the items with the same step. False, and none are left, if two of a side have the
 * same. */
bool diff_pair_match(struct diff_pairing *p);

/* Whether pairs have the same order on both sides. */
bool diff_pair_in_order(const struct diff_pairing *p);

/* Adds an item while it is not yet known how many there are. False: there is no room. */
bool diff_pair_collect(struct buf *items, size_t *room, struct diff_item item);

/* Puts those that were collected in their place, old ones first. */
void diff_pair_settle(struct diff_pairing *p, struct arena *memory, struct buf *items,
                      size_t old_count);

#endif
