/*
 * token_bucket.h - limits a rate: the retries of all keys of a work queue together.
 *
 * Uses integers only: a rate of r tokens a second is exactly r thousandths of a token a
 * millisecond.
 */
#ifndef CORE_DISPATCH_TOKEN_BUCKET_H
#define CORE_DISPATCH_TOKEN_BUCKET_H

#include <stdint.h>

struct token_bucket {
    uint32_t rate;   /* tokens a second, at least 1 */
    uint32_t burst;  /* tokens it holds when full */
    int64_t content; /* thousandths of a token; negative: granted in advance */
    uint64_t at_ms;  /* time of the last refill */
};

/* The bucket starts full. */
void token_bucket_init(struct token_bucket *bucket, uint32_t rate, uint32_t burst, uint64_t now_ms);

/* Takes one token, in advance if the bucket is empty. Returns the time in milliseconds until the
 * token is available. */
uint64_t token_bucket_take(struct token_bucket *bucket, uint64_t now_ms);

#endif
