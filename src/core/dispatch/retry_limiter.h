/*
 * retry_limiter.h - how long a retry waits: for its own key longer each time, and for all keys together
 * no faster than a bucket of tokens fills.
 *
 * Whole numbers only: a rate of r tokens a second is exactly r thousandths of a token a
 * millisecond.
 */
#ifndef CORE_DISPATCH_RETRY_LIMITER_H
#define CORE_DISPATCH_RETRY_LIMITER_H

#include <stdint.h>

/* @base_ms doubled @failures times, at most @max_ms. */
uint64_t backoff_ms(uint32_t base_ms, uint32_t max_ms, uint32_t failures);

struct token_bucket {
    uint32_t rate;   /* tokens a second, at least 1 */
    uint32_t burst;  /* tokens it holds when full */
    int64_t content; /* thousandths of a token; below 0: given out in advance */
    uint64_t at_ms;  /* when the content was right */
};

/* It begins full. */
void token_bucket_init(struct token_bucket *bucket, uint32_t rate, uint32_t burst, uint64_t now_ms);

/* Takes one token, in advance if there is none, and returns in how many milliseconds it will be
 * there. */
uint64_t token_bucket_take(struct token_bucket *bucket, uint64_t now_ms);

#endif
