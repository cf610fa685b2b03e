/*
 * test_http_server_limits.c - misbehaving clients: slow, silent, endless, gone. None of them
 * may affect another client, and the server can be closed at any time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/rng.h"
#include "server_world.h"

/* Another client is served as usual. */
static void others_are_served(struct server_world *w)
{
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe));
}

/* ---- refusals ---- */

static void refused(struct server_world *w, const char *request, const char *first_line)
{
    struct pipe *pipe = server_world_connect(w);
    int asked = w->asked;
    pipe_sends(pipe, request);
    sim_run(&w->sim);
    assert_int_equal(w->asked, asked);
    if (strncmp(pipe->written.bytes, first_line, strlen(first_line)) != 0)
        fail_msg("%s: %.60s", first_line, pipe->written.bytes);
    assert_non_null(memmem(pipe->written.bytes, pipe->written.len, "Connection: close\r\n", 19));
    assert_false(pipe_closed(pipe)); /* it may still read the refusal */
    pipe_sends(pipe, GET("/hello"));
    sim_run(&w->sim);
    assert_int_equal(w->asked, asked); /* further requests are ignored */
    sim_advance(&w->sim, 2000);
    assert_true(pipe_closed(pipe));
    others_are_served(w);
}

static void refuses_invalid_requests(void **state)
{
    static const char *const garbage[] = {"\x16\x03\x01\x02\x03\x01\x02\xfc\x03", "\r\n\r\n\r\nx",
                                          "GET\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",
                                          "GET / HTTP/1.1\r\n\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++)
        refused(*state, garbage[i], "HTTP/1.1 400 Bad Request\r\n");
    refused(*state, "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 413 Content Too Large\r\n");
    refused(*state, "GET / HTTP/1.1\r\nHost: h\r\nExpect: more\r\n\r\n",
            "HTTP/1.1 417 Expectation Failed\r\n");
    refused(*state, "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
            "HTTP/1.1 505 HTTP Version Not Supported\r\n");
}

static void refuses_other_methods(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "DELETE /hello HTTP/1.1\r\nHost: h\r\n\r\n" GET("/hello"));
    server_world_wrote(w, pipe,
                       REFUSED("405 Method Not Allowed", "Allow: GET, HEAD\r\n",
                               "32") "only GET and HEAD are supported\n");
    refused(w, "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n");
    refused(w, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n");
}

static void refuses_endless_heads(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET / HTTP/1.1\r\nHost: h\r\nX: ");
    for (int i = 0; i < 100 * 1024; i++)
        pipe_sends(pipe, "x");
    sim_run(&w->sim);
    assert_int_equal(strncmp(pipe->written.bytes, "HTTP/1.1 431 ", 13), 0);
    assert_int_equal(pipe->to_read.len, 0); /* read and discarded */
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe)); /* the client has closed */
}

static void refuses_endless_targets(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET /");
    for (int i = 0; i < 100 * 1024; i++)
        pipe_sends(pipe, "x");
    sim_run(&w->sim);
    assert_int_equal(strncmp(pipe->written.bytes, "HTTP/1.1 414 ", 13), 0);
}

/* ---- time ---- */

static void times_out_a_slow_head_after_ten_seconds(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    sim_advance(&w->sim, 5000);
    pipe_sends(pipe, "G"); /* the timeout starts here */
    for (int i = 0; i < 99; i++) {
        sim_advance(&w->sim, 100);
        pipe_sends(pipe, i == 0 ? "ET / HTTP/1.1\r\nX: " : "x");
    }
    server_world_wrote(w, pipe, "");
    others_are_served(w);
    sim_advance(&w->sim, 100);
    server_world_wrote(w, pipe,
                       REFUSED("408 Request Timeout", "", "26") "the request took too long\n");
    sim_advance(&w->sim, 2000);
    assert_true(pipe_closed(pipe));
}

static void closes_a_silent_connection_without_a_response(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    sim_advance(&w->sim, 9999);
    pipe_sends(pipe, "\r\n"); /* an empty line is not a request */
    sim_run(&w->sim);
    assert_false(pipe_closed(pipe));
    sim_advance(&w->sim, 1);
    assert_true(pipe_closed(pipe));
    assert_int_equal(pipe->written.len, 0);
}

static void closes_an_idle_connection_after_a_minute(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
    sim_advance(&w->sim, 59999);
    pipe_sends(pipe, GET("/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
    sim_advance(&w->sim, 60000);
    assert_true(pipe_closed(pipe));
    assert_int_equal(pipe->written.len, 0);
}

static void has_no_timeout_for_the_handler(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later"));
    sim_advance(&w->sim, 3600 * 1000);
    server_world_reply(w, "late");
    server_world_wrote(w, pipe, OK_TEXT("4") "late");
    pipe_sends(pipe, GET("/pieces"));
    sim_advance(&w->sim, 3600 * 1000); /* a watch on which nothing happens */
    assert_non_null(w->x);
    server_world_end(w);
}

/* ---- slow readers ---- */

static void closes_a_client_that_does_not_read(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe->clogged = true;
    pipe_sends(pipe, GET("/long"));
    sim_advance(&w->sim, 29999);
    assert_false(pipe_closed(pipe));
    others_are_served(w);
    sim_advance(&w->sim, 1);
    assert_true(pipe_closed(pipe));
}

static void keeps_a_slow_client_that_makes_progress(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe->clogged = true;
    pipe_sends(pipe, GET("/long"));
    sim_run(&w->sim);
    for (int i = 0; i < 10; i++) {
        pipe->unsent -= HTTP_SERVER_PROGRESS;
        sim_advance(&w->sim, 30000);
        assert_false(pipe_closed(pipe));
    }
    pipe->unsent -= HTTP_SERVER_PROGRESS - 1;
    sim_advance(&w->sim, 30000);
    assert_true(pipe_closed(pipe));
}

static void detects_a_stalled_client_during_writes(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe->clogged = true;
    pipe_sends(pipe, GET("/pieces"));
    for (int i = 0; i < 29; i++) {
        sim_advance(&w->sim, 1000);
        server_world_write(w, "another piece, though the last one is not out");
    }
    sim_advance(&w->sim, 1000);
    assert_int_equal(w->aborted, 1);
    assert_true(pipe_closed(pipe));
}

/* A client can make us hold one response and HTTP_SERVER_IN_MAX bytes. */
static void limits_memory_of_a_client_that_does_not_read(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe->clogged = true;
    for (int i = 0; i < 1000; i++)
        pipe_sends(pipe, GET("/long"));
    sim_run(&w->sim);
    assert_int_equal(w->asked, 1);
    assert_true(pipe->written.len < LONG + 1000);
    assert_true(pipe->to_read.len > 20 * 1000); /* the rest stays with the client */
    others_are_served(w);
    pipe->clogged = false;
    sim_run(&w->sim);
    assert_int_equal(w->asked, 1000 + 1);
    assert_true(pipe->written.len > 1000 * (size_t)LONG);
}

/* ---- disconnected clients ---- */

static void releases_a_client_that_leaves_within_a_request(void **state)
{
    struct server_world *w = *state;
    static const char request[] = GET("/hello");
    for (size_t len = 0; len < strlen(request); len++) {
        struct pipe *pipe = server_world_connect(w);
        pipe_send(pipe, request, len);
        pipe_end(pipe, len % 2 ? INF_EEOF : INF_ENET, "gone");
        sim_run(&w->sim);
        assert_true(pipe_closed(pipe));
        assert_int_equal(pipe->written.len, 0);
    }
    assert_int_equal(w->asked, 0);
}

static void aborts_if_the_client_leaves_before_the_response(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later"));
    sim_run(&w->sim);
    pipe_end(pipe, INF_ENET, "reset");
    sim_run(&w->sim);
    assert_int_equal(w->aborted, 1);
    assert_true(pipe_closed(pipe));
}

/* The request arrived and the connection failed in one tick: no callback. */
static void drops_a_request_of_a_client_that_left_in_the_same_tick(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later"));
    pipe_end(pipe, INF_ENET, "reset");
    sim_run(&w->sim);
    assert_int_equal(w->asked + w->aborted, 0);
    assert_true(pipe_closed(pipe));
}

static void aborts_if_the_client_leaves_during_the_response(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/pieces"));
    sim_run(&w->sim);
    pipe_end(pipe, INF_EEOF, "FIN"); /* as when curl is stopped */
    sim_run(&w->sim);
    assert_int_equal(w->aborted, 1);
    assert_true(pipe_closed(pipe));
}

/* ---- many clients ---- */

static void serves_many_clients_at_a_time(void **state)
{
    struct server_world *w = *state;
    struct rng rng = {7};
    struct pipe *pipes[100];
    for (size_t i = 0; i < ARRAY_LEN(pipes); i++) {
        w->pipes.cut = 1 + rng_below(&rng, 20);
        w->pipes.seed = i + 1;
        pipes[i] = server_world_connect(w);
        pipe_sends(pipes[i], i % 3 == 0   ? GET("/hello") GET("/hello")
                             : i % 3 == 1 ? "GET /hello HTTP/1.1\r\nHos"
                                          : "garbage\r\n");
    }
    sim_run(&w->sim);
    for (size_t i = 0; i < ARRAY_LEN(pipes); i += 3)
        server_world_wrote(w, pipes[i], OK_TEXT("5") "hello" OK_TEXT("5") "hello");
    assert_int_equal(w->asked, 68);
    sim_advance(&w->sim, 70000);
    for (size_t i = 0; i < ARRAY_LEN(pipes); i++)
        assert_true(pipe_closed(pipes[i]));
}

/* ---- room for others ---- */

static struct pipe *connect_and_ask(struct server_world *w, const char *request)
{
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, request);
    sim_run(&w->sim);
    sim_advance(&w->sim, 1000);
    return pipe;
}

static void closes_the_longest_idle_connection_to_make_room(void **state)
{
    struct server_world *w = *state;
    struct pipe *first = connect_and_ask(w, GET("/hello"));
    struct pipe *reading = connect_and_ask(w, "GET /hello HT");
    struct pipe *asking = connect_and_ask(w, GET("/later"));
    struct pipe *silent = connect_and_ask(w, "");
    struct pipe *last = connect_and_ask(w, GET("/hello"));
    pipe_sends(first, GET("/hello")); /* its idle time begins again */
    sim_run(&w->sim);
    assert_true(http_server_make_room(w->server));
    assert_true(pipe_closed(silent));
    assert_true(http_server_make_room(w->server));
    assert_true(pipe_closed(last));
    assert_false(pipe_closed(first));
    assert_true(http_server_make_room(w->server));
    assert_true(pipe_closed(first));
    assert_false(http_server_make_room(w->server));
    assert_false(pipe_closed(reading) || pipe_closed(asking));
    assert_int_equal(w->aborted, 0);
}

static void closes_the_next_idle_connection_if_none_is_idle(void **state)
{
    struct server_world *w = *state;
    struct pipe *asking = connect_and_ask(w, GET("/later"));
    struct pipe *reading = connect_and_ask(w, "GET /hello HT");
    assert_false(http_server_make_room(w->server));
    server_world_reply(w, "done");
    sim_run(&w->sim);
    server_world_wrote(w, asking, OK_TEXT("4") "done");
    assert_true(pipe_closed(asking));
    pipe_sends(reading, "TP/1.1\r\nHost: h\r\n\r\n"); /* only one was closed */
    sim_run(&w->sim);
    server_world_wrote(w, reading, OK_TEXT("5") "hello");
    assert_false(pipe_closed(reading));
}

static void closes_no_connection_after_the_client_was_accepted(void **state)
{
    struct server_world *w = *state;
    struct pipe *asking = connect_and_ask(w, GET("/later"));
    assert_false(http_server_make_room(w->server));
    server_world_connect(w);
    server_world_reply(w, "done");
    sim_run(&w->sim);
    assert_false(pipe_closed(asking));
}

/* ---- closing ---- */

/* Closing releases everything in every state: checked by sim and ASan. */
static void can_be_closed_in_every_state(void **state)
{
    static const char *const sent[] = {"",
                                       "GET",
                                       GET("/hello"),
                                       GET("/later"),
                                       GET("/pieces"),
                                       GET("/long"),
                                       "bad\r\n\r\n",
                                       GET("/close"),
                                       GET("/hello") GET("/close") GET("/hello")};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sent); i++)
        for (int ticks = 0; ticks < 6; ticks++) {
            struct server_world w;
            struct pipe *pipe;
            server_world_init(&w, NULL);
            server_world_connect(&w)->clogged = true;
            pipe = server_world_connect(&w);
            pipe->clogged = i % 2;
            pipe_sends(pipe, sent[i]);
            for (int tick = 0; tick < ticks; tick++)
                sim_tick(&w.sim);
            server_world_done(&w);
            assert_int_equal(w.aborted, 0);
        }
}

static void uses_the_given_limits(void **state)
{
    struct http_server_limits limits = {.head_max = 64, .head_timeout_ms = 5};
    struct server_world w;
    struct pipe *pipe;
    (void)state;
    server_world_init(&w, &limits);
    pipe = server_world_connect(&w);
    pipe_sends(pipe, "GET /a HTTP/1.1\r\nHost: h\r\nA-header: which is too long for that\r\n\r\n");
    sim_run(&w.sim);
    assert_int_equal(strncmp(pipe->written.bytes, "HTTP/1.1 431 ", 13), 0);
    pipe = server_world_connect(&w);
    sim_advance(&w.sim, 5);
    assert_true(pipe_closed(pipe));
    server_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(refuses_invalid_requests),
        SERVER_TEST(refuses_other_methods),
        SERVER_TEST(refuses_endless_heads),
        SERVER_TEST(refuses_endless_targets),
        SERVER_TEST(times_out_a_slow_head_after_ten_seconds),
        SERVER_TEST(closes_a_silent_connection_without_a_response),
        SERVER_TEST(closes_an_idle_connection_after_a_minute),
        SERVER_TEST(has_no_timeout_for_the_handler),
        SERVER_TEST(closes_a_client_that_does_not_read),
        SERVER_TEST(keeps_a_slow_client_that_makes_progress),
        SERVER_TEST(detects_a_stalled_client_during_writes),
        SERVER_TEST(limits_memory_of_a_client_that_does_not_read),
        SERVER_TEST(releases_a_client_that_leaves_within_a_request),
        SERVER_TEST(aborts_if_the_client_leaves_before_the_response),
        SERVER_TEST(drops_a_request_of_a_client_that_left_in_the_same_tick),
        SERVER_TEST(aborts_if_the_client_leaves_during_the_response),
        SERVER_TEST(serves_many_clients_at_a_time),
        SERVER_TEST(closes_the_longest_idle_connection_to_make_room),
        SERVER_TEST(closes_the_next_idle_connection_if_none_is_idle),
        SERVER_TEST(closes_no_connection_after_the_client_was_accepted),
        cmocka_unit_test(can_be_closed_in_every_state),
        cmocka_unit_test(uses_the_given_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
