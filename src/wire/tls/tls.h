/*
 * tls.h - TLS 1.2 and 1.3 as a filter: a stream over another stream.
 *
 * A client's stream opens when the handshake is done and the server's certificate is valid for the
 * name. Otherwise it ends with INF_ETLS and a text that names the cause and the remedy. A server's
 * stream opens when the handshake is done; clients need no certificate.
 */
#ifndef WIRE_TLS_H
#define WIRE_TLS_H

#include "seam/clock.h"
#include "seam/stream.h"
#include "wire/tls/tls_context.h"

/* Dials with @lower and speaks TLS over it. Embedded in its owner; needs no closing; must outlive
 * its streams. */
struct tls_dialer {
    struct dialer dialer;
    struct dialer *lower;
    struct clock *clock;
    struct tls_context *context; /* borrowed; each stream takes its own reference */
    const char *server_name;     /* for SNI and verification, borrowed; NULL: the dialled host */
};

void tls_dialer_init(struct tls_dialer *d, struct dialer *lower, struct clock *clock,
                     struct tls_context *context, const char *server_name);

/* Speaks TLS as a server over @lower, an open stream of which it takes ownership. @context is from
 * tls_context_new_server(); the stream takes its own reference. The caller sets the user of the returned
 * stream before the next tick. */
struct stream *tls_accept(struct stream *lower, struct clock *clock, struct tls_context *context);

#endif
