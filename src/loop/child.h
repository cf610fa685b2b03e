/*
 * child.h - runs programs (seam/child.h), many at a time, on the loop.
 */
#ifndef LOOP_CHILD_H
#define LOOP_CHILD_H

#include "loop/loop.h"
#include "seam/child.h"

enum {
    CHILDREN_MAX = 64, /* LIMIT: running programs per spawner; further ones can't be started */
};

/* Needs no closing. Its memory must stay until the loop is closed, because a closed child may still
 * end in the background. */
struct child_spawner {
    struct spawner spawner;
    struct loop *loop;
    unsigned running;
};

void child_spawner_init(struct child_spawner *spawner, struct loop *loop);

#endif
