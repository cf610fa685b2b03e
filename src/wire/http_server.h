/*
 * http_server.h - a small HTTP/1.1 server: GET and HEAD, for health, metrics and the local API.
 *
 *     server = http_server_new(clock, NULL, &user);
 *     http_server_accept(server, stream);              for each that loop/listen.c gives
 *         -> user->on_request(user, request, x);       in the pump phase
 *     http_exchange_reply(x, 200, "text/plain", "ok\n", 3);
 *
 * Streams may be of any kind; the server takes care of keep-alive, pipelining, limits, timeouts and
 * bad requests. Nothing a client does or leaves undone costs another one more than its turn: per
 * connection there are at most HTTP_SERVER_IN_MAX bytes of further requests, one request and one
 * answer, and whoever is too slow is let go.
 */
#ifndef WIRE_HTTP_SERVER_H
#define WIRE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seam/clock.h"
#include "seam/stream.h"
#include "wire/http_exchange.h"
#include "wire/http_request_parser.h"

enum {
    HTTP_SERVER_IN_MAX = 4 * 1024, /* LIMIT: bytes kept of what a client sends ahead */
    HTTP_SERVER_PROGRESS = 1024,   /* LIMIT: who takes less in stall_timeout_ms is too slow */
};

struct http_server;
struct http_server_user;

struct http_server_user_ops {
    /*
     * Somebody asks: a GET or a HEAD. To be answered now or later: see http_exchange.h. @request is
     * good until the exchange is over.
     */
    void (*on_request)(struct http_server_user *user, const struct http_server_request *request,
                       struct http_exchange *x);
};

/* Embed as the first thing in whatever answers. */
struct http_server_user {
    const struct http_server_user_ops *ops;
};

/* 0 means the default beside it. */
struct http_server_limits {
    size_t head_max;           /* 16 KiB: request line and headers; over it: 431 */
    uint64_t head_timeout_ms;  /* 10 s: from the first byte of a request to its end; over it: 408 */
    uint64_t idle_timeout_ms;  /* 60 s: between two requests */
    uint64_t stall_timeout_ms; /* 30 s: without HTTP_SERVER_PROGRESS in taking an answer */
};

/* @clock and @user must outlive the server. @limits may be NULL. */
struct http_server *http_server_new(struct clock *clock, const struct http_server_limits *limits,
                                    struct http_server_user *user);

/* Serves whoever is at the other end of @stream, an open one, which is the server's from now on. */
void http_server_accept(struct http_server *server, struct stream *stream);

/*
 * Another client waits, and there is no room for its connection: closes the one that has been idle, without
 * a request under way, for the longest time. False if none is idle; then the next one that becomes idle
 * is closed, unless a connection is accepted before.
 */
bool http_server_make_room(struct http_server *server);

/* At any moment, also inside a callback. All connections are cut, and all exchanges are gone:
 * nothing is called afterwards, on_abort neither. NULL is fine. */
void http_server_close(struct http_server *server);

#endif
