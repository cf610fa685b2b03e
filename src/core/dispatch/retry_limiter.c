/*
 * retry_limiter.c - the two delays of a retry in a work queue. See retry_limiter.h.
 */
#include "core/dispatch/retry_limiter.h"

enum {
    TOKEN = 1000,       /* thousandths */
    DOUBLINGS_MAX = 32, /* with more, any base exceeds any max */
};

uint64_t backoff_ms(uint32_t base_ms, uint32_t max_ms, uint32_t failures)
{
    uint64_t delay_ms = failures < DOUBLINGS_MAX ? (uint64_t)base_ms << failures : max_ms;
    return delay_ms < max_ms ? delay_ms : max_ms;
}

void token_bucket_init(struct token_bucket *bucket, uint32_t rate, uint32_t burst, uint64_t now_ms)
{
    *bucket = (struct token_bucket){
        .rate = rate, .burst = burst, .content = (int64_t)burst * TOKEN, .at_ms = now_ms};
}

/* The product can't overflow: it is computed only if it is at most `room`. */
static void token_bucket_refill(struct token_bucket *bucket, uint64_t now_ms)
{
    int64_t full = (int64_t)bucket->burst * TOKEN;
    uint64_t room = (uint64_t)(full - bucket->content), passed_ms = now_ms - bucket->at_ms;
    if (passed_ms > room / bucket->rate)
        bucket->content = full;
    else
        bucket->content += (int64_t)(passed_ms * bucket->rate);
    bucket->at_ms = now_ms;
}

/* The debt has no limit, so the rate holds for any number of keys; an overflow would take years of
 * calls. */
uint64_t token_bucket_take(struct token_bucket *bucket, uint64_t now_ms)
{
    token_bucket_refill(bucket, now_ms);
    bucket->content -= TOKEN;
    if (bucket->content >= 0)
        return 0;
    return ((uint64_t)-bucket->content + bucket->rate - 1) / bucket->rate;
}
