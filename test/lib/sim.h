/*
 * sim.h - a simulation in which time passes only when a test advances it.
 *
 * It is a struct clock (seam/clock.h) in place of loop/: the same phases in the same order, virtual
 * time, and a budget that a test sets as a number, so that every yield can be forced.
 *
 * A "world" (http_world.h, tls_world.h, ...) is the environment of one test: the module under test, a
 * sim or a real loop, and test code in place of its peers.
 *
 *     sim_init(&s);
 *     conn = http_conn_open(&s.clock, ...);
 *     sim_run(&s);                  runs everything that is due now
 *     sim_advance(&s, 35000);       timers fire on the way, each at its own time
 *     sim_done(&s);                 nothing may be left to do
 */
#ifndef TEST_SIM_H
#define TEST_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "seam/clock.h"

#define SIM_START_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

/* Polled by the I/O phase in each tick for input. Embedded in its owner. */
struct sim_io {
    struct list node;
    bool (*poll)(struct sim_io *io); /* true: something happened */
};

struct sim {
    struct clock clock; /* first */
    uint64_t now_ms;
    int64_t wall_offset_us; /* a jump of the wall clock alone */
    struct list ios;
    unsigned budget; /* over_budget() returns true after this many calls in a tick; 0: never */
    unsigned budget_checks;
    uint64_t ticks;
};

void sim_init(struct sim *sim);

/* Runs deferred frees and checks that nothing else is left: no timer, no task, no stream, no
 * watch. */
void sim_done(struct sim *sim);

void sim_io_add(struct sim *sim, struct sim_io *io, bool (*poll)(struct sim_io *io));
void sim_io_remove(struct sim_io *io);

/* One tick: I/O, pump, flush, reap. Takes no time. True: something happened. */
bool sim_tick(struct sim *sim);

/* Ticks until nothing happens any more. Aborts if that never ends. */
void sim_run(struct sim *sim);

/* Lets @ms pass, with a sim_run() at the beginning, after each timer and at the end. */
void sim_advance(struct sim *sim, uint64_t ms);

/* The host sleeps for @ms: only the wall clock advances. Then a sim_run(). */
void sim_sleep(struct sim *sim, uint64_t ms);

/* The process is stopped for @ms: all clocks advance, and nothing runs. Then a sim_run(). */
void sim_stop(struct sim *sim, uint64_t ms);

#endif
