/*
 * diff_list.h - the merge keys that identify the items of a list.
 */
#ifndef CORE_DIFF_LIST_H
#define CORE_DIFF_LIST_H

#include <stdbool.h>

#include "base/str.h"

enum {
    DIFF_LIST_KEYS = (1 << 11) - 1, /* all merge keys, one bit each, the preferred ones first */
};

/* The one of @keys that @key is, which has no escapes; 0: none. */
unsigned diff_list_key(struct str key, unsigned keys);

/* The first of them, of which there is one at least. */
struct str diff_list_first_key(unsigned keys);

/* Whether such a value can identify an item. */
bool diff_list_identifies(struct str value);

#endif
