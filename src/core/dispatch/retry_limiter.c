#include "core/dispatch/retry_limiter.h"

enum {
    TOKEN = 1000,       /* thousandths */
    DOUBLINGS_MAX = 32, /* past that any base is over any max */
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

/* The product can't wrap: it is worked out only where it is not more than what fits in. */
static void fill(struct token_bucket *bucket, uint64_t now_ms)
{
    int64_t full = (int64_t)bucket->burst * TOKEN;
    uint64_t room = (uint64_t)(full - bucket->content), passed_ms = now_ms - bucket->at_ms;
    if (passed_ms > room / bucket->rate)
        bucket->content = full;
    else
        bucket->content += (int64_t)(passed_ms * bucket->rate);
    bucket->at_ms = now_ms;
}

/* What is owed has no limit but the years it takes to ask so often: the rate holds also for the
 * millionth key. */
uint64_t token_bucket_take(struct token_bucket *bucket, uint64_t now_ms)
{
    fill(bucket, now_ms);
    bucket->content -= TOKEN;
    if (bucket->content >= 0)
        return 0;
    return ((uint64_t)-bucket->content + bucket->rate - 1) / bucket->rate;
}
