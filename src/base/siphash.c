/*
 * siphash.c - written from the paper of Aumasson and Bernstein: one round per word, three at the end.
 */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotl(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotl(s->v1, 13) ^ s->v0;
    s->v0 = rotl(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotl(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotl(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotl(s->v1, 17) ^ s->v2;
    s->v2 = rotl(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* One load: byte by byte, as the compiler left it, the hash of an object's text (7.2 KB, now text_hash.h) took 36,900
 * instructions instead of 16,900. */
static inline uint64_t whole_word(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

static inline uint64_t last_bytes(const unsigned char *p, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)p[i] << (8 * i);
    return word;
}

uint64_t siphash13(const struct siphash_key *key, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    size_t words = len / 8;
    struct sip s = {
        .v0 = key->k0 ^ 0x736f6d6570736575U,
        .v1 = key->k1 ^ 0x646f72616e646f6dU,
        .v2 = key->k0 ^ 0x6c7967656e657261U,
        .v3 = key->k1 ^ 0x7465646279746573U,
    };
    for (size_t i = 0; i < words; i++)
        sip_word(&s, whole_word(p + 8 * i));
    sip_word(&s, last_bytes(p + 8 * words, len % 8) | (uint64_t)len << 56);
    s.v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
