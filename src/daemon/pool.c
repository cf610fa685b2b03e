/*
 * pool.c - libuv reads the size of its pool from the environment when it first uses the pool.
 */
#include "daemon/pool.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/output/log_reader.h"

enum {
    OTHERS = 3 + LOG_READER_OPERATIONS, /* stdout, the sequence file and the state; readers */
};

/* libuv uses at most half of the threads for lookups, so both files and lookups need half of the
 * pool. */
size_t pool_threads(size_t peers, bool logs)
{
    size_t files = logs ? POOL_LOGS + OTHERS : POOL_MIN / 2, lookups = peers + 1;
    size_t threads = 2 * (files > lookups ? files : lookups);
    return threads < POOL_MAX ? threads : (size_t)POOL_MAX;
}

void pool_prepare(size_t peers, bool logs)
{
    size_t threads = pool_threads(peers, logs);
    const char *given = getenv("UV_THREADPOOL_SIZE");
    char text[32];
    if (given && strtoul(given, NULL, 10) >= threads)
        return;
    snprintf(text, sizeof(text), "%zu", threads);
    setenv("UV_THREADPOOL_SIZE", text, 1);
}
