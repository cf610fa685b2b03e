/*
 * backoff.c - computes waits between retries. The doubling is in backoff_ms(); nothing here fails.
 */
#include "base/backoff.h"

enum {
    DOUBLINGS_MAX = 32,         /* with more, any first wait exceeds any maximum */
    SERVER_MAX_MS = 300 * 1000, /* LIMIT: longest wait that a server may request */
};

uint64_t backoff_ms(uint32_t first_ms, uint32_t max_ms, uint32_t failures)
{
    uint64_t ms = failures < DOUBLINGS_MAX ? (uint64_t)first_ms << failures : max_ms;
    return ms < max_ms ? ms : max_ms;
}

void backoff_init(struct backoff *b, uint32_t first_ms, uint32_t max_ms, bool no_jitter)
{
    *b = (struct backoff){.first_ms = first_ms, .max_ms = max_ms, .no_jitter = no_jitter};
    rng_init(&b->rng);
}

void backoff_reset(struct backoff *b)
{
    b->failures = 0;
}

uint64_t backoff_next(struct backoff *b, uint64_t server_ms)
{
    uint64_t ms = backoff_ms(b->first_ms, b->max_ms, b->failures);
    if (b->failures < DOUBLINGS_MAX)
        b->failures++;
    if (!b->no_jitter)
        ms += rng_below(&b->rng, ms);
    if (server_ms > SERVER_MAX_MS)
        server_ms = SERVER_MAX_MS;
    return server_ms > ms ? server_ms : ms;
}
