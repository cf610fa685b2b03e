/*
 * pool.h - how many threads libuv's pool has, so that a job that hangs delays no other one.
 *
 * A disk or a name server that does not answer keeps a thread of the pool until the kernel lets it
 * go, and libuv's pool can't grow. So it gets a thread for everything that can hang at the same time:
 *
 *     each event log that is a file     at most POOL_LOGS_MAX in a conf (FIFOs and terminals are
 *                                       polled, but opened and closed on the pool)
 *     logs that a reload has removed    POOL_LEAVING of them; with more that hang, a new log waits
 *     stdout, the sequence file         one each
 *     a lookup for each cluster         libuv lets lookups have half of the threads
 */
#ifndef DAEMON_POOL_H
#define DAEMON_POOL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    POOL_LOGS_MAX = 32, /* LIMIT: event logs of a conf that are files */
    POOL_LEAVING = 8,   /* LIMIT: removed ones that may hang before a new one has to wait */
    POOL_LOGS = POOL_LOGS_MAX + POOL_LEAVING,
    POOL_MIN = 4, /* what libuv has by itself */
    POOL_MAX =
        256, /* LIMIT: threads; with more clusters than half of it, lookups wait for each other */
};

/* How many threads it takes. @logs: the daemon has a sequence file and may have event logs. */
size_t pool_threads(size_t clusters, bool logs);

/* Asks libuv for that many, or for as many as the environment asks for if that is more. Before libuv's
 * first use of its pool. */
void pool_prepare(size_t clusters, bool logs);

#endif
