/*
 * tls_ed25519.c - Ed25519 with OpenSSL. Any 32 bytes are a valid seed, so only a lack of memory fails.
 */
#include "wire/tls/tls_ed25519.h"

#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

static void ed25519_must(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "informer: OpenSSL can't sign with Ed25519\n"); /* UNTESTED: out of memory */
    abort();
}

static EVP_PKEY *key_of(const unsigned char *seed)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, TLS_ED25519_KEY);
    ed25519_must(key != NULL);
    return key;
}

void tls_ed25519_public(const unsigned char seed[TLS_ED25519_KEY],
                        unsigned char ret[TLS_ED25519_KEY])
{
    EVP_PKEY *key = key_of(seed);
    size_t len = TLS_ED25519_KEY;
    ed25519_must(EVP_PKEY_get_raw_public_key(key, ret, &len) == 1);
    EVP_PKEY_free(key);
}

void tls_ed25519_sign(const unsigned char seed[TLS_ED25519_KEY], struct str message,
                      unsigned char ret[TLS_ED25519_SIGNATURE])
{
    EVP_PKEY *key = key_of(seed);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t len = TLS_ED25519_SIGNATURE;
    ed25519_must(ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1);
    ed25519_must(EVP_DigestSign(ctx, ret, &len, (const unsigned char *)message.at, message.len) ==
                 1);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
}
