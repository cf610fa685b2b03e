/*
 * rng.h - random numbers for jitter and hash keys; not for secrets. Equal seeds give equal sequences.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

/* Seeds from the operating system. */
void rng_init(struct rng *rng);

uint64_t rng_next(struct rng *rng);

/* Uniform in [0, bound); 0 if bound is 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

#endif
