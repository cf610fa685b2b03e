/*
 * lead_set.h - the first steps of many field paths, such as status.containerStatuses[*].state: a change that
 * touches none of the leads of a rule can't concern it, and many rules share a lead.
 */
#ifndef DAEMON_RULE_LEAD_SET_H
#define DAEMON_RULE_LEAD_SET_H

#include <stdint.h>

#include "daemon/rule/item_path.h"

enum {
    LEAD_SET_MAX = 32, /* different leads; further ones count as touched by every change */
};

/* The bit of what every change may concern. */
#define LEAD_ALWAYS (UINT64_C(1) << LEAD_SET_MAX)

/* A zeroed struct is an empty set. */
struct lead_set {
    struct item_path *at[LEAD_SET_MAX];
    size_t count;
};

/* Returns the bit of the lead of @path. */
uint64_t lead_set_add(struct lead_set *set, const struct item_path *path);
void lead_set_done(struct lead_set *set);

/* The bits of the leads that @diff may have changed, and LEAD_ALWAYS. */
uint64_t lead_set_find(const struct lead_set *set, const struct inf_diff *diff);

#endif
