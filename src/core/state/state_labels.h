/*
 * state_labels.h - the label sets of saved objects, so that an object can be restored without
 * expanding its text: a store needs the labels for its index.
 *
 * Many objects have the same labels. Each segment therefore defines a label set before the first object
 * that has it, as number 1, 2, ..., and its objects refer to that number. Nothing outside of a segment
 * is needed to read it.
 */
#ifndef CORE_STATE_LABELS_H
#define CORE_STATE_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct inf_state;

/* The text of metadata.labels; empty: the object has none. */
struct label_set {
    uint32_t refs;
    struct str text;
};

struct label_set *label_set_ref(struct label_set *set); /* NULL is allowed */
void label_set_unref(struct label_set *set);            /* NULL is allowed */

/* The label sets of a segment that is read. A zeroed struct is empty. */
struct label_list {
    struct label_set **sets; /* references */
    size_t count, cap;
};

void label_list_add(struct label_list *list, struct str text);
struct label_set *label_list_get(const struct label_list *list, uint32_t number); /* NULL: none */
void label_list_clear(struct label_list *list);

/* The number of @text in the segment that the next record of the current batch goes to; adds its
 * definition to the batch if it has none. */
uint32_t labels_define(struct inf_state *state, struct str text);

#endif
