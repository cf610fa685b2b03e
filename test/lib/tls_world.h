/*
 * tls_world.h - a client stream of wire/tls/tls.c and an OpenSSL server, connected by a pipe.
 */
#ifndef TEST_TLS_WORLD_H
#define TEST_TLS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "certs.h"
#include "pipe_stream.h"
#include "sim.h"
#include "stream_reader.h"
#include "tls_peer.h"
#include "wire/tls/tls.h"

/* Made once per program: a CA, a server for localhost, *.example.com and 127.0.0.1, a client. */
struct tls_certs {
    struct cert *ca, *other_ca, *server, *client;
};

struct tls_plan {
    const char *host;          /* "localhost" */
    const char *server_name;   /* the host */
    const struct cert *ca;     /* certs->ca */
    const struct cert *server; /* certs->server */
    const struct cert *client; /* none */
    const struct cert *client_ca;
    const struct cert *middle; /* none */
    const char *protocol;      /* the first offered */
    bool tls12, no_tickets, fat_tickets, insecure, hold;
    bool no_peer; /* the test itself is the peer */
    size_t cut;
    uint64_t seed;
    unsigned budget;
};

struct tls_world {
    struct sim sim;
    struct pipe_dialer pipes;
    struct pipe *pipe;
    struct tls_peer peer;
    struct tls_context *context;
    struct tls_dialer dialer;
    struct stream_reader reader;
    const struct tls_plan *plan;
};

int tls_certs_make(void **state); /* cmocka's group setup and teardown */
int tls_certs_drop(void **state);

/* Dials; no callback is made before it returns. */
void tls_world_init(struct tls_world *w, const struct tls_certs *certs,
                    const struct tls_plan *plan);

/* Closes the connection and dials the same server again, with the same context, with the names of @plan.
 */
void tls_world_again(struct tls_world *w, const struct tls_plan *plan);

/* Restarts the server, which loses its sessions. Call it before tls_world_again(). */
void tls_world_restart(struct tls_world *w, const struct tls_certs *certs);

/* Closes everything and checks that it was released. */
void tls_world_done(struct tls_world *w);

#endif
