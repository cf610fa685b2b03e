/*
 * test_http_pool.c - which connections are reused, for how long, and what happens to those that
 * the server has closed in the meantime.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "call_recorder.h"
#include "http_world.h"
#include "wire/http/http_pool.h"

#define REQUEST "GET /api/v1/pods HTTP/1.1\r\nHost: h\r\n\r\n"

#define OK "200;hello;end"

struct pool_world {
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_pool *pool;
};

static int setup(void **state)
{
    struct pool_world *w = test_calloc(1, sizeof(*w));
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pool = http_pool_new(&w->sim.clock, &w->pipes.dialer, "h", 6443, NULL);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct pool_world *w = *state;
    http_pool_free(w->pool);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    test_free(w);
    return 0;
}

static void send_request(struct pool_world *w, struct call_recorder *c)
{
    call_recorder_request(c, w->pool, &GET_PODS);
    sim_run(&w->sim);
}

static void respond(struct pool_world *w, struct pipe *pipe, const char *wire)
{
    assert_true(pipe_wrote(pipe, REQUEST));
    pipe_sends(pipe, wire);
    sim_run(&w->sim);
}

static void end_connection(struct pool_world *w, struct pipe *pipe, int code, const char *text)
{
    pipe_end(pipe, code, text);
    sim_run(&w->sim);
}

/* One complete call, whose events are @expected. Returns the connection. */
static struct pipe *call_once(struct pool_world *w, const char *wire, const char *expected)
{
    struct call_recorder c;
    send_request(w, &c);
    respond(w, w->pipes.last, wire);
    call_recorder_expect(&c, expected);
    return w->pipes.last;
}

static void reuses_a_connection_after_a_complete_response(void **state)
{
    struct pool_world *w = *state;
    for (int i = 0; i < 10; i++)
        call_once(w, HELLO, OK);
    call_once(w, CHUNKED "2\r\nhi\r\n0\r\nTrailer: x\r\n\r\n", "200;hi;end");
    call_once(w, "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nnone", "404;none;end");
    call_once(w, "HTTP/1.1 204 No\r\n\r\n", "204;;end");
    call_once(w, "HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", "304;;end");
    call_once(w, "HTTP/1.1 103 Wait\r\nLink: x\r\n\r\n" HELLO, OK);
    assert_int_equal(w->pipes.n_dialled, 1);
}

static void does_not_reuse_a_connection_if_http_forbids_it(void **state)
{
    static const char *const responses[] = {
        OK_HEAD "Connection: close\r\nContent-Length: 5\r\n\r\nhello",
        OK_HEAD "connection: Close\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        HELLO "HTTP/1.1 ", /* the start of a response without a request */
    };
    struct pool_world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        size_t before = w->pipes.n_dialled;
        assert_true(pipe_closed(call_once(w, responses[i], OK)));
        call_once(w, HELLO, OK);
        assert_int_equal(w->pipes.n_dialled, before + 2);
        http_pool_drop(w->pool);
    }
}

static void closes_the_connection_of_an_incomplete_call(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder c;
    send_request(w, &c);
    pipe_sends(w->pipes.last, OK_HEAD "Content-Length: 5\r\n\r\nhel");
    sim_run(&w->sim);
    call_recorder_expect(&c, "200;hel");
    assert_true(pipe_closed(w->pipes.last));
}

static void drops_an_idle_connection_that_ends_or_sends_bytes(void **state)
{
    struct pool_world *w = *state;
    struct pipe *pipe = call_once(w, HELLO, OK);
    end_connection(w, pipe, INF_EEOF, "FIN");
    assert_true(pipe_closed(pipe));
    pipe = call_once(w, HELLO, OK);
    pipe_sends(pipe, "HTTP/1.1 408 Too late\r\n\r\n");
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe));
    call_once(w, HELLO, OK);
    assert_int_equal(w->pipes.n_dialled, 3);
}

static void closes_an_idle_connection_after_a_minute(void **state)
{
    struct pool_world *w = *state;
    struct pipe *pipe = call_once(w, HELLO, OK);
    sim_advance(&w->sim, HTTP_POOL_IDLE_MS - 1);
    assert_ptr_equal(call_once(w, HELLO, OK), pipe);
    sim_advance(&w->sim, HTTP_POOL_IDLE_MS - 1);
    assert_false(pipe_closed(pipe));
    sim_advance(&w->sim, 1);
    assert_true(pipe_closed(pipe));
}

/* The server may have closed it during the suspend, and its FIN was not received. */
static void does_not_reuse_an_idle_connection_after_a_suspend(void **state)
{
    struct pool_world *w = *state;
    struct pipe *pipe = call_once(w, HELLO, OK);
    sim_sleep(&w->sim, 10 * 1000);
    assert_true(pipe_closed(pipe));
    call_once(w, HELLO, OK);
    call_once(w, HELLO, OK);
    assert_int_equal(w->pipes.n_dialled, 2);
}

static void limits_idle_connections_and_closes_the_oldest(void **state)
{
    enum {
        N = HTTP_POOL_MAX + 2
    };
    struct pool_world *w = *state;
    struct call_recorder calls[N];
    struct pipe *pipes[N];
    for (int i = 0; i < N; i++) {
        send_request(w, &calls[i]);
        pipes[i] = w->pipes.last;
    }
    assert_int_equal(w->pipes.n_dialled, N);
    for (int i = 0; i < N; i++) {
        sim_advance(&w->sim, 1000);
        respond(w, pipes[i], HELLO);
        call_recorder_expect(&calls[i], OK);
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(pipe_closed(pipes[i]), i < N - HTTP_POOL_MAX);
    send_request(w, &calls[0]); /* uses the connection that was used last */
    respond(w, pipes[N - 1], HELLO);
    call_recorder_expect(&calls[0], OK);
    sim_advance(&w->sim, HTTP_POOL_IDLE_MS - 3000); /* the third of six, the oldest kept, expires */
    assert_true(pipe_closed(pipes[2]));
    assert_false(pipe_closed(pipes[3]));
}

/* ---- the retry ---- */

static void repeats_a_request_if_a_reused_connection_ends_without_a_response(void **state)
{
    static const int codes[] = {INF_EEOF, INF_ECUT, INF_ENET};
    struct pool_world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        size_t before = w->pipes.n_dialled;
        struct call_recorder c;
        struct pipe *first = call_once(w, HELLO, OK);
        send_request(w, &c);
        assert_true(pipe_wrote(first, REQUEST));
        end_connection(w, first, codes[i], "connection lost");
        assert_true(pipe_closed(first));
        assert_int_equal(w->pipes.n_dialled, before + 2);
        respond(w, w->pipes.last, HELLO); /* the whole request is sent again */
        call_recorder_expect(&c, OK);
        call_once(w, HELLO, OK);
        assert_int_equal(w->pipes.n_dialled, before + 2);
        http_pool_drop(w->pool);
    }
}

static void repeats_a_request_only_once(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder c;
    call_once(w, HELLO, OK);
    send_request(w, &c);
    end_connection(w, w->pipes.last, INF_ENET, "reset");
    end_connection(w, w->pipes.last, INF_ENET, "reset again");
    call_recorder_expect(&c, ";h:6443: reset again");
    assert_int_equal(w->pipes.n_dialled, 2);
}

static void does_not_repeat_a_request_on_a_new_connection(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder c;
    send_request(w, &c);
    end_connection(w, w->pipes.last, INF_EEOF, "FIN");
    call_recorder_expect(&c, ";h:6443 closed the connection before it responded");
    assert_int_equal(w->pipes.n_dialled, 1);
}

/* The first byte of a response means that the server has the request. */
static void does_not_repeat_a_request_after_the_first_byte_of_a_response(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder c;
    call_once(w, HELLO, OK);
    send_request(w, &c);
    pipe_sends(w->pipes.last, "H");
    end_connection(w, w->pipes.last, INF_EEOF, "FIN");
    call_recorder_expect(&c, ";h:6443 closed the connection in the head of a response");
    assert_int_equal(w->pipes.n_dialled, 1);
}

static void does_not_repeat_a_request_after_a_timeout(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder c;
    call_once(w, HELLO, OK);
    send_request(w, &c);
    sim_advance(&w->sim, 35 * 1000);
    call_recorder_expect(&c, ";no response from h:6443 within 35s");
    assert_int_equal(w->pipes.n_dialled, 1);
}

/* ---- drop, pause and cut ---- */

static void does_not_reuse_dropped_connections(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder c;
    struct pipe *idle, *busy;
    send_request(w, &c);
    busy = w->pipes.last;
    idle = call_once(w, HELLO, OK);
    http_pool_drop(w->pool);
    assert_true(pipe_closed(idle));
    assert_false(pipe_closed(busy));
    respond(w, busy, HELLO);
    call_recorder_expect(&c, OK);
    assert_true(pipe_closed(busy));
}

static void makes_no_callbacks_of_a_paused_call(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder c;
    call_once(w, HELLO, OK);
    call_recorder_request(&c, w->pool, &GET_PODS);
    http_call_pause(c.call);
    pipe_sends(w->pipes.last, HELLO);
    sim_advance(&w->sim, 100 * 1000);
    assert_int_equal(c.events.len, 0);
    http_call_resume(c.call);
    sim_run(&w->sim);
    http_call_resume(c.call); /* harmless after the end */
    call_recorder_expect(&c, OK);
    assert_int_equal(w->pipes.n_dialled, 1);
}

static void cuts_calls_from_before_the_drop(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder watch, paused, fresh;
    struct inf_error why = {.code = INF_ECUT, .text = "cut"};
    send_request(w, &watch);
    respond(w, w->pipes.last, CHUNKED "2\r\nhi\r\n");
    send_request(w, &paused);
    respond(w, w->pipes.last, CHUNKED "3\r\nhey\r\n");
    http_call_pause(paused.call);
    http_pool_drop(w->pool);
    send_request(w, &fresh);
    http_pool_cut(w->pool, &why);
    call_recorder_expect(&watch, "200;hi;cut");
    http_call_resume(paused.call);
    pipe_sends(w->pipes.last, HELLO);
    sim_run(&w->sim);
    call_recorder_expect(&fresh, OK);
    call_recorder_expect(&paused, "200;hey;cut");
    assert_int_equal(w->pipes.n_dialled, 3);
}

/* Its connection is closed at once. */
static void reports_the_cut_of_a_paused_call_after_resume(void **state)
{
    struct pool_world *w = *state;
    struct call_recorder paused, closed;
    struct inf_error why = {.code = INF_ECUT, .text = "cut"};
    send_request(w, &paused);
    respond(w, w->pipes.last, CHUNKED "3\r\nhey\r\n");
    send_request(w, &closed);
    http_call_pause(paused.call);
    http_call_pause(closed.call);
    http_pool_drop(w->pool);
    http_pool_cut(w->pool, &why);
    assert_true(pipe_closed(w->pipes.last));
    sim_advance(&w->sim, 3600 * 1000);
    http_call_resume(paused.call);
    http_call_resume(closed.call);
    http_call_pause(paused.call);
    call_recorder_expect(&closed, "");
    sim_run(&w->sim);
    assert_int_equal(paused.events.len, strlen("200;hey"));
    http_call_resume(paused.call);
    sim_run(&w->sim);
    http_call_resume(paused.call); /* harmless after the end */
    sim_run(&w->sim);
    call_recorder_expect(&paused, "200;hey;cut");
}

#define POOL_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POOL_TEST(reuses_a_connection_after_a_complete_response),
        POOL_TEST(does_not_reuse_a_connection_if_http_forbids_it),
        POOL_TEST(closes_the_connection_of_an_incomplete_call),
        POOL_TEST(drops_an_idle_connection_that_ends_or_sends_bytes),
        POOL_TEST(closes_an_idle_connection_after_a_minute),
        POOL_TEST(does_not_reuse_an_idle_connection_after_a_suspend),
        POOL_TEST(limits_idle_connections_and_closes_the_oldest),
        POOL_TEST(repeats_a_request_if_a_reused_connection_ends_without_a_response),
        POOL_TEST(repeats_a_request_only_once),
        POOL_TEST(does_not_repeat_a_request_on_a_new_connection),
        POOL_TEST(does_not_repeat_a_request_after_the_first_byte_of_a_response),
        POOL_TEST(does_not_repeat_a_request_after_a_timeout),
        POOL_TEST(does_not_reuse_dropped_connections),
        POOL_TEST(makes_no_callbacks_of_a_paused_call),
        POOL_TEST(cuts_calls_from_before_the_drop),
        POOL_TEST(reports_the_cut_of_a_paused_call_after_resume),
    };
    return cmocka_run_group_tests_name("http_pool", tests, NULL, NULL);
}
