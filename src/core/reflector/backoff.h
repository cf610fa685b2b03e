/*
 * backoff.h - exponential back-off with jitter.
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

/* The next wait: first_ms, doubled each time up to max_ms, plus random jitter of up to 100 %. If
 * the server requested a longer wait (@server_ms), that one, but at most five minutes. */
uint64_t backoff_next(struct backoff *b, uint64_t server_ms);

/* The next wait is first_ms again. */
void backoff_reset(struct backoff *b);

#endif
