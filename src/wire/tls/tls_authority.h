/*
 * tls_authority.h - our own certificate authority, for a server whose clients we configure.
 *
 *     tls_authority_make(now, NULL, &ca, &err)          once; its files are kept
 *     tls_authority_issue(&ca, &names, now, &server, &err)
 *     tls_context_new_server(server.cert_pem, server.key_pem, &err)
 *
 * Keys are ECDSA P-256. An authority is renewed with its key: clients that trust its earlier
 * certificate accept servers until that one expires.
 */
#ifndef WIRE_TLS_AUTHORITY_H
#define WIRE_TLS_AUTHORITY_H

#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

enum {
    TLS_AUTHORITY_DAYS = 3650,
    TLS_SERVER_DAYS = 90,
};

/* A certificate and its key in PEM format. */
struct tls_pair {
    char *cert_pem;
    char *key_pem;
};

void tls_pair_free(struct tls_pair *pair); /* zeroes it; may be called for a zeroed one */

/* Host names and IP addresses of a server; at least one. */
struct tls_names {
    const char *const *items;
    size_t count;
};

/* Makes an authority that is valid from an hour before @now_us for TLS_AUTHORITY_DAYS, with @key_pem or,
 * if that is NULL, a new key. Fails with INF_ECONF if the key is invalid. */
int tls_authority_make(int64_t now_us, const char *key_pem, struct tls_pair *ret,
                       struct inf_error *err);

/* Makes a key and a certificate of a server, signed by @authority, valid for TLS_SERVER_DAYS and not
 * longer than the authority. Fails with INF_ECONF if the authority or a name is invalid. */
int tls_authority_issue(const struct tls_pair *authority, const struct tls_names *names,
                        int64_t now_us, struct tls_pair *ret, struct inf_error *err);

/* When the certificate expires, in microseconds since 1970; or -INF_ECONF if it can't be read. */
int64_t tls_certificate_end_us(const char *cert_pem, struct inf_error *err);

#endif
