/*
 * test_http_server_limits.c - clients without manners: slow, silent, endless, gone. None of them
 * may cost another one its answer, and closing may come at any moment.
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

/* Somebody else is served as if nothing were. */
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
    assert_false(pipe_closed(pipe)); /* it may still read that */
    pipe_sends(pipe, GET("/hello"));
    sim_run(&w->sim);
    assert_int_equal(w->asked, asked); /* nobody listens */
    sim_advance(&w->sim, 2000);
    assert_true(pipe_closed(pipe));
    others_are_served(w);
}

static void bad_requests(void **state)
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

static void other_methods(void **state)
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

static void heads_without_end(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, "GET / HTTP/1.1\r\nHost: h\r\nX: ");
    for (int i = 0; i < 100 * 1024; i++)
        pipe_sends(pipe, "x");
    sim_run(&w->sim);
    assert_int_equal(strncmp(pipe->written.bytes, "HTTP/1.1 431 ", 13), 0);
    assert_int_equal(pipe->to_read.len, 0); /* read and thrown away */
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe)); /* it knows, and has gone */
}

static void targets_without_end(void **state)
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

static void a_head_byte_by_byte_has_ten_seconds(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    sim_advance(&w->sim, 5000);
    pipe_sends(pipe, "G"); /* the clock begins here */
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

static void silence_is_answered_with_silence(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    sim_advance(&w->sim, 9999);
    pipe_sends(pipe, "\r\n"); /* is nothing */
    sim_run(&w->sim);
    assert_false(pipe_closed(pipe));
    sim_advance(&w->sim, 1);
    assert_true(pipe_closed(pipe));
    assert_int_equal(pipe->written.len, 0);
}

static void between_requests_there_is_a_minute(void **state)
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

static void who_answers_has_all_the_time(void **state)
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

static void a_reader_that_does_not_read(void **state)
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

static void a_slow_reader_that_moves(void **state)
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

static void a_writer_does_not_hide_a_stalled_reader(void **state)
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

/* One answer and a little more: that is all a client can make us hold. */
static void asking_and_asking_without_reading(void **state)
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

/* ---- gone ---- */

static void half_a_request_and_away(void **state)
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

static void away_before_the_answer(void **state)
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

/* The request came and the connection broke in one tick: the user hears of neither. */
static void away_before_it_was_even_told(void **state)
{
    struct server_world *w = *state;
    struct pipe *pipe = server_world_connect(w);
    pipe_sends(pipe, GET("/later"));
    pipe_end(pipe, INF_ENET, "reset");
    sim_run(&w->sim);
    assert_int_equal(w->asked + w->aborted, 0);
    assert_true(pipe_closed(pipe));
}

static void away_in_the_middle_of_the_answer(void **state)
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

/* ---- many ---- */

static void many_at_a_time(void **state)
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

static void the_connection_that_is_idle_for_the_longest_time_makes_room(void **state)
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

static void if_none_is_idle_the_next_one_that_becomes_idle_makes_room(void **state)
{
    struct server_world *w = *state;
    struct pipe *asking = connect_and_ask(w, GET("/later"));
    struct pipe *reading = connect_and_ask(w, "GET /hello HT");
    assert_false(http_server_make_room(w->server));
    server_world_reply(w, "done");
    sim_run(&w->sim);
    server_world_wrote(w, asking, OK_TEXT("4") "done");
    assert_true(pipe_closed(asking));
    pipe_sends(reading, "TP/1.1\r\nHost: h\r\n\r\n"); /* one was enough */
    sim_run(&w->sim);
    server_world_wrote(w, reading, OK_TEXT("5") "hello");
    assert_false(pipe_closed(reading));
}

static void who_was_let_in_meanwhile_needs_no_more_room(void **state)
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

/* Whatever the connections are at, closing leaves nothing behind: sim and ASan look. */
static void closing_in_every_state(void **state)
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

static void limits_can_be_set(void **state)
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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(bad_requests),
        T(other_methods),
        T(heads_without_end),
        T(targets_without_end),
        T(a_head_byte_by_byte_has_ten_seconds),
        T(silence_is_answered_with_silence),
        T(between_requests_there_is_a_minute),
        T(who_answers_has_all_the_time),
        T(a_reader_that_does_not_read),
        T(a_slow_reader_that_moves),
        T(a_writer_does_not_hide_a_stalled_reader),
        T(asking_and_asking_without_reading),
        T(half_a_request_and_away),
        T(away_before_the_answer),
        T(away_before_it_was_even_told),
        T(away_in_the_middle_of_the_answer),
        T(many_at_a_time),
        T(the_connection_that_is_idle_for_the_longest_time_makes_room),
        T(if_none_is_idle_the_next_one_that_becomes_idle_makes_room),
        T(who_was_let_in_meanwhile_needs_no_more_room),
        cmocka_unit_test(closing_in_every_state),
        cmocka_unit_test(limits_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
