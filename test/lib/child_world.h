/*
 * child_world.h - real programs on a real loop, and a runner that records how each ended.
 *
 * The teardown checks that no descriptor and no child process is left.
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
    struct buf output, errors; /* NUL-terminated */
};

struct child_world {
    struct real_loop rl;
    struct child_spawner spawner;
    struct child_spec spec; /* of the next script; limits of 64 KiB and 4 KiB */
    struct runner runner;
    int fds_before;
};

/* For cmocka. The group setup lets libuv open its descriptors that are opened once per process. */
int child_world_group_setup(void **state);
int child_world_setup(void **state);
int child_world_teardown(void **state);

void runner_init(struct runner *r);
void runner_close(struct runner *r); /* harmless if closed */
void runner_done(struct runner *r);  /* closes and frees the output */

/* Starts sh with @script, or the program of `spec.argv`. */
void child_world_script(struct child_world *w, struct runner *r, const char *script);
void child_world_spawn(struct child_world *w, struct runner *r);

/* Runs @script to its end, with the world's runner. */
void child_world_run(struct child_world *w, const char *script);

/* Fires the next timer: the timeout, or the end of the grace time. */
void child_world_next_timer(struct child_world *w);

#endif
