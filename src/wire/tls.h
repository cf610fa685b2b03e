/*
 * tls.h - TLS 1.2 and 1.3, client side, as a filter: a stream over another stream.
 *
 * Opens when the handshake is done and the server's certificate is good for the name; everything
 * else ends with INF_ETLS and a sentence a person can act on.
 */
#ifndef WIRE_TLS_H
#define WIRE_TLS_H

#include "seam/clock.h"
#include "seam/stream.h"
#include "wire/tls_context.h"

/* Dials @lower, then speaks TLS over it. Embed; no closing needed; must outlive its streams. */
struct tls_dialer {
    struct dialer dialer;
    struct dialer *lower;
    struct clock *clock;
    struct tls_context *context; /* borrowed; each stream takes a reference of its own */
    const char *server_name; /* for SNI and the check, borrowed; NULL: the host that is dialled */
};

void tls_dialer_init(struct tls_dialer *d, struct dialer *lower, struct clock *clock,
                     struct tls_context *context, const char *server_name);

#endif
