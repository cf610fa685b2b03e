/*
 * spawn.h - starts a process for a child_spec.
 *
 * The process gets its own process group, default signal handlers, an empty signal mask, and no
 * descriptors other than 0, 1 and 2. It inherits no_new_privs and the sandbox of this process, but no
 * capabilities beyond those of its user. Its stdin is a memory file with the input, so that nothing has
 * to be written while it runs, and a program that does not read causes no deadlock; a streamed program has a
 * pipe. The kernel kills it
 * when this process dies, so that after a crash no program of an earlier run overlaps a new one; that
 * does not include processes that it started, and needs the thread that started it to live.
 *
 * The process shares our memory until it executes the program (clone() with CLONE_VM): copying our page
 * tables takes 0.1 s with a large cache. posix_spawn() does the same, but can't ask for the signal, and waits without
 * a limit. A pidfd is used because it can be polled like any descriptor and never refers to another
 * process.
 */
#ifndef LOOP_SPAWN_H
#define LOOP_SPAWN_H

#include <sys/types.h>

#include "seam/child.h"

struct spawned {
    pid_t pid;  /* also the number of its group */
    int pidfd;  /* readable when it has ended */
    int output; /* its stdout; non-blocking, like errors (its stderr) */
    int errors;
    int input; /* the other end of its stdin, non-blocking, if it is streamed; otherwise -1 */
};

/* Returns 0, or an errno; then no process runs and nothing must be closed. */
int spawn_process(const struct child_spec *spec, struct spawned *ret);

#endif
