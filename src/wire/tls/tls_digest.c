/*
 * tls_digest.c - HMAC-SHA256 with OpenSSL's EVP_MAC, and SHA-512.
 *
 * A key is prepared once and used for many digests. A failure aborts: a wrong digest could reveal
 * secrets.
 */
#include "wire/tls/tls_digest.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "base/alloc.h"

struct tls_digest {
    EVP_MAC *algorithm;
    EVP_MAC_CTX *keyed;
};

/* There is no safe way to continue with a wrong key or digest. */
static void digest_must(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "informer: OpenSSL can't compute a digest\n"); /* UNTESTED: out of memory */
    abort();
}

void tls_digest_key(unsigned char ret_key[TLS_DIGEST_KEY])
{
    digest_must(RAND_bytes(ret_key, TLS_DIGEST_KEY) == 1);
}

static struct tls_digest *digest_new(const unsigned char *key, size_t len)
{
    char hash[] = OSSL_DIGEST_NAME_SHA2_256;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash, 0),
                           OSSL_PARAM_construct_end()};
    struct tls_digest *d = NEW(struct tls_digest);
    d->algorithm = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_HMAC, NULL);
    digest_must(d->algorithm != NULL);
    d->keyed = EVP_MAC_CTX_new(d->algorithm);
    digest_must(d->keyed != NULL && EVP_MAC_init(d->keyed, key, len, params) == 1);
    return d;
}

struct tls_digest *tls_digest_new(const unsigned char key[TLS_DIGEST_KEY])
{
    return digest_new(key, TLS_DIGEST_KEY);
}

void tls_digest_free(struct tls_digest *d)
{
    if (!d)
        return;
    EVP_MAC_CTX_free(d->keyed);
    EVP_MAC_free(d->algorithm);
    free(d);
}

void tls_digest_make(struct tls_digest *d, const struct str *parts, size_t n_parts,
                     unsigned char ret[TLS_DIGEST_BYTES])
{
    size_t made;
    digest_must(EVP_MAC_init(d->keyed, NULL, 0, NULL) == 1); /* reuses the key */
    for (size_t i = 0; i < n_parts; i++) {
        uint64_t len = parts[i].len;
        digest_must(EVP_MAC_update(d->keyed, (const unsigned char *)&len, sizeof(len)) == 1);
        digest_must(EVP_MAC_update(d->keyed, (const unsigned char *)parts[i].at, parts[i].len) ==
                    1);
    }
    digest_must(EVP_MAC_final(d->keyed, ret, &made, TLS_DIGEST_BYTES) == 1 &&
                made == TLS_DIGEST_BYTES);
}

void tls_hash_sha512(struct str text, char ret[TLS_HASH_SIZE])
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned int made = 0;
    digest_must(EVP_Digest(text.at, text.len, hash, &made, EVP_sha512(), NULL) == 1 &&
                2 * made + 1 == TLS_HASH_SIZE);
    for (unsigned int i = 0; i < made; i++)
        snprintf(ret + (size_t)2 * i, 3, "%02X", hash[i]);
}

void tls_digest_sign(struct str key, struct str message, unsigned char ret[TLS_DIGEST_BYTES])
{
    struct tls_digest *d = digest_new((const unsigned char *)key.at, key.len);
    size_t made;
    digest_must(EVP_MAC_update(d->keyed, (const unsigned char *)message.at, message.len) == 1);
    digest_must(EVP_MAC_final(d->keyed, ret, &made, TLS_DIGEST_BYTES) == 1 &&
                made == TLS_DIGEST_BYTES);
    tls_digest_free(d);
}
