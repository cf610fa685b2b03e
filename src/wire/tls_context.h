/*
 * tls_context.h - what a TLS connection needs to know before it begins: whom to trust and who we
 * are.
 *
 * One context per set of credentials: loading the system's authorities takes some 30 ms, so it is
 * done once, not per connection. Its connections resume each other's sessions; a new context starts
 * without any. Reference-counted, because connections outlive a change of credentials.
 */
#ifndef WIRE_TLS_CONTEXT_H
#define WIRE_TLS_CONTEXT_H

#include <stdbool.h>

#include "informer/error.h"

struct tls_context;

struct tls_settings {
    const char *ca_pem;   /* authorities to trust, PEM; NULL: the system's */
    const char *cert_pem; /* our certificate and its chain, PEM; NULL: none */
    const char *key_pem;  /* its key */
    bool insecure;        /* trust anybody; for people who asked for exactly that */
};

/* Copies what it needs from @settings. NULL, with @err telling which part is unusable and why. */
struct tls_context *tls_context_new(const struct tls_settings *settings, struct inf_error *err);
struct tls_context *tls_context_ref(struct tls_context *context);
void tls_context_unref(struct tls_context *context); /* NULL is fine */

#endif
