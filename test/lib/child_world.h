/*
 * child_world.h - real programs on a real loop, and whoever runs them: it collects how each ended.
 *
 * At its end the world has as many descriptors as at its beginning, and this process no children.
 */
#ifndef TEST_CHILD_WORLD_H
#define TEST_CHILD_WORLD_H

#include <stdbool.h>

#include "base/buf.h"
#include "loop/child.h"
#include "real_loop.h"

struct runner {
    struct child_user user;
    struct child *child; /* NULL: none, or closed */
    int ended;
    bool close_in_end;
    enum child_fate fate;
    int code;
    char how[128];
    struct buf output, errors; /* each with a NUL behind it */
};

struct child_world {
    struct real_loop rl;
    struct child_spawner spawner;
    struct child_spec spec; /* what the next script is run with; 64 KiB and 4 KiB may be said */
    struct runner runner;
    int fds_before;
};

/* cmocka's. The setup of the group lets libuv open what it opens once for a process. */
int child_world_group_setup(void **state);
int child_world_setup(void **state);
int child_world_teardown(void **state);

void runner_init(struct runner *r);
void runner_close(struct runner *r); /* harmless if it is */
void runner_done(struct runner *r);  /* closes, and frees what was said */

/* Begins. The program is sh with @script, or whatever `spec.argv` says. */
void child_world_script(struct child_world *w, struct runner *r, const char *script);
void child_world_spawn(struct child_world *w, struct runner *r);

/* The world's runner runs @script to its end. */
void child_world_run(struct child_world *w, const char *script);

/* The timer that is due next is due now: the timeout, or the end of the grace time. */
void child_world_next_timer(struct child_world *w);

#endif
