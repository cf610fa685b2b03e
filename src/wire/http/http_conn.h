/*
 * http_conn.h - an HTTP/1.1 client connection: one request at a time, with a streamed response.
 *
 * The body is delivered as in stream.h: a user that takes less than it was given yields, and is
 * offered the rest in the next tick. A response is complete only by HTTP's own framing (last chunk,
 * or Content-Length reached): bodies that end with the connection are refused.
 */
#ifndef WIRE_HTTP_CONN_H
#define WIRE_HTTP_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#include "seam/clock.h"
#include "seam/stream.h"

struct http_conn;
struct http_user;

struct http_header {
    const char *name; /* as sent; names are case-insensitive */
    const char *value;
};

struct http_request {
    const char *method;
    const char *target; /* path and query, already escaped */
    const char *host;   /* the Host header */
    const struct http_header *headers;
    size_t n_headers;
    const char *body; /* NULL: none */
    bool gather;      /* the response is a stream of events: see gather() of seam/stream.h */
};

struct http_head {
    int status;
    const struct http_header *headers; /* borrowed until on_head returns */
    size_t n_headers;
};

/* The first of @n headers with that name (case-insensitive), or NULL. */
const char *http_header_find(const struct http_header *headers, size_t n, const char *name);
const char *http_head_get(const struct http_head *head, const char *name);

struct http_user_ops {
    /* Status and headers arrived (not called for 1xx). */
    void (*on_head)(struct http_user *user, const struct http_head *head);

    /* A piece of the body. Returns the number of bytes taken; less than @len is a yield
     * (stream.h). */
    size_t (*on_body)(struct http_user *user, const char *bytes, size_t len);

    /* The request has ended. Called once. @why is NULL if the response is complete, otherwise the
     * error. */
    void (*on_end)(struct http_user *user, const struct inf_error *why);
};

/* The first member of every user of a connection. */
struct http_user {
    const struct http_user_ops *ops;
};

/* An owner of connections that sends requests for others (http_pool.c). It gets the end of a
 * request in place of the user; head and body go directly to the user. */
struct http_owner {
    /* The head of the response arrived; on_head of the user follows. */
    void (*on_response)(struct http_owner *owner);
    /* As http_user_ops.on_end. */
    void (*on_end)(struct http_owner *owner, const struct inf_error *why);
};

/* 0 selects the default given in the comment. */
struct http_limits {
    size_t head_max; /* 64 KiB: status line and headers; also all trailers and chunk extensions */
    uint64_t open_timeout_ms; /* 15 s: from dialling to an open stream */
    uint64_t head_timeout_ms; /* 35 s: from the request to the head of its response */
};

/* Starts to dial. @dialer and @clock must outlive the connection. */
struct http_conn *http_conn_open(struct clock *clock, struct dialer *dialer, const char *host,
                                 uint16_t port, const struct http_limits *limits);

/* Sends @request (copied) and calls @user and @owner (both kept until on_end or close; @owner may be
 * NULL). One request at a time: call it again after on_end, if http_conn_reusable(). */
void http_conn_request(struct http_conn *conn, const struct http_request *request,
                       struct http_user *user, struct http_owner *owner);

/* Whether the connection can carry another request. */
bool http_conn_reusable(const struct http_conn *conn);

/* Whether any byte of the response to the last request arrived. If not, and the connection had been
 * used before, the server had just closed it: the request may be repeated on a new connection. */
bool http_conn_responded(const struct http_conn *conn);

/* As in stream.h: no callbacks while paused, and timeouts are suspended. After resume, on_body is
 * called at least once in the next tick if a body is being read. */
void http_conn_pause(struct http_conn *conn);
void http_conn_resume(struct http_conn *conn);

/* May be called at any time, also inside a callback. No callback is made afterwards. NULL is
 * allowed. */
void http_conn_close(struct http_conn *conn);

#endif
