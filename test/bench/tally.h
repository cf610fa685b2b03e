/*
 * tally.h - how many changes have been told, and how late: what every client of the benchmark keeps
 * of them.
 *
 * All clients talk with the driver in the same words. They print `synced` once they have
 * everything; a line `expect N` on stdin is answered, as soon as N changes were told in all, with
 * how late those since the last answer came:
 *
 *     {"told": 5000, "p50": 61000, "p99": 70100, "max": 94200}      nanoseconds from stamp to here
 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally {
    uint64_t told, expected;
    int64_t *late_ns; /* since the last answer */
    size_t n, room;
};

/* A change was told whose status.message is @sent: the stamp. */
void tally_add(struct tally *t, const char *sent);

/* A line from the driver. */
void tally_obey(struct tally *t, const char *line);

#endif
