/*
 * tls_peer.h - a TLS server at the other end of a pipe (pipe_stream.h), by OpenSSL's own memory
 * BIOs.
 *
 * It shares no code with src/wire.
 *
 *     tls_peer_init(&peer, &(struct tls_peer_settings){.cert = server});
 *     dialer.on_tick = tls_peer_on_tick;
 *     dialer.peer = &peer;
 */
#ifndef TEST_TLS_PEER_H
#define TEST_TLS_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "certs.h"
#include "pipe_stream.h"

struct tls_peer_settings {
    const struct cert *cert;
    const struct cert
        *client_ca; /* clients must have a certificate signed by it; NULL: none required */
    const struct cert *middle;   /* shown after its own certificate; NULL: nothing */
    const char *protocol;        /* selects this one, offered or not; NULL: the first offered */
    const struct tls_peer *twin; /* another connection of the same server: tickets of that one are
                                    good for this one; the rest is as there. NULL: a new server */
    bool tls12;                  /* use TLS 1.2, not 1.3 */
    bool no_tickets;             /* TLS 1.2: sessions by id, kept by the server */
    bool fat_tickets;            /* of some 20,000 bytes */
};

struct tls_peer {
    struct ssl_ctx_st *ctx;
    struct ssl_st *ssl;
    struct bio_st *in, *out; /* SSL's own */
    const char *protocol;
    struct buf received; /* plaintext from the client */
    struct buf to_send;  /* plaintext, waiting for the handshake */
    bool shaken;
    bool resumed; /* the handshake, by a session of an earlier one */
    bool failed;
    bool goodbye; /* send close_notify after everything else */
    bool said_goodbye;
    bool key_update;     /* request a key update, once, before the next bytes */
    bool client_goodbye; /* the client sent close_notify */
    char sni[256];       /* the name the client requested; "": none */
    char client[64];     /* the name in the client certificate; "": none */
    char alpn[256];      /* the protocols it offered, as on the wire */
};

void tls_peer_init(struct tls_peer *peer, const struct tls_peer_settings *settings);
void tls_peer_done(struct tls_peer *peer);
void tls_peer_on_tick(struct pipe *pipe);
void tls_peer_send(struct tls_peer *peer, const char *bytes, size_t len);

#endif
