/*
 * siphash.h - SipHash-1-3: a keyed hash, so that nobody who can name objects can make them collide.
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
