/*
 * token_bucket.c - limits the retries of a work queue. The bucket refills whenever a token is taken;
 * it may go into debt, so taking never fails. Extreme times and rates do not overflow.
 */
#include "core/dispatch/token_bucket.h"

enum {
    TOKEN = 1000, /* thousandths */
};

void token_bucket_init(struct token_bucket *bucket, uint32_t rate, uint32_t burst, uint64_t now_ms)
{
    *bucket = (struct token_bucket){
        .rate = rate, .burst = burst, .content = (int64_t)burst * TOKEN, .at_ms = now_ms};
}

/* The debt has no limit, so the rate holds for any number of keys; an overflow would take years of
 * calls. */
uint64_t token_bucket_take(struct token_bucket *bucket, uint64_t now_ms)
{
    int64_t full = (int64_t)bucket->burst * TOKEN;
    uint64_t missing = (uint64_t)(full - bucket->content), passed_ms = now_ms - bucket->at_ms;
    if (passed_ms > missing / bucket->rate) /* else the product would exceed `missing` */
        bucket->content = full;
    else
        bucket->content += (int64_t)(passed_ms * bucket->rate);
    bucket->at_ms = now_ms;
    bucket->content -= TOKEN;
    if (bucket->content >= 0)
        return 0;
    return ((uint64_t)-bucket->content + bucket->rate - 1) / bucket->rate;
}
