/*
 * backoff.h - exponential back-off: each consecutive failure doubles the wait before the next try.
 */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

/* @first_ms doubled @failures times, at most @max_ms. For callers that count failures themselves
 * and need no jitter. */
uint64_t backoff_ms(uint32_t first_ms, uint32_t max_ms, uint32_t failures);

/* The back-off of requests to a server: with jitter, and with respect to its Retry-After. */
struct backoff {
    uint32_t first_ms;
    uint32_t max_ms;
    uint32_t failures; /* since backoff_reset() */
    bool no_jitter;    /* for tests */
    struct rng rng;
};

void backoff_init(struct backoff *b, uint32_t first_ms, uint32_t max_ms, bool no_jitter);

/* The next wait: first_ms, doubled each time up to max_ms, plus random jitter of up to 100 %. If
 * the server requested a longer wait (@server_ms), that one, but at most five minutes. */
uint64_t backoff_next(struct backoff *b, uint64_t server_ms);

/* The next wait is first_ms again. */
void backoff_reset(struct backoff *b);

#endif
