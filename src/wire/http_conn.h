/*
 * http_conn.h - an HTTP/1.1 client connection: one request at a time, the answer handed up as it
 * comes.
 *
 * The body goes up as stream.h says: a user that takes less than it was given yields, and is
 * offered the rest in the next tick. An answer is complete only when HTTP's own framing says so
 * (last chunk, or content-length reached): bodies that end with the connection are refused.
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
    const char *name; /* as sent; compare without regard to case */
    const char *value;
};

struct http_request {
    const char *method;
    const char *target; /* path and query, already escaped */
    const char *host;   /* the Host header */
    const struct http_header *headers;
    size_t n_headers;
    const char *body; /* NULL: none */
};

struct http_head {
    int status;
    const struct http_header *headers; /* borrowed until on_head returns */
    size_t n_headers;
};

/* The first header of that name, or NULL. */
const char *http_head_get(const struct http_head *head, const char *name);

struct http_user_ops {
    /* Status and headers are here (1xx ones are not told). */
    void (*on_head)(struct http_user *user, const struct http_head *head);

    /* A piece of the body. Returns how much was taken; less than @len is a yield (stream.h). */
    size_t (*on_body)(struct http_user *user, const char *bytes, size_t len);

    /* The exchange is over, told once: NULL if the answer is complete, else what cut it short. */
    void (*on_end)(struct http_user *user, const struct inf_error *why);
};

/* Embed as the first thing in whatever makes requests. */
struct http_user {
    const struct http_user_ops *ops;
};

/* Limits of DESIGN's promise 6; 0 means the default beside it. */
struct http_limits {
    size_t head_max; /* 64 KiB: status line and headers; also all trailers and chunk extensions */
    uint64_t open_timeout_ms; /* 15 s: from dialling to an open stream */
    uint64_t head_timeout_ms; /* 35 s: from the request to the head of its answer */
};

/* Dials at once; @dialer and @clock must outlive the connection. */
struct http_conn *http_conn_open(struct clock *clock, struct dialer *dialer, const char *host,
                                 uint16_t port, const struct http_limits *limits);

/* Sends @request (copied) and tells @user (kept until on_end or close). One at a time: call again
 * after on_end, if http_conn_reusable(). */
void http_conn_request(struct http_conn *conn, const struct http_request *request,
                       struct http_user *user);

/* Whether the connection can carry another request. */
bool http_conn_reusable(const struct http_conn *conn);

/* Whether any byte of an answer to the last request came. If not, and the connection had been used
 * before, the server had just closed it: the request may be made once more on a new one. */
bool http_conn_answered(const struct http_conn *conn);

/* As in stream.h: nothing is told while paused, and the timeouts stand still; after resume on_body
 * is called in the next tick at least once if a body is being read. */
void http_conn_pause(struct http_conn *conn);
void http_conn_resume(struct http_conn *conn);

/* At any moment, also inside a callback; nothing is called afterwards. NULL is fine. */
void http_conn_close(struct http_conn *conn);

#endif
