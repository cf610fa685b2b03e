/*
 * http_exchange.h - the response to one request: at once, later, or streamed.
 *
 *     http_exchange_reply(x, 200, "text/plain", "ok\n", 3);            x is no longer valid
 *
 *     http_exchange_set_user(x, &list->exchange_user);
 *     http_exchange_start(x, 200, "application/json");
 *     while (more && http_exchange_unsent(x) < HIGH)                   the rest in on_drain
 *         http_exchange_write(x, bytes, len);
 *     http_exchange_end(x);                                            x is no longer valid
 *
 * An exchange that is not finished when on_request returns must have a user, which is called if the
 * client disconnects.
 */
#ifndef WIRE_HTTP_EXCHANGE_H
#define WIRE_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct http_exchange;
struct http_exchange_user;

struct http_exchange_user_ops {
    /* Everything written was sent: more may be written. Called in the pump phase, once after one or
     * many writes. May be NULL if only http_exchange_reply() is used. */
    void (*on_drain)(struct http_exchange_user *user);

    /* The client disconnected or is too slow. The exchange is no longer valid. Called from the
     * loop. */
    void (*on_abort)(struct http_exchange_user *user);
};

/* The first member of every user of an exchange. */
struct http_exchange_user {
    const struct http_exchange_user_ops *ops;
};

/* Sets the user (not copied), which is called until the exchange is finished. */
void http_exchange_set_user(struct http_exchange *x, struct http_exchange_user *user);

/* The client given to http_server_accept_client(); NULL: none. */
void *http_exchange_client(const struct http_exchange *x);

/* Whether the client has closed its side of the connection. It can still receive a response, but nothing
 * would show that a long one is no longer read. */
bool http_exchange_is_half_closed(const struct http_exchange *x);

/* Adds a header to the response, before reply or start. Name and value must not contain line
 * ends. Cache-Control replaces the default no-store. */
void http_exchange_header(struct http_exchange *x, const char *name, const char *value);

/*
 * Sends the whole response (copied); without the body if the request is a HEAD or @status is 304.
 * @status is 200 or more, and not 204. Finishes the exchange.
 */
void http_exchange_reply(struct http_exchange *x, int status, const char *content_type,
                         const char *bytes, size_t len);

/* Sends the head of a response whose length is not known yet. */
void http_exchange_start(struct http_exchange *x, int status, const char *content_type);

/* The same; the body is compressed: what is written becomes gzip. Choose it only if the client accepts that
 * (http_accepts_gzip()). A write of 64 KiB takes about half a millisecond. */
void http_exchange_start_gzip(struct http_exchange *x, int status, const char *content_type);

/* Sends a piece of the body (copied); nothing if the request is a HEAD or @len is 0. */
void http_exchange_write(struct http_exchange *x, const char *bytes, size_t len);

/*
 * The same for a piece that is sent to many clients: it has the framing of a chunk (http_chunk_put()), of
 * which @head bytes precede it. It is not copied if it can be sent at once, and then on_drain is not
 * called.
 */
void http_exchange_write_chunk(struct http_exchange *x, const char *chunk, size_t len, size_t head);

/* Appends @bytes as a chunk. Returns the number of bytes that precede them. @len is not 0. */
size_t http_chunk_put(struct buf *out, const char *bytes, size_t len);

/* The number of bytes not sent yet. Wait for on_drain while this is large: it is called after every
 * write that leaves unsent bytes. */
size_t http_exchange_unsent(const struct http_exchange *x);

/* Completes the response and finishes the exchange. */
void http_exchange_end(struct http_exchange *x);

/* Aborts the response by closing the connection, so that the client does not take it for a complete
 * one. Finishes the exchange. */
void http_exchange_cut(struct http_exchange *x);

#endif
