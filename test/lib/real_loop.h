/*
 * real_loop.h - loop/loop.c on a libuv loop of its own, for the few tests that need real sockets
 * and real time.
 *
 * Tests wait for something to be so, never for time to pass:
 *
 *     real_loop_init(&rl);
 *     RUN_UNTIL(&rl, reader.opened);
 *     real_loop_tick(&rl);             one tick, without waiting
 *     real_loop_done(&rl);             everything must be gone
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

/* One tick with whatever is there already. */
void real_loop_tick(struct real_loop *rl);

/* A tick of RUN_UNTIL; a loop in which nothing can happen any more fails the test. */
void real_loop_wait(struct real_loop *rl);

/* Ticks until what is on its way within this machine has come: to see that something does not
 * happen. If a byte were slower, the test would see less, but not fail. */
void real_loop_settle(struct real_loop *rl);

#define RUN_UNTIL(rl, condition) \
    while (!(condition))         \
    real_loop_wait(rl)

#endif
