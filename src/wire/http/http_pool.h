/*
 * http_pool.h - reuses connections to one server, which saves the handshake.
 *
 *     call = http_pool_request(pool, &request, &user);      callbacks as in http_conn.h
 *     http_call_close(call);                                also after its end
 *
 * A connection is returned to the pool when its response is complete and HTTP allows another
 * request. The server may close an idle connection just when it is used again; a request that got
 * no byte of a response on a reused connection is therefore repeated once, on a new connection,
 * without an error. A failure on a new connection is reported. After a suspend of the host, idle
 * connections are not reused.
 */
#ifndef WIRE_HTTP_POOL_H
#define WIRE_HTTP_POOL_H

#include "wire/http/http_conn.h"

struct http_pool;
struct http_call;

enum {
    HTTP_POOL_MAX = 4,             /* LIMIT: idle connections; the oldest one is closed */
    HTTP_POOL_IDLE_MS = 60 * 1000, /* closed after this time; API servers close after 90 s */
};

/* Does not dial yet. Copies @host and @limits (NULL: the defaults); the others must outlive it. */
struct http_pool *http_pool_new(struct clock *clock, struct dialer *dialer, const char *host,
                                uint16_t port, const struct http_limits *limits);

/* Closes the idle connections now, and those in use after their response: the credentials they were
 * opened with are no longer valid. */
void http_pool_drop(struct http_pool *pool);

/* Uses another server address from now on, after http_pool_drop(). Copies @host; @dialer must
 * outlive the pool, or the next move and the cut after it. */
void http_pool_move(struct http_pool *pool, struct dialer *dialer, const char *host, uint16_t port);

/* Ends calls on connections from before the last drop with @why. Paused calls get on_end after
 * resume, but their connections are closed too. Must be called from the loop, because it calls
 * on_end. */
void http_pool_cut(struct http_pool *pool, const struct inf_error *why);

/* All calls must be closed. NULL is allowed. */
void http_pool_free(struct http_pool *pool);

/* Sends @request (copied) on an idle or a new connection. Calls @user as http_conn_request() does,
 * never before it returns. */
struct http_call *http_pool_request(struct http_pool *pool, const struct http_request *request,
                                    struct http_user *user);

/* As in http_conn.h. */
void http_call_pause(struct http_call *call);
void http_call_resume(struct http_call *call);

/* May be called at any time, also inside a callback. No callback is made afterwards. Before the end
 * of the response it also closes the connection. NULL is allowed. */
void http_call_close(struct http_call *call);

#endif
