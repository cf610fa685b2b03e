/*
 * http_world.h - a connection of wire/http/http_conn.c in virtual time, a client that uses it, and a pipe in
 * place of the server.
 *
 *     http_world_init(&w);
 *     http_world_respond(&w, HELLO, false);            sends a request; the server sends that
 *     http_world_expect(&w, "200;hello;end");
 *     http_world_done(&w);
 */
#ifndef TEST_HTTP_WORLD_H
#define TEST_HTTP_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "pipe_stream.h"
#include "sim.h"
#include "wire/http/http_conn.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define HELLO   OK_HEAD "Content-Length: 5\r\n\r\nhello"
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"

enum http_client_moment {
    AT_NO_TIME,
    AT_HEAD,
    AT_BODY,
    AT_END,
};

/* Sends requests and records the responses. */
struct http_client {
    struct http_user user;
    struct http_conn *conn; /* NULL once closed */
    struct buf events;      /* "200;hello;end" */
    struct buf body;
    size_t take;       /* bytes to take per call; 0: all */
    bool quiet;        /* bodies are not recorded in `events` */
    bool resume_again; /* resume() in each call that brings bytes */
    enum http_client_moment close_at, pause_at;
    const struct http_request *again; /* sent inside on_end, once, if the connection is reusable */
    size_t empty_calls;
    bool paused;
    bool sending; /* inside http_conn_request() */
    struct inf_error why;
};

struct http_world {
    struct sim sim;
    struct pipe_dialer pipes;
    struct pipe *pipe;
    struct http_client client;
};

extern const struct http_request GET_PODS; /* GET /api/v1/pods from h */

void http_client_init(struct http_client *a);
void http_client_done(struct http_client *a); /* closes too */
void http_client_send(struct http_client *a, const struct http_request *request);

/* Options of the pipe: see pipe_dialer. */
struct http_plan {
    struct http_limits limits;
    size_t cut;
    uint64_t seed;
    bool hold;
};

void http_world_open(struct http_world *w, const struct http_plan *plan);
void http_world_init(struct http_world *w); /* without options */
void http_world_done(struct http_world *w);

/* Sends a request; the server responds with @wire, and closes the connection if @end. */
void http_world_respond(struct http_world *w, const char *wire, bool end);

void http_world_resume(struct http_world *w);

/* Runs what is due, then compares with the events since the last call. */
void http_world_expect(struct http_world *w, const char *events);

/* The same for a request that failed with this error, which closes the connection. */
void http_world_expect_failure(struct http_world *w, const char *events, int code,
                               const char *text);

#endif
