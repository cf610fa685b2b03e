#include "wire/tls_digest.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/alloc.h"
#include "base/buf.h"

/* A key or a digest that is not what it should be would let secrets out: no way to go on. */
static void must(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "informer: OpenSSL can't make a digest\n"); /* UNTESTED: only without memory */
    abort();
}

void tls_digest_key(unsigned char ret_key[TLS_DIGEST_KEY])
{
    must(RAND_bytes(ret_key, TLS_DIGEST_KEY) == 1);
}

void tls_digest(const unsigned char key[TLS_DIGEST_KEY], const struct str *parts, size_t n_parts,
                unsigned char ret[TLS_DIGEST_BYTES])
{
    struct buf all = {0};
    for (size_t i = 0; i < n_parts; i++) {
        uint64_t len = parts[i].len;
        buf_put(&all, (const char *)&len, sizeof(len));
        buf_put(&all, parts[i].at, parts[i].len);
    }
    must(HMAC(EVP_sha256(), key, TLS_DIGEST_KEY, (const unsigned char *)all.bytes, all.len, ret,
              NULL) != NULL);
    secret_wipe(all.bytes, all.len);
    buf_free(&all);
}
