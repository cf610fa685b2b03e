/*
 * test_http_server.c - valid requests and their responses, for every split.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "server_world.h"
#include "split.h"

/* ---- immediate responses ---- */

static void responds_to_a_request(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
    pipe_sends(pipe, GET("/echo/a%20b?c=d"));
    server_world_wrote(w, pipe, STATUS_TEXT("200 OK", "X-Echo: yes\r\n", "13") "/echo/a b|c=d");
    pipe_sends(pipe, GET("/nothing"));
    server_world_wrote(w, pipe, STATUS_TEXT("404 Not Found", "", "0"));
    assert_false(pipe_closed(pipe));
}

static void sends_no_body_for_head(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n");
    server_world_wrote(w, pipe, OK_TEXT("5"));
    pipe_sends(pipe, GET("/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
}

static void sends_neither_body_nor_length_for_304(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/kept") GET("/hello"));
    server_world_wrote(w, pipe,
                       "HTTP/1.1 304 Not Modified\r\nContent-Type: text/plain\r\n"
                       "Cache-Control: immutable\r\n\r\n" OK_TEXT("5") "hello");
}

static void closes_after_connection_close(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" GET("/hello"));
    server_world_wrote(w, pipe, STATUS_TEXT("200 OK", "Connection: close\r\n", "5") "hello");
    assert_true(pipe_closed(pipe));
}

static void closes_after_http_1_0_unless_keep_alive(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    server_world_wrote(w, pipe, STATUS_TEXT("200 OK", "Connection: keep-alive\r\n", "5") "hello");
    pipe_sends(pipe, "GET /hello HTTP/1.0\r\n\r\n");
    server_world_wrote(w, pipe, STATUS_TEXT("200 OK", "Connection: close\r\n", "5") "hello");
    assert_true(pipe_closed(pipe));
}

static void accepts_absolute_targets(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("http://h:9470/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
}

static void accepts_post_at_one_path(void **state)
{
    static const struct http_server_limits limits = {.post_path = "/login"};
    struct server_world w;
    struct pipe *pipe;
    (void)state;
    server_world_init(&w, &limits);
    pipe = server_world_connect(&w);
    pipe_sends(pipe, "POST /login HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nco");
    server_world_wrote(&w, pipe, "");
    pipe_sends(pipe, "de" GET("/hello"));
    server_world_wrote(&w, pipe, OK_TEXT("4") "code" OK_TEXT("5") "hello");
    pipe_sends(pipe, "POST /hello HTTP/1.1\r\nHost: h\r\n\r\n");
    server_world_wrote(&w, pipe,
                       REFUSED("405 Method Not Allowed", "Allow: GET, HEAD\r\n",
                               "32") "only GET and HEAD are supported\n");
    server_world_done(&w);
}

/* ---- several requests ---- */

static void play(const void *ctx, struct str input, struct split split)
{
    struct server_world w;
    struct pipe *pipe;
    struct str piece;
    server_world_init(&w, NULL);
    pipe = server_world_connect(&w);
    while (split_next(&split, &input, &piece)) {
        pipe_send(pipe, piece.at, piece.len);
        sim_run(&w.sim);
    }
    server_world_wrote(&w, pipe, ctx);
    assert_int_equal(w.sim.ticks < 3000, true); /* no busy loop */
    server_world_done(&w);
}

static void serves_pipelined_requests_for_all_splits(void **state)
{
    (void)state;
    split_each(STR(GET("/hello") GET("/echo?1") "\r\n" GET("/none") GET("/hello") "BAD\r\n\r\n"),
               play,
               OK_TEXT("5") "hello" STATUS_TEXT("200 OK", "X-Echo: yes\r\n",
                                                "7") "/echo|1" STATUS_TEXT("404 Not Found", "", "0")
                   OK_TEXT("5") "hello" REFUSED("400 Bad Request", "",
                                                "27") "Invalid method encountered\n");
}

static void serves_the_next_request_after_the_response(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later") GET("/hello"));
    sim_run(&w->sim);
    assert_int_equal(w->asked, 1);
    assert_int_equal(pipe->written.len, 0);
    server_world_reply(w, "at last");
    server_world_wrote(w, pipe, OK_TEXT("7") "at last" OK_TEXT("5") "hello");
    assert_int_equal(w->asked, 2);
}

static void makes_no_callback_inside_a_call(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later") GET("/hello"));
    sim_run(&w->sim);
    server_world_reply(w, "");
    assert_int_equal(w->asked, 1);
}

/* ---- streamed responses ---- */

#define CHUNKED                                                                  \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\n" \
    "Transfer-Encoding: chunked\r\n\r\n"

static void streams_a_response(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/pieces"));
    server_world_wrote(w, pipe, CHUNKED);
    server_world_write(w, "one");
    server_world_write(w, "");
    server_world_write(w, "and twenty-two");
    server_world_wrote(w, pipe, "3\r\none\r\ne\r\nand twenty-two\r\n");
    server_world_end(w);
    server_world_wrote(w, pipe, "0\r\n\r\n");
    pipe_sends(pipe, GET("/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
}

static void ends_a_streamed_http_1_0_response_with_the_connection(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET /pieces HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    sim_run(&w->sim);
    server_world_write(w, "plain");
    server_world_wrote(w, pipe,
                       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                       "Cache-Control: no-store\r\nConnection: close\r\n\r\nplain");
    server_world_end(w);
    server_world_wrote(w, pipe, "");
    assert_true(pipe_closed(pipe));
}

static void streams_no_body_for_head(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "HEAD /pieces HTTP/1.1\r\nHost: h\r\n\r\n" GET("/hello"));
    server_world_wrote(w, pipe, CHUNKED);
    server_world_write(w, "unseen");
    server_world_end(w);
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
}

static void calls_on_drain_when_everything_is_sent(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/pieces"));
    sim_run(&w->sim);
    assert_int_equal(w->drained, 1); /* the head */
    pipe->clogged = true;
    server_world_write(w, "one");
    server_world_write(w, "two");
    sim_run(&w->sim);
    assert_int_equal(w->drained, 1);
    assert_true(http_exchange_unsent(w->x) > 6);
    pipe->clogged = false;
    w->end_in_drain = true;
    sim_run(&w->sim);
    assert_int_equal(w->drained, 2);
    server_world_wrote(w, pipe, CHUNKED "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
}

static void closes_the_connection_of_an_aborted_response(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    w->cut_in_drain = true;
    pipe_sends(pipe, GET("/pieces"));
    server_world_wrote(w, pipe, CHUNKED);
    assert_true(pipe_closed(pipe));
    assert_int_equal(w->aborted, 0);
}

/* ---- half-closed clients ---- */

static void responds_to_a_half_closed_client(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/hello") GET("/long") GET("/hello"));
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe));
    assert_int_equal(w->asked, 3);
}

static void responds_later_to_a_half_closed_client(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later"));
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
    assert_int_equal(w->aborted, 0);
    server_world_reply(w, "here");
    server_world_wrote(w, pipe, OK_TEXT("4") "here");
    assert_true(pipe_closed(pipe));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(responds_to_a_request),
        SERVER_TEST(sends_no_body_for_head),
        SERVER_TEST(sends_neither_body_nor_length_for_304),
        SERVER_TEST(closes_after_connection_close),
        SERVER_TEST(closes_after_http_1_0_unless_keep_alive),
        SERVER_TEST(accepts_absolute_targets),
        cmocka_unit_test(accepts_post_at_one_path),
        cmocka_unit_test(serves_pipelined_requests_for_all_splits),
        SERVER_TEST(serves_the_next_request_after_the_response),
        SERVER_TEST(makes_no_callback_inside_a_call),
        SERVER_TEST(streams_a_response),
        SERVER_TEST(ends_a_streamed_http_1_0_response_with_the_connection),
        SERVER_TEST(streams_no_body_for_head),
        SERVER_TEST(calls_on_drain_when_everything_is_sent),
        SERVER_TEST(closes_the_connection_of_an_aborted_response),
        SERVER_TEST(responds_to_a_half_closed_client),
        SERVER_TEST(responds_later_to_a_half_closed_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
