/*
 * test_http_server.c - clients with manners: what they ask and what they get, however it is cut.
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

static int setup(void **state)
{
    static struct server_world w;
    server_world_init(&w, NULL);
    *state = &w;
    return 0;
}

static int teardown(void **state)
{
    server_world_done(*state);
    return 0;
}

/* ---- answers at once ---- */

static void a_request_is_answered(void **state)
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

static void a_head_has_no_body(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n");
    server_world_wrote(w, pipe, OK_TEXT("5"));
    pipe_sends(pipe, GET("/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
}

static void the_client_may_ask_for_the_end(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" GET("/hello"));
    server_world_wrote(w, pipe, STATUS_TEXT("200 OK", "Connection: close\r\n", "5") "hello");
    assert_true(pipe_closed(pipe));
}

static void http_1_0(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    server_world_wrote(w, pipe, STATUS_TEXT("200 OK", "Connection: keep-alive\r\n", "5") "hello");
    pipe_sends(pipe, "GET /hello HTTP/1.0\r\n\r\n");
    server_world_wrote(w, pipe, STATUS_TEXT("200 OK", "Connection: close\r\n", "5") "hello");
    assert_true(pipe_closed(pipe));
}

static void the_whole_form_of_a_target(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("http://h:9470/hello"));
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
}

/* ---- one after the other ---- */

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
    assert_int_equal(w.sim.ticks < 3000, true); /* nobody spins */
    server_world_done(&w);
}

static void pipelined_and_cut_anywhere(void **state)
{
    (void)state;
    split_each(STR(GET("/hello") GET("/echo?1") "\r\n" GET("/none") GET("/hello") "BAD\r\n\r\n"),
               play,
               OK_TEXT("5") "hello" STATUS_TEXT("200 OK", "X-Echo: yes\r\n",
                                                "7") "/echo|1" STATUS_TEXT("404 Not Found", "", "0")
                   OK_TEXT("5") "hello" REFUSED("400 Bad Request", "",
                                                "27") "Invalid method encountered\n");
}

static void the_next_waits_for_the_one_before(void **state)
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

static void nothing_is_called_inside_a_call(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later") GET("/hello"));
    sim_run(&w->sim);
    server_world_reply(w, "");
    assert_int_equal(w->asked, 1);
}

/* ---- in pieces ---- */

#define CHUNKED                                                                  \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\n" \
    "Transfer-Encoding: chunked\r\n\r\n"

static void an_answer_in_pieces(void **state)
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

static void pieces_for_http_1_0_end_with_the_connection(void **state)
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

static void pieces_for_a_head(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "HEAD /pieces HTTP/1.1\r\nHost: h\r\n\r\n" GET("/hello"));
    server_world_wrote(w, pipe, CHUNKED);
    server_world_write(w, "unseen");
    server_world_end(w);
    server_world_wrote(w, pipe, OK_TEXT("5") "hello");
}

static void the_writer_is_told_when_all_is_out(void **state)
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

static void what_cannot_be_completed_is_cut(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    w->cut_in_drain = true;
    pipe_sends(pipe, GET("/pieces"));
    server_world_wrote(w, pipe, CHUNKED);
    assert_true(pipe_closed(pipe));
    assert_int_equal(w->aborted, 0);
}

/* ---- clients that say no more ---- */

static void who_said_the_last_word_is_answered(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/hello") GET("/long") GET("/hello"));
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe));
    assert_int_equal(w->asked, 3);
}

static void also_later(void **state)
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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_request_is_answered),
        T(a_head_has_no_body),
        T(the_client_may_ask_for_the_end),
        T(http_1_0),
        T(the_whole_form_of_a_target),
        cmocka_unit_test(pipelined_and_cut_anywhere),
        T(the_next_waits_for_the_one_before),
        T(nothing_is_called_inside_a_call),
        T(an_answer_in_pieces),
        T(pieces_for_http_1_0_end_with_the_connection),
        T(pieces_for_a_head),
        T(the_writer_is_told_when_all_is_out),
        T(what_cannot_be_completed_is_cut),
        T(who_said_the_last_word_is_answered),
        T(also_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
