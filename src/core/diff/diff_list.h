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

/* Returns the bit of @key, which has no escapes, if it is one of @keys; else 0. */
unsigned diff_list_key(struct str key, unsigned keys);

/* The first of @keys, which are not 0. */
struct str diff_list_first_key(unsigned keys);

/* Whether @value can identify an item: a short string or a number. */
bool diff_list_identifies(struct str value);

#endif
