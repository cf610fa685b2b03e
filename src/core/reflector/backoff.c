/*
 * backoff.c - the waits between retries of a request. See backoff.h.
 */
#include "core/reflector/backoff.h"

enum {
    SERVER_MAX_MS = 300 * 1000, /* LIMIT: longest wait that a server may request */
};

void backoff_init(struct backoff *b, uint32_t first_ms, uint32_t max_ms, bool no_jitter)
{
    *b = (struct backoff){.first_ms = first_ms, .max_ms = max_ms, .no_jitter = no_jitter};
    rng_init(&b->rng);
    backoff_reset(b);
}

void backoff_reset(struct backoff *b)
{
    b->next_ms = b->first_ms;
}

uint64_t backoff_next(struct backoff *b, uint64_t server_ms)
{
    uint64_t base = b->next_ms;
    uint64_t ms = b->no_jitter ? base : base + rng_below(&b->rng, base);
    b->next_ms = base * 2 < b->max_ms ? (uint32_t)base * 2 : b->max_ms;
    if (server_ms > SERVER_MAX_MS)
        server_ms = SERVER_MAX_MS;
    return server_ms > ms ? server_ms : ms;
}
