/*
 * http_pool.h - connections to one server that outlive their request: what was asked once can be
 * asked again without another handshake.
 *
 *     call = http_pool_request(pool, &request, &user);      head, body, end, as http_conn.h says
 *     http_call_close(call);                                also after its end
 *
 * A connection goes back when its answer is complete and HTTP allows another one. The server may
 * close an idle connection at the very moment we use it again; so a request that got not a single
 * byte on a used connection is made once more, on a new one, and nobody is told. On a new one, what
 * fails has failed. When the host has slept, none that was idle is used again.
 */
#ifndef WIRE_HTTP_POOL_H
#define WIRE_HTTP_POOL_H

#include "wire/http_conn.h"

struct http_pool;
struct http_call;

enum {
    HTTP_POOL_MAX = 4,             /* LIMIT: idle connections; the oldest one has to go */
    HTTP_POOL_IDLE_MS = 60 * 1000, /* they are closed after that; API servers do it at 90 s */
};

/* Dials nothing yet. Copies @host and @limits (NULL: the defaults); the others must outlive it. */
struct http_pool *http_pool_new(struct clock *clock, struct dialer *dialer, const char *host,
                                uint16_t port, const struct http_limits *limits);

/* Closes the idle connections, and those in use once they are done: the credentials they were
 * opened with don't count any more. */
void http_pool_drop(struct http_pool *pool);

/* Dials there from now on; http_pool_drop() for what is open. Copies @host; @dialer must outlive the pool, or the next
 * move and the cut after it. */
void http_pool_move(struct http_pool *pool, struct dialer *dialer, const char *host, uint16_t port);

/* Calls on connections from before the last drop end now, with @why; those that are paused are told
 * when they go on, but their connections are closed too. From the loop only: users are told. */
void http_pool_cut(struct http_pool *pool, const struct inf_error *why);

/* Every call has to be closed by now. NULL is fine. */
void http_pool_free(struct http_pool *pool);

/* Sends @request (copied), on a connection that is there or on a new one. @user is told as by
 * http_conn_request(), never before this returns. */
struct http_call *http_pool_request(struct http_pool *pool, const struct http_request *request,
                                    struct http_user *user);

/* As in http_conn.h. */
void http_call_pause(struct http_call *call);
void http_call_resume(struct http_call *call);

/* At any moment, also inside a callback; nothing is called afterwards. Before the end it closes the
 * connection too. NULL is fine. */
void http_call_close(struct http_call *call);

#endif
