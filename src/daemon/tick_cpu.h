/*
 * tick_cpu.h - the CPU time of the longest iteration of the event loop.
 *
 * loop_worst_tick_us() measures time, which on a busy host is also that of other processes. This one measures what
 * the iteration itself has used: from one check phase of libuv to the next, with the poll in between, in the last one
 * to two minutes (loop/peak.h). It costs one system call for each iteration.
 */
#ifndef DAEMON_TICK_CPU_H
#define DAEMON_TICK_CPU_H

#include <stdint.h>

#include <uv.h>

#include "loop/peak.h"

struct tick_cpu {
    uv_check_t check;
    uint64_t before_ns; /* of the thread, at the previous check; 0: there was none */
    struct peak peak;   /* in microseconds */
};

/* Does not keep the loop running. */
void tick_cpu_start(struct tick_cpu *tick, uv_loop_t *uv);

/* The loop must run once more. */
void tick_cpu_close(struct tick_cpu *tick);

/* @now_ms is the time of the loop. */
uint64_t tick_cpu_worst_us(struct tick_cpu *tick, uint64_t now_ms);

#endif
