/*
 * spawn.h - makes a process of a child_spec: what the kernel has to be told.
 *
 * It gets its own process group, the signals' default handlers, an empty signal mask, and no other
 * descriptors than 0, 1 and 2. Its stdin is a file in memory that holds the input: so there is
 * nothing to write while it runs, and no deadlock with a program that does not read.
 *
 * posix_spawn() because it does not copy our page tables, which with a large replica takes a tenth
 * of a second; a pidfd because it can be polled like any other descriptor and is never another
 * process.
 */
#ifndef LOOP_SPAWN_H
#define LOOP_SPAWN_H

#include <sys/types.h>

#include "seam/child.h"

struct spawned {
    pid_t pid;  /* and the number of its group */
    int pidfd;  /* readable when it has ended */
    int output; /* what it says on stdout and stderr; both do not block */
    int errors;
};

/* Returns 0, or an errno; then there is no process and nothing to close. */
int spawn_process(const struct child_spec *spec, struct spawned *ret);

#endif
