/*
 * conn.h - one connection. Received bytes pass through TLS to the HTTP parser; answers are sent as
 * fast as the client reads them.
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
    END_NICE,  /* with close_notify of TLS */
    END_CUT,   /* without close_notify */
    END_RESET, /* RST */
};

struct conn {
    struct list node;  /* in sim->conns */
    struct list dirty; /* in sim->dirty while its reply may have data to send */
    struct kubesim *sim;
    uv_tcp_t tcp;
    uv_timer_t pause;    /* a fault delays the answer */
    uv_timer_t deadline; /* timeoutSeconds of a watch */
    int handles;         /* of the three handles above, not yet closed */
    struct ssl_st *ssl;  /* NULL: plain */
    bool shaken;         /* the TLS handshake is done */
    bool silent;         /* a black hole: nothing is read or answered any more */
    bool closing;
    enum ending ending; /* applied when all data is written */
    struct buf in;
    size_t in_flight; /* bytes given to libuv and not yet written */
    struct request request;
    struct reply reply;
};

/* Takes over a connection that was just accepted. */
void conn_open(struct kubesim *sim);

bool conn_has_room(const struct conn *c);
void conn_send(struct conn *c, const char *bytes, size_t len);
/* Closes the connection after all pending data is written. */
void conn_end(struct conn *c, enum ending how);
void conn_close(struct conn *c);
/* Stops reading and answering, but keeps the connection open. */
void conn_go_silent(struct conn *c);

/* Schedules the reply to be sent: it may have new data. */
void conn_wake(struct conn *c);
/* The reply is complete: handles the next request, which may have been received already. */
void conn_next(struct conn *c);

/* tls.c: decrypts received bytes into c->in; false if the peer broke the protocol. */
void tls_start(struct conn *c);
bool tls_feed(struct conn *c, const char *bytes, size_t len);
void tls_write(struct conn *c, const char *bytes, size_t len);
void tls_send_close_notify(struct conn *c);
void tls_free(struct conn *c);
/* Sends bytes that TLS has produced. */
void conn_send_raw(struct conn *c, const char *bytes, size_t len);

#endif
