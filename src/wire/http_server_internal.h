/*
 * http_server_internal.h - what http_server.c (asking) and http_exchange.c (answering) share; nobody
 * else includes it.
 *
 * A connection has one exchange at a time, so they are one struct.
 *
 *     idle -> reading -> asked -> answering -> sending -> idle ...       lingering       closed
 */
#ifndef WIRE_HTTP_SERVER_INTERNAL_H
#define WIRE_HTTP_SERVER_INTERNAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/sm.h"
#include "wire/http_server.h"

enum exchange_state {
    X_IDLE,      /* no byte of a request yet */
    X_READING,   /* some of its head */
    X_ASKED,     /* it is the user's turn */
    X_ANSWERING, /* the head of the answer is written, the user writes on */
    X_SENDING,   /* the answer is written, and not out yet */
    X_LINGERING, /* out; the client may read the refusal while it still sends */
    X_CLOSED,
};

struct http_server {
    struct clock *clock;
    struct http_server_limits limits;
    struct http_server_user *user;
    struct list
        exchanges; /* of those that are idle, the one that has been so the longest is first */
    bool crowded;  /* a client waits for one of them to go */
    struct deferred_free deferred_free;
};

struct http_exchange {
    struct stream_user stream_user;
    struct http_server *server;
    struct list node;
    struct stream *stream;
    struct sm sm;
    struct http_request_parser *parser;
    struct buf in;    /* what came behind the request at hand */
    struct task task; /* calls the user */
    struct timer timer;
    struct deferred_free deferred_free;
    bool served;     /* a request before this one */
    bool ended;      /* the client says no more */
    bool paused;     /* `in` is full */
    bool told;       /* on_request was called */
    bool keep_alive; /* another request may follow */
    bool linger;     /* there may be bytes on their way that we will not read */

    struct http_follower *follower;
    struct buf headers; /* by http_exchange_header() */
    bool chunked;
    bool waiting;    /* for on_drain of the stream */
    int64_t written; /* bytes, ever */
    int64_t mark;    /* exchange_sent() when the timer began */
};

/* ---- http_server.c ---- */

/* The answer is complete and written. */
void exchange_answered(struct http_exchange *x);

/* Sets the timer for the state it is in. */
void exchange_arm(struct http_exchange *x);

void exchange_close(struct http_exchange *x, const char *why);

/* ---- http_exchange.c ---- */

/* Bytes that are out. Over a stream that adds bytes of its own it is a guess, and may go back. */
int64_t exchange_sent(const struct http_exchange *x);

/* A short answer in words. */
void exchange_say(struct http_exchange *x, int status, const char *text);

#endif
