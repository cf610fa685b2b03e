/*
 * conn.h - one connection: bytes in, through TLS, to requests; answers out, as fast as the peer
 * takes them.
 */
#ifndef KUBESIM_CONN_H
#define KUBESIM_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/buf.h"
#include "base/list.h"
#include "http.h"
#include "kubesim.h"
#include "reply.h"

/* How a connection ends. */
enum ending {
    END_NOT,
    END_NICE,  /* with TLS's goodbye */
    END_CUT,   /* without */
    END_RESET, /* RST */
};

struct conn {
    struct list node;  /* in sim->conns */
    struct list dirty; /* in sim->dirty while it may have something to say */
    struct kubesim *sim;
    uv_tcp_t tcp;
    uv_timer_t pause;    /* a fault holds the answer back */
    uv_timer_t deadline; /* timeoutSeconds of a watch */
    int handles;         /* of these three, not yet closed */
    struct ssl_st *ssl;  /* NULL: plain */
    bool shaken;         /* hands: TLS is up */
    bool deaf;           /* a black hole: nothing is read or answered any more */
    bool closing;
    enum ending ending; /* as soon as all is written */
    struct buf in;
    size_t in_flight; /* bytes given to libuv and not yet written */
    struct request request;
    struct reply reply;
};

/* Takes over a connection that was just accepted. */
void conn_open(struct kubesim *sim);

bool conn_has_room(const struct conn *c);
void conn_send(struct conn *c, const char *bytes, size_t len);
/* Ends it when all that was sent is written. */
void conn_end(struct conn *c, enum ending how);
void conn_close(struct conn *c);
/* No more answers, and no end either. */
void conn_go_deaf(struct conn *c);

/* It may have something to say: its reply is pumped soon. */
void conn_wake(struct conn *c);
/* The reply is over; on to the next request, which may be here already. */
void conn_next(struct conn *c);

/* tls.c. Reads what came through TLS into c->in; false if the peer broke it. */
void tls_start(struct conn *c);
bool tls_feed(struct conn *c, const char *bytes, size_t len);
void tls_write(struct conn *c, const char *bytes, size_t len);
void tls_goodbye(struct conn *c);
void tls_free(struct conn *c);
/* What TLS wants sent goes out with this. */
void conn_send_raw(struct conn *c, const char *bytes, size_t len);

#endif
