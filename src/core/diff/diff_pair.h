/*
 * diff_pair.h - pairs the members or items of an old text with those of the new one.
 *
 * Members are paired by key. Items of a list are paired by the first of these rules that applies:
 *
 *  1. by merge key, if all items have one and no two items of a list share its value;
 *  2. by their whole text, like lines of a file, if that keeps their order;
 *  3. equal items at both ends.
 *
 * After 2 and 3, items at the same place of both lists with nothing moved before them are pairs too.
 *
 * Pairing is refused, and the whole is replaced, where a list of changes would not help: a duplicate
 * key, scalars in another order. The cost is that of sorting: n log n for n items.
 */
#ifndef CORE_DIFF_PAIR_H
#define CORE_DIFF_PAIR_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct diff_item {
    struct str step;        /* of the path; unused with DIFF_BY_PLACE */
    struct str value;       /* as written */
    struct diff_item *mate; /* its partner in the other text; NULL: none */
};

enum diff_by {
    DIFF_BY_MEMBER,
    DIFF_BY_KEY,
    DIFF_BY_PLACE, /* pairs that differ have the same place in both lists */
};

struct diff_pairing {
    enum diff_by by;
    struct diff_item *old_items; /* in the order of their text */
    struct diff_item *new_items; /* after the old ones, in the same array */
    size_t old_count;
    size_t new_count;
    bool over_limit; /* not paired, because there is not enough room */
    bool reordered;  /* DIFF_BY_KEY: pairs have another order in the new list */
};

/*
 * Pair two objects, or two lists. Return false if the whole is to be replaced. Subtract the number of
 * members or items from *@room; if there is too little room, set p->over_limit and return false.
 * Without @versions, resourceVersion and managedFields don't count. The items live as long as
 * @memory and the texts.
 */
bool diff_pair_members(struct diff_pairing *p, struct arena *memory, size_t *room,
                       struct str old_text, struct str new_text, bool versions);
bool diff_pair_lists(struct diff_pairing *p, struct arena *memory, size_t *room,
                     struct str old_text, struct str new_text);

/* Whether that key of metadata only says that there was a change. */
bool diff_pair_is_version(struct str key);

/* Pairs the items with the same step. Returns false, and leaves no pairs, if two items of a side have
 * the same step. */
bool diff_pair_match(struct diff_pairing *p);

/* Whether the pairs have the same order on both sides. */
bool diff_pair_in_order(const struct diff_pairing *p);

/* Appends an item to @items. Returns false if there is no room. */
bool diff_pair_collect(struct buf *items, size_t *room, struct diff_item item);

/* Moves the collected @items, old ones first, into the pairing. */
void diff_pair_settle(struct diff_pairing *p, struct arena *memory, struct buf *items,
                      size_t old_count);

#endif
