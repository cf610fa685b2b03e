/*
 * server_world.h - wire/http/http_server.c in virtual time: pipes in place of clients, and a user that
 * responds according to the path.
 *
 *     server_world_init(&w, NULL);
 *     pipe = server_world_connect(&w);
 *     pipe_sends(pipe, GET("/hello"));
 *     server_world_wrote(&w, pipe, OK_TEXT("5") "hello");
 *     server_world_done(&w);
 *
 * "/hello" responds with hello, "/echo..." with path and query, "/kept" with 304, "/login" with the
 * body of the request, "/long" with 100,000 bytes, "/later" waits for server_world_reply(), "/pieces" for server_world_write() and _end(), "/close"
 * closes the server.
 */
#ifndef TEST_SERVER_WORLD_H
#define TEST_SERVER_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "pipe_stream.h"
#include "sim.h"
#include "wire/http/http_server.h"

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

#define STATUS_TEXT(status, extra, len)                                                    \
    "HTTP/1.1 " status "\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\n" extra \
    "Content-Length: " len "\r\n\r\n"
#define OK_TEXT(len) STATUS_TEXT("200 OK", "", len)

/* A refusal by the server itself. */
#define REFUSED(status, extra, len)                                      \
    "HTTP/1.1 " status "\r\nContent-Type: text/plain; charset=utf-8\r\n" \
    "Cache-Control: no-store\r\n" extra "Connection: close\r\nContent-Length: " len "\r\n\r\n"

enum {
    LONG = 100 * 1000,
};

struct server_world {
    struct http_server_user user;
    struct http_exchange_user exchange_user; /* of the current exchange */
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_server *server; /* NULL once closed */
    struct http_exchange *x;    /* of "/later" or "/pieces"; NULL: none */
    bool cut_in_drain, end_in_drain;
    int asked, drained, aborted;
};

/* cmocka's setup and teardown, with default limits: `*state` is the world. */
int server_world_setup(void **state);
int server_world_teardown(void **state);

#define SERVER_TEST(test) \
    cmocka_unit_test_setup_teardown(test, server_world_setup, server_world_teardown)

void server_world_init(struct server_world *w, const struct http_server_limits *limits);
void server_world_done(struct server_world *w); /* closes too */

struct pipe *server_world_connect(struct server_world *w);

/* Checks that exactly @text was written to the client since the last call. */
void server_world_wrote(struct server_world *w, struct pipe *pipe, const char *text);

void server_world_reply(struct server_world *w, const char *text);
void server_world_write(struct server_world *w, const char *text);
void server_world_end(struct server_world *w);

#endif
