/*
 * http_world.h - a connection of wire/http_conn.c, one who asks, and a pipe in place of the server.
 *
 *     http_world_init(&w);
 *     http_world_answer(&w, HELLO, false);            asks, and sends that
 *     http_world_told(&w, "200;hello;end");
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
#include "wire/http_conn.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define HELLO   OK_HEAD "Content-Length: 5\r\n\r\nhello"
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"

enum asker_moment {
    AT_NO_TIME,
    AT_HEAD,
    AT_BODY,
    AT_END,
};

/* Makes requests and writes down what is told. */
struct asker {
    struct http_user user;
    struct http_conn *conn; /* NULL once closed */
    struct buf told;        /* "200;hello;end" */
    struct buf body;
    size_t take;    /* at most so many bytes in one call; 0: all */
    bool quiet;     /* bodies go to `body` only */
    bool ask_again; /* resume() in each call that brings bytes */
    enum asker_moment close_at, pause_at;
    const struct http_request *again; /* made once more inside on_end, if it can be */
    size_t empty_calls;
    bool paused;
    bool asking; /* inside http_conn_request() */
    struct inf_error why;
};

struct http_world {
    struct sim sim;
    struct pipe_dialer pipes;
    struct pipe *pipe;
    struct asker asker;
};

extern const struct http_request ASKER_GET; /* GET /api/v1/pods from h */

void asker_init(struct asker *a);
void asker_done(struct asker *a); /* closes too */
void asker_ask(struct asker *a, const struct http_request *request);

/* How the pipe is: see pipe_dialer. */
struct http_plan {
    struct http_limits limits;
    size_t cut;
    uint64_t seed;
    bool hold;
};

void http_world_open(struct http_world *w, const struct http_plan *plan);
void http_world_init(struct http_world *w); /* by no plan */
void http_world_done(struct http_world *w);

/* Asks, is answered @wire, and then with the end of the connection if @end. */
void http_world_answer(struct http_world *w, const char *wire, bool end);

void http_world_resume(struct http_world *w);

/* Just this was told since the last time. */
void http_world_told(struct http_world *w, const char *told);

/* The same, ending in a failure: this one, after which the connection is closed. */
void http_world_failed(struct http_world *w, const char *told, int code, const char *text);

#endif
