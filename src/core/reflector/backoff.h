/*
 * backoff.h - how long to wait before the next try: ever longer, and never quite the same.
 */
#ifndef CORE_REFLECTOR_BACKOFF_H
#define CORE_REFLECTOR_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

struct backoff {
    uint32_t first_ms;
    uint32_t max_ms;
    uint32_t next_ms; /* the next wait, before jitter */
    bool no_jitter;   /* for tests */
    struct rng rng;
};

void backoff_init(struct backoff *b, uint32_t first_ms, uint32_t max_ms, bool no_jitter);

/* The next wait: first, doubled each time up to the longest, plus up to as much again by chance. If
 * the server asked for more than that, what it asked for; at most five minutes. */
uint64_t backoff_next(struct backoff *b, uint64_t server_ms);

/* All is well again: the next wait is the first. */
void backoff_reset(struct backoff *b);

#endif
