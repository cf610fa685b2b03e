/*
 * tls_context.h - the credentials of TLS connections: trusted authorities and our certificate.
 *
 * One context per set of credentials: loading the system's authorities takes about 30 ms, so it is
 * done once, not per connection. Its connections resume each other's sessions; a new context has
 * none. Reference-counted, because connections outlive a change of credentials.
 */
#ifndef WIRE_TLS_CONTEXT_H
#define WIRE_TLS_CONTEXT_H

#include <stdbool.h>

#include "informer/error.h"

struct tls_context;

struct tls_settings {
    const char *ca_pem;   /* trusted authorities, PEM; NULL: the system's */
    const char *cert_pem; /* our certificate and its chain, PEM; NULL: none */
    const char *key_pem;  /* its key */
    bool insecure;        /* no verification */
};

/* Copies what it needs from @settings. Returns NULL, with @err naming the invalid part, on
 * failure. */
struct tls_context *tls_context_new(const struct tls_settings *settings, struct inf_error *err);

/* For tls_accept(): a server with the given certificate, its chain and its key, which speaks HTTP/1.1
 * (ALPN) and requests no client certificate. */
struct tls_context *tls_context_new_server(const char *cert_pem, const char *key_pem,
                                           struct inf_error *err);

struct tls_context *tls_context_ref(struct tls_context *context);
void tls_context_unref(struct tls_context *context); /* NULL is allowed */

#endif
