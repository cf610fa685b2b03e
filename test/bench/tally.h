/*
 * tally.h - counts the changes that a client of the benchmark received, and their latency.
 *
 * All clients use the same protocol with the driver. They print `synced` when the first list is
 * complete. A line `expect N` on stdin is answered as soon as N changes were received in total, with
 * the latency of those since the last answer:
 *
 *     {"delivered": 5000, "p50": 61000, "p99": 70100, "p999": 80300, "max": 94200}     nanoseconds since the stamp
 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally {
    uint64_t delivered, expected;
    int64_t *late_ns; /* since the last answer */
    size_t n, room;
};

/* A change was received whose status.message is @sent: the time stamp of the server. */
void tally_add(struct tally *t, const char *sent);

/* A line from the driver. */
void tally_run_command(struct tally *t, const char *line);

#endif
