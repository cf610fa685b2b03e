/*
 * rng.c - SplitMix64 (Steele, Lea and Flood): one addition and three mixing steps per number.
 */
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void rng_init(struct rng *rng)
{
    if (getrandom(&rng->state, sizeof(rng->state), 0) == (ssize_t)sizeof(rng->state))
        return;
    fprintf(stderr, "informer: getrandom failed\n"); /* UNTESTED: no such Linux */
    abort();
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* The remainder favours small numbers by one part in 2^64 / bound, which is irrelevant for jitter. */
uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    return bound ? rng_next(rng) % bound : 0;
}
