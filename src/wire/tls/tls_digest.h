/*
 * tls_digest.h - HMAC-SHA256, to detect changes of values that must stay secret and to sign requests; and
 * SHA-512 of public ones.
 */
#ifndef WIRE_TLS_DIGEST_H
#define WIRE_TLS_DIGEST_H

#include <stddef.h>

#include "base/str.h"

enum {
    TLS_DIGEST_KEY = 32,   /* bytes of a key */
    TLS_DIGEST_BYTES = 32, /* bytes of a digest */
    TLS_HASH_SIZE = 129,   /* a SHA-512 in hexadecimal digits, with its NUL */
};

/* Makes a random key. */
void tls_digest_key(unsigned char ret_key[TLS_DIGEST_KEY]);

/* A prepared key for any number of digests: preparing it costs more than a digest of a short
 * value. */
struct tls_digest;

struct tls_digest *tls_digest_new(const unsigned char key[TLS_DIGEST_KEY]);
void tls_digest_free(struct tls_digest *digest); /* NULL is allowed */

/* Over all of @parts; their lengths are included, so that different lists of parts give different
 * digests. */
void tls_digest_make(struct tls_digest *digest, const struct str *parts, size_t n_parts,
                     unsigned char ret[TLS_DIGEST_BYTES]);

/* The SHA-512 of @text in upper case digits. */
void tls_hash_sha512(struct str text, char ret[TLS_HASH_SIZE]);

/* The plain HMAC-SHA256 of @message, with a key of any length but 0. */
void tls_digest_sign(struct str key, struct str message, unsigned char ret[TLS_DIGEST_BYTES]);

#endif
