/*
 * http_server.h - a small HTTP/1.1 server: GET and HEAD, and POST to at most one path; for health,
 * metrics and the local API.
 *
 *     server = http_server_new(clock, NULL, &user);
 *     http_server_accept(server, stream);              for each stream from loop/listen.c
 *         -> user->on_request(user, request, x);       in the pump phase
 *     http_exchange_reply(x, 200, "text/plain", "ok\n", 3);
 *
 * Streams may be of any kind. The server handles keep-alive, pipelining, limits, timeouts and
 * invalid requests. One client can't block another: a connection holds at most HTTP_SERVER_IN_MAX
 * bytes of further requests, one request and one response, and clients that are too slow are
 * disconnected.
 */
#ifndef WIRE_HTTP_SERVER_H
#define WIRE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "seam/clock.h"
#include "seam/stream.h"
#include "wire/http/http_exchange.h"
#include "wire/http/http_request_parser.h"

enum {
    HTTP_SERVER_IN_MAX = 4 * 1024, /* LIMIT: bytes kept of pipelined requests */
    HTTP_SERVER_PROGRESS =
        1024, /* LIMIT: a client that reads less in stall_timeout_ms is too slow */
};

struct http_server;
struct http_server_user;

struct http_server_user_ops {
    /*
     * A request arrived: GET or HEAD, or POST to limits.post_path. Respond now or later: see http_exchange.h. @request is valid
     * until the exchange is finished.
     */
    void (*on_request)(struct http_server_user *user, const struct http_server_request *request,
                       struct http_exchange *x);

    /* Appends the body of a response to a request that is refused with @status, and returns its content
     * type. NULL: @why as plain text. */
    const char *(*put_refusal)(struct http_server_user *user, int status, const char *why,
                               struct buf *out);
};

/* The first member of every user of a server. */
struct http_server_user {
    const struct http_server_user_ops *ops;
};

/* 0 selects the default given in the comment. */
struct http_server_limits {
    size_t head_max;           /* 16 KiB: request line and headers; over it: 431 */
    uint64_t head_timeout_ms;  /* 10 s: from the first byte of a request to its end; over it: 408 */
    uint64_t idle_timeout_ms;  /* 60 s: between two requests */
    uint64_t stall_timeout_ms; /* 30 s: without HTTP_SERVER_PROGRESS in reading a response */
    const char *post_path;     /* the path that accepts POST (borrowed); NULL: none does */
};

/* @clock and @user must outlive the server. @limits may be NULL. */
struct http_server *http_server_new(struct clock *clock, const struct http_server_limits *limits,
                                    struct http_server_user *user);

/* Serves the client on @stream, which is open. Takes ownership of @stream. */
void http_server_accept(struct http_server *server, struct stream *stream);

/* The same for a client that the user has identified: http_exchange_client() returns @client, which is
 * freed with free() after the connection. */
void http_server_accept_client(struct http_server *server, struct stream *stream, void *client);

/*
 * Makes room for a waiting client: closes the connection that has been idle, without a request in
 * progress, for the longest time. Returns false if none is idle; then the next one that becomes
 * idle is closed, unless a connection is accepted before.
 */
bool http_server_make_room(struct http_server *server);

/* The bytes of all responses that are not sent yet. */
size_t http_server_unsent(const struct http_server *server);

/* Closes all connections, in the same way as if the clients had disconnected: users of unfinished
 * exchanges get on_abort. The server accepts further connections. Not to be called inside a callback of
 * an exchange. */
void http_server_disconnect(struct http_server *server);

/* May be called at any time, also inside a callback. Closes all connections; exchanges are no
 * longer valid. No callback is made afterwards, not even on_abort. NULL is allowed. */
void http_server_close(struct http_server *server);

#endif
