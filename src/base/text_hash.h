/*
 * text_hash.h - a keyed hash for long texts. As with SipHash, texts that are chosen without knowing the key don't
 * collide, except by chance (2^-64), but a text of 7 KB takes a third of the time.
 */
#ifndef BASE_TEXT_HASH_H
#define BASE_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"

enum {
    TEXT_HASH_WORDS = 128, /* of a block: 1 KB */
};

struct text_hash_key {
    struct siphash_key join;
    uint64_t words[TEXT_HASH_WORDS];
};

/* Derives @ret from @key, the same one every time. */
void text_hash_key_init(struct text_hash_key *ret, const struct siphash_key *key);

/* Depends on the byte order of the machine. */
uint64_t text_hash(const struct text_hash_key *key, const void *bytes, size_t len);

#endif
