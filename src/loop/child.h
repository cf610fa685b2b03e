/*
 * child.h - runs programs (seam/child.h), many at a time, on the loop.
 */
#ifndef LOOP_CHILD_H
#define LOOP_CHILD_H

#include "loop/loop.h"
#include "seam/child.h"

enum {
    CHILDREN_MAX = 64, /* LIMIT: programs of one spawner at a time; one more can't be started */
};

/* Needs no closing. As a closed child may end in the background, its memory stays until the loop is
 * closed. */
struct child_spawner {
    struct spawner spawner;
    struct loop *loop;
    unsigned running;
};

void child_spawner_init(struct child_spawner *spawner, struct loop *loop);

#endif
