/*
 * siphash.h - SipHash-1-3: a keyed hash. Names chosen by an attacker cannot be made to collide.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
    uint64_t k0;
    uint64_t k1;
};

uint64_t siphash13(const struct siphash_key *key, const void *bytes, size_t len);

#endif
