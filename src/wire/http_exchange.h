/*
 * http_exchange.h - one request to be answered: at once, later, or bit by bit.
 *
 *     http_exchange_reply(x, 200, "text/plain", "ok\n", 3);            and x is gone
 *
 *     http_exchange_follow(x, &list->follower);
 *     http_exchange_start(x, 200, "application/json");
 *     while (more && http_exchange_unsent(x) < HIGH)                   and the rest in on_drain
 *         http_exchange_write(x, bytes, len);
 *     http_exchange_end(x);                                            and x is gone
 *
 * An exchange that is not over when on_request returns has to be followed: its follower is told if
 * the client goes away.
 */
#ifndef WIRE_HTTP_EXCHANGE_H
#define WIRE_HTTP_EXCHANGE_H

#include <stddef.h>

struct http_exchange;
struct http_follower;

struct http_follower_ops {
    /* All that was written is out: time to write more. In the pump phase, once after one or many
     * writes. May be NULL for who only replies. */
    void (*on_drain)(struct http_follower *follower);

    /* The client has gone, or is too slow; so is the exchange. From the loop. */
    void (*on_abort)(struct http_follower *follower);
};

/* Embed as the first thing in whatever answers later. */
struct http_follower {
    const struct http_follower_ops *ops;
};

/* Calls @follower (kept, not copied) until the exchange is over. */
void http_exchange_follow(struct http_exchange *x, struct http_follower *follower);

/* Adds a header to the answer, before reply or start. Name and value are ours: no line ends. */
void http_exchange_header(struct http_exchange *x, const char *name, const char *value);

/*
 * The whole answer; copied. To a HEAD the same without the body. @status is one that may have a
 * body: from 200, neither 204 nor 304. The exchange is over.
 */
void http_exchange_reply(struct http_exchange *x, int status, const char *content_type,
                         const char *bytes, size_t len);

/* The head of an answer whose length is not known yet. */
void http_exchange_start(struct http_exchange *x, int status, const char *content_type);

/* A piece of it; copied. To a HEAD nothing is sent. No length has no effect. */
void http_exchange_write(struct http_exchange *x, const char *bytes, size_t len);

/* How many bytes wait for the client. While it is more than a little, wait for on_drain: it comes
 * after every write that leaves some. */
size_t http_exchange_unsent(const struct http_exchange *x);

/* The answer is complete. The exchange is over. */
void http_exchange_end(struct http_exchange *x);

/* The answer can't be completed: cuts the connection, so that nobody takes it for a whole one. The
 * exchange is over. */
void http_exchange_cut(struct http_exchange *x);

#endif
