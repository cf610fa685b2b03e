/*
 * condition_set.h - many conditions that are tried on the same object: it is read once for all of them.
 */
#ifndef DAEMON_RULE_CONDITION_SET_H
#define DAEMON_RULE_CONDITION_SET_H

#include <stdint.h>

#include "daemon/rule/condition.h"

enum {
    CONDITION_SET_MAX = 64, /* terms of all conditions together */
};

/* A zeroed struct is an empty set. Nothing to free: conditions are borrowed. */
struct condition_set {
    const struct condition_term *terms[CONDITION_SET_MAX];
    const struct inf_path *paths[CONDITION_SET_MAX];
    size_t count;
};

/* Returns the bits of the condition's terms; 0 if there is no room for them: use condition_holds(). */
uint64_t condition_set_add(struct condition_set *set, const struct condition *condition);

/* The bits of the terms that hold. A condition holds if all of its bits are set. */
uint64_t condition_set_find(const struct condition_set *set, const struct inf_object *object);

#endif
