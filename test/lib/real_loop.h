/*
 * real_loop.h - loop/loop.c on a libuv loop of its own, for the few tests that need real sockets
 * and real time.
 *
 * Tests wait for a condition, never for time to pass:
 *
 *     real_loop_init(&rl);
 *     RUN_UNTIL(&rl, reader.opened);
 *     real_loop_tick(&rl);             one tick, without waiting
 *     real_loop_done(&rl);             everything must be closed
 */
#ifndef TEST_REAL_LOOP_H
#define TEST_REAL_LOOP_H

#include <stdbool.h>

#include <uv.h>

#include "loop/loop.h"

struct real_loop {
    uv_loop_t uv;
    struct loop loop;
    bool closed;
};

void real_loop_init(struct real_loop *rl);

/* Closes the loop and checks that libuv has nothing left either. */
void real_loop_done(struct real_loop *rl);

/* One tick, without waiting for events. */
void real_loop_tick(struct real_loop *rl);

/* A tick of RUN_UNTIL; a loop without any active handle fails the test. */
void real_loop_wait(struct real_loop *rl);

/* Ticks until local data has arrived: to check that something does not happen. With slower data the
 * test would check less, but not fail. */
void real_loop_settle(struct real_loop *rl);

#define RUN_UNTIL(rl, condition) \
    while (!(condition))         \
    real_loop_wait(rl)

#endif
