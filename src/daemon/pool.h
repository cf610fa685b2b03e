/*
 * pool.h - the size of libuv's thread pool, chosen so that an operation that hangs delays no other
 * one.
 *
 * A disk or a name server that does not respond occupies a thread of the pool until the kernel
 * returns, and libuv's pool can't grow. So there is a thread for everything that can hang at the
 * same time:
 *
 *     each event log that is a file   at most POOL_LOGS_MAX in a conf (FIFOs and terminals are
 *                                     polled, but opened and closed on the pool)
 *     logs removed by a reload        POOL_LEAVING of them; if more hang, a new log waits
 *     stdout, the sequence file,
 *     the state on disk               one each
 *     event logs that clients of the
 *     local API read back             LOG_READER_OPERATIONS; further ones wait
 *     a lookup for each cluster
 *     and each webhook or sink        libuv uses at most half of the threads for lookups
 */
#ifndef DAEMON_POOL_H
#define DAEMON_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Lines of files are written through io_uring where that is possible, with threads of the kernel
 * (loop/disk_ring.h); opening, checking and closing them needs the pool in any case. */
enum {
    POOL_LOGS_MAX = 32, /* LIMIT: event logs of a conf that are files */
    POOL_LEAVING = 8,   /* LIMIT: removed logs that may hang before a new one has to wait */
    POOL_LOGS = POOL_LOGS_MAX + POOL_LEAVING,
    POOL_MIN = 4, /* libuv's default */
    POOL_MAX =
        256, /* LIMIT: threads; with more than half as many clusters and webhooks, lookups may wait */
};

/* The number of threads needed. @peers: clusters, webhooks and sinks. @logs: the daemon has a sequence file and may have event logs. */
size_t pool_threads(size_t peers, bool logs);

/* Sets UV_THREADPOOL_SIZE to that number, unless it is set to more already. Must be called
 * before libuv first uses its pool. */
void pool_prepare(size_t peers, bool logs);

#endif
