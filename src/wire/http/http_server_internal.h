/*
 * http_server_internal.h - shared by http_server.c (requests) and http_exchange.c (responses); not
 * for other files.
 *
 * A connection has one exchange at a time, so both are one struct.
 *
 *     idle -> reading -> queued -> requested -> [streaming] -> sending -> idle ...   lingering   closed
 */
#ifndef WIRE_HTTP_SERVER_INTERNAL_H
#define WIRE_HTTP_SERVER_INTERNAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/sm.h"
#include "wire/http/gzip.h"
#include "wire/http/http_server.h"

enum exchange_state {
    X_IDLE,      /* no byte of a request yet */
    X_READING,   /* the head is incomplete */
    X_QUEUED,    /* the request is complete; on_request follows in the pump */
    X_REQUESTED, /* on_request was called; waiting for the user's response */
    X_STREAMING, /* the head of the response is written, the user streams the body */
    X_SENDING,   /* the response is written and not sent yet */
    X_LINGERING, /* sent; the client may read the refusal while it still sends */
    X_CLOSED,
};

/* What follows when the response is sent. */
enum exchange_after {
    AFTER_CLOSE,
    AFTER_KEEP_ALIVE, /* another request may follow */
    AFTER_LINGER,     /* the request was refused: unread bytes may still arrive */
};

struct http_server {
    struct clock *clock;
    struct http_server_limits limits;
    struct http_server_user *user;
    struct list exchanges; /* idle ones are ordered, the longest idle first */
    bool crowded;          /* a client waits for a connection to close */
    struct deferred_free deferred_free;
};

struct http_exchange {
    struct stream_user stream_user;
    struct http_server *server;
    struct list node;
    struct stream *stream;
    struct sm sm;
    struct http_request_parser *parser;
    struct buf in;    /* bytes after the current request */
    struct task task; /* calls the user */
    struct timer timer;
    struct deferred_free deferred_free;
    enum exchange_after after;
    void *client; /* NULL: not identified */
    bool served;  /* at least one request was served */
    bool ended;   /* the client sends no more */
    bool paused;  /* `in` is full */

    struct http_exchange_user *user; /* NULL: only on_request */
    struct buf headers;              /* by http_exchange_header() */
    bool has_cache_control;          /* among them */
    bool chunked;
    struct gzip *gzip; /* of the body; NULL: it is sent as it is */
    bool waiting;      /* for on_drain of the stream */
    int64_t written;   /* bytes, in total */
    int64_t mark;      /* exchange_sent() when the timer began */
};

/* ---- http_server.c ---- */

/* The response is complete and written. */
void exchange_on_complete(struct http_exchange *x);

/* Sets the timer for the current state. */
void exchange_arm(struct http_exchange *x);

void exchange_close(struct http_exchange *x, const char *why);

/* ---- http_exchange.c ---- */

/* The number of bytes sent. An estimate that may decrease if the stream adds bytes of its own. */
int64_t exchange_sent(const struct http_exchange *x);

/* Responds to a request that the user does not get. */
void exchange_reply_refusal(struct http_exchange *x, int status, const char *why);

#endif
