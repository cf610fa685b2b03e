/*
 * item_path_internal.h - the struct that item_path.c and item_values.c share.
 */
#ifndef DAEMON_RULE_ITEM_PATH_INTERNAL_H
#define DAEMON_RULE_ITEM_PATH_INTERNAL_H

#include "daemon/rule/item_path.h"

/* One `[*]` of the path. */
struct star {
    struct inf_path *items;
};

struct item_path {
    struct inf_path *path;
    size_t names;     /* bytes of its text before the first bracket */
    bool is_in_diffs; /* a diff has the changes of its values */
    struct star *stars;
    size_t n_stars;
};

#endif
