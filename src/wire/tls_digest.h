/*
 * tls_digest.h - HMAC-SHA256, for values that must not be seen but whose changes should be.
 */
#ifndef WIRE_TLS_DIGEST_H
#define WIRE_TLS_DIGEST_H

#include <stddef.h>

#include "base/str.h"

enum {
    TLS_DIGEST_KEY = 32,   /* bytes of a key */
    TLS_DIGEST_BYTES = 32, /* bytes of a digest */
};

/* A new random key. */
void tls_digest_key(unsigned char ret_key[TLS_DIGEST_KEY]);

/* A key, ready for any number of digests: preparing it costs more than a digest of a short value. */
struct tls_digest;

struct tls_digest *tls_digest_new(const unsigned char key[TLS_DIGEST_KEY]);
void tls_digest_free(struct tls_digest *digest); /* NULL is fine */

/* Over all of @parts; their lengths are hashed too, so that no two lists of parts look the same. */
void tls_digest_make(struct tls_digest *digest, const struct str *parts, size_t n_parts,
                     unsigned char ret[TLS_DIGEST_BYTES]);

#endif
