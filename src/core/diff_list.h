/*
 * diff_list.h - what tells the items of a list apart.
 */
#ifndef CORE_DIFF_LIST_H
#define CORE_DIFF_LIST_H

#include "base/str.h"

/* The merge keys that an item has, one bit each, the preferred ones first. One that is there twice,
 * or whose value can't identify anything, does not count. */
unsigned diff_list_keys(struct str item);

/* The first of them; without a text if there is none. */
struct str diff_list_first_key(unsigned keys);

#endif
