/*
 * test_http_pool.c - connections that are used again: when, for how long, and what happens to those
 * that the other side has closed meanwhile.
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
#include "wire/http_pool.h"

#define REQUEST "GET /api/v1/pods HTTP/1.1\r\nHost: h\r\n\r\n"

struct world {
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_pool *pool;
};

static void world_init(struct world *w)
{
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pool = http_pool_new(&w->sim.clock, &w->pipes.dialer, "h", 6443, NULL);
}

static void world_done(struct world *w)
{
    http_pool_free(w->pool);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
}

static void ask(struct world *w, struct call_recorder *c)
{
    call_recorder_request(c, w->pool, &GET_PODS);
    sim_run(&w->sim);
}

static void answer(struct world *w, struct pipe *pipe, const char *wire)
{
    assert_true(pipe_wrote(pipe, REQUEST));
    pipe_sends(pipe, wire);
    sim_run(&w->sim);
}

/* Asks, is answered, is done. Returns the connection. */
static struct pipe *ask_once(struct world *w, const char *wire, const char *text)
{
    struct call_recorder c;
    ask(w, &c);
    answer(w, w->pipes.last, wire);
    call_recorder_expect(&c, text);
    return w->pipes.last;
}

static void a_complete_answer_leaves_its_connection_to_the_next_request(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    for (int i = 0; i < 10; i++)
        ask_once(&w, HELLO, "200;hello;end");
    ask_once(&w, CHUNKED "2\r\nhi\r\n0\r\nTrailer: x\r\n\r\n", "200;hi;end");
    ask_once(&w, "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nnone", "404;none;end");
    ask_once(&w, "HTTP/1.1 204 No\r\n\r\n", "204;;end");
    ask_once(&w, "HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", "304;;end");
    ask_once(&w, "HTTP/1.1 103 Wait\r\nLink: x\r\n\r\n" HELLO, "200;hello;end");
    assert_int_equal(w.pipes.n_dialled, 1);
    world_done(&w);
}

static void not_so_if_http_says_no(void **state)
{
    static const char *const answers[] = {
        OK_HEAD "Connection: close\r\nContent-Length: 5\r\n\r\nhello",
        OK_HEAD "connection: Close\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        HELLO "HTTP/1.1 ", /* somebody's, but not ours */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct world w;
        world_init(&w);
        assert_true(pipe_closed(ask_once(&w, answers[i], "200;hello;end")));
        ask_once(&w, HELLO, "200;hello;end");
        assert_int_equal(w.pipes.n_dialled, 2);
        world_done(&w);
    }
}

static void a_call_given_up_closes_its_connection(void **state)
{
    struct world w;
    struct call_recorder c;
    (void)state;
    world_init(&w);
    ask(&w, &c);
    pipe_sends(w.pipes.last, OK_HEAD "Content-Length: 5\r\n\r\nhel");
    sim_run(&w.sim);
    call_recorder_expect(&c, "200;hel");
    assert_true(pipe_closed(w.pipes.last));
    world_done(&w);
}

/* Not even worth a word: the next request has a new one. */
static void an_idle_connection_that_ends_or_speaks_is_dropped(void **state)
{
    struct world w;
    struct pipe *pipe;
    (void)state;
    world_init(&w);
    pipe = ask_once(&w, HELLO, "200;hello;end");
    pipe_end(pipe, INF_EEOF, "FIN");
    sim_run(&w.sim);
    assert_true(pipe_closed(pipe));
    pipe = ask_once(&w, HELLO, "200;hello;end");
    pipe_sends(pipe, "HTTP/1.1 408 Too late\r\n\r\n");
    sim_run(&w.sim);
    assert_true(pipe_closed(pipe));
    ask_once(&w, HELLO, "200;hello;end");
    assert_int_equal(w.pipes.n_dialled, 3);
    world_done(&w);
}

static void a_minute_idle_is_enough(void **state)
{
    struct world w;
    struct pipe *pipe;
    (void)state;
    world_init(&w);
    pipe = ask_once(&w, HELLO, "200;hello;end");
    sim_advance(&w.sim, HTTP_POOL_IDLE_MS - 1);
    assert_ptr_equal(ask_once(&w, HELLO, "200;hello;end"), pipe);
    sim_advance(&w.sim, HTTP_POOL_IDLE_MS - 1);
    assert_false(pipe_closed(pipe));
    sim_advance(&w.sim, 1);
    assert_true(pipe_closed(pipe));
    world_done(&w);
}

/* The server has closed it long ago, and what it said about that nobody heard. */
static void what_was_idle_while_the_host_slept_is_not_used_again(void **state)
{
    struct world w;
    struct pipe *pipe;
    (void)state;
    world_init(&w);
    pipe = ask_once(&w, HELLO, "200;hello;end");
    sim_sleep(&w.sim, 10 * 1000);
    assert_true(pipe_closed(pipe));
    ask_once(&w, HELLO, "200;hello;end");
    ask_once(&w, HELLO, "200;hello;end");
    assert_int_equal(w.pipes.n_dialled, 2);
    world_done(&w);
}

static void only_so_many_are_kept_and_the_oldest_goes_first(void **state)
{
    enum {
        N = HTTP_POOL_MAX + 2
    };
    struct world w;
    struct call_recorder callers[N];
    struct pipe *pipes[N];
    (void)state;
    world_init(&w);
    for (int i = 0; i < N; i++) {
        ask(&w, &callers[i]);
        pipes[i] = w.pipes.last;
    }
    assert_int_equal(w.pipes.n_dialled, N);
    for (int i = 0; i < N; i++) {
        sim_advance(&w.sim, 1000);
        answer(&w, pipes[i], HELLO);
        call_recorder_expect(&callers[i], "200;hello;end");
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(pipe_closed(pipes[i]), i < N - HTTP_POOL_MAX);
    ask(&w, &callers[0]); /* the one used last is used next */
    answer(&w, pipes[N - 1], HELLO);
    call_recorder_expect(&callers[0], "200;hello;end");
    sim_advance(&w.sim, HTTP_POOL_IDLE_MS - 3000); /* the third of six, the oldest kept, is done */
    assert_true(pipe_closed(pipes[2]));
    assert_false(pipe_closed(pipes[3]));
    world_done(&w);
}

/* ---- the free retry ---- */

static void a_used_connection_that_dies_without_a_byte_is_replaced_unsaid(void **state)
{
    static const int ways[] = {INF_EEOF, INF_ECUT, INF_ENET};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct world w;
        struct call_recorder c;
        struct pipe *first;
        world_init(&w);
        first = ask_once(&w, HELLO, "200;hello;end");
        ask(&w, &c);
        assert_true(pipe_wrote(first, REQUEST));
        pipe_end(first, ways[i], "it is gone");
        sim_run(&w.sim);
        assert_true(pipe_closed(first));
        assert_int_equal(w.pipes.n_dialled, 2);
        answer(&w, w.pipes.last, HELLO); /* the whole request, once more */
        call_recorder_expect(&c, "200;hello;end");
        ask_once(&w, HELLO, "200;hello;end");
        assert_int_equal(w.pipes.n_dialled, 2);
        world_done(&w);
    }
}

static void the_retry_is_free_once(void **state)
{
    struct world w;
    struct call_recorder c;
    (void)state;
    world_init(&w);
    ask_once(&w, HELLO, "200;hello;end");
    ask(&w, &c);
    pipe_end(w.pipes.last, INF_ENET, "reset");
    sim_run(&w.sim);
    pipe_end(w.pipes.last, INF_ENET, "reset again");
    sim_run(&w.sim);
    call_recorder_expect(&c, ";h:6443: reset again");
    assert_int_equal(w.pipes.n_dialled, 2);
    world_done(&w);
}

static void a_new_connection_has_no_second_try(void **state)
{
    struct world w;
    struct call_recorder c;
    (void)state;
    world_init(&w);
    ask(&w, &c);
    pipe_end(w.pipes.last, INF_EEOF, "FIN");
    sim_run(&w.sim);
    call_recorder_expect(&c, ";h:6443 closed the connection before it responded");
    assert_int_equal(w.pipes.n_dialled, 1);
    world_done(&w);
}

/* The first byte says that the server has our request. */
static void nor_has_one_that_has_begun_to_answer(void **state)
{
    struct world w;
    struct call_recorder c;
    (void)state;
    world_init(&w);
    ask_once(&w, HELLO, "200;hello;end");
    ask(&w, &c);
    pipe_sends(w.pipes.last, "H");
    pipe_end(w.pipes.last, INF_EEOF, "FIN");
    sim_run(&w.sim);
    call_recorder_expect(&c, ";h:6443 closed the connection in the head of a response");
    assert_int_equal(w.pipes.n_dialled, 1);
    world_done(&w);
}

static void nor_one_that_is_silent(void **state)
{
    struct world w;
    struct call_recorder c;
    (void)state;
    world_init(&w);
    ask_once(&w, HELLO, "200;hello;end");
    ask(&w, &c);
    sim_advance(&w.sim, 35 * 1000);
    call_recorder_expect(&c, ";no response from h:6443 within 35s");
    assert_int_equal(w.pipes.n_dialled, 1);
    world_done(&w);
}

/* ---- the rest ---- */

static void dropped_connections_don_t_come_back(void **state)
{
    struct world w;
    struct call_recorder c;
    struct pipe *idle, *busy;
    (void)state;
    world_init(&w);
    ask(&w, &c);
    busy = w.pipes.last;
    idle = ask_once(&w, HELLO, "200;hello;end");
    http_pool_drop(w.pool);
    assert_true(pipe_closed(idle));
    assert_false(pipe_closed(busy));
    answer(&w, busy, HELLO);
    call_recorder_expect(&c, "200;hello;end");
    assert_true(pipe_closed(busy));
    world_done(&w);
}

static void a_held_call_is_told_nothing_until_it_goes_on(void **state)
{
    struct world w;
    struct call_recorder c;
    (void)state;
    world_init(&w);
    ask_once(&w, HELLO, "200;hello;end");
    call_recorder_request(&c, w.pool, &GET_PODS);
    http_call_pause(c.call);
    pipe_sends(w.pipes.last, HELLO);
    sim_advance(&w.sim, 100 * 1000);
    assert_int_equal(c.events.len, 0);
    http_call_resume(c.call);
    sim_run(&w.sim);
    http_call_resume(c.call); /* over: harmless */
    call_recorder_expect(&c, "200;hello;end");
    assert_int_equal(w.pipes.n_dialled, 1);
    world_done(&w);
}

static void old_calls_can_be_cut(void **state)
{
    struct world w;
    struct call_recorder watch, held, fresh;
    struct inf_error why = {.code = INF_ECUT, .text = "cut"};
    (void)state;
    world_init(&w);
    ask(&w, &watch);
    answer(&w, w.pipes.last, CHUNKED "2\r\nhi\r\n");
    ask(&w, &held);
    answer(&w, w.pipes.last, CHUNKED "3\r\nhey\r\n");
    http_call_pause(held.call);
    http_pool_drop(w.pool);
    ask(&w, &fresh);
    http_pool_cut(w.pool, &why);
    call_recorder_expect(&watch, "200;hi;cut");
    http_call_resume(held.call);
    pipe_sends(w.pipes.last, HELLO);
    sim_run(&w.sim);
    call_recorder_expect(&fresh, "200;hello;end");
    call_recorder_expect(&held, "200;hey;cut");
    assert_int_equal(w.pipes.n_dialled, 3);
    world_done(&w);
}

/* On the old connection it has no more to hear; but it is told so only when it listens. */
static void a_held_call_that_was_cut_hears_of_it_when_it_goes_on(void **state)
{
    struct world w;
    struct call_recorder held, gone;
    struct inf_error why = {.code = INF_ECUT, .text = "cut"};
    (void)state;
    world_init(&w);
    ask(&w, &held);
    answer(&w, w.pipes.last, CHUNKED "3\r\nhey\r\n");
    ask(&w, &gone);
    http_call_pause(held.call);
    http_call_pause(gone.call);
    http_pool_drop(w.pool);
    http_pool_cut(w.pool, &why);
    assert_true(pipe_closed(w.pipes.last));
    sim_advance(&w.sim, 3600 * 1000);
    http_call_resume(held.call);
    http_call_resume(gone.call);
    http_call_pause(held.call); /* not yet, after all */
    call_recorder_expect(&gone, "");
    sim_run(&w.sim);
    assert_int_equal(held.events.len, strlen("200;hey"));
    http_call_resume(held.call);
    sim_run(&w.sim);
    http_call_resume(held.call); /* over: harmless */
    sim_run(&w.sim);
    call_recorder_expect(&held, "200;hey;cut");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complete_answer_leaves_its_connection_to_the_next_request),
        cmocka_unit_test(not_so_if_http_says_no),
        cmocka_unit_test(a_call_given_up_closes_its_connection),
        cmocka_unit_test(an_idle_connection_that_ends_or_speaks_is_dropped),
        cmocka_unit_test(a_minute_idle_is_enough),
        cmocka_unit_test(what_was_idle_while_the_host_slept_is_not_used_again),
        cmocka_unit_test(only_so_many_are_kept_and_the_oldest_goes_first),
        cmocka_unit_test(a_used_connection_that_dies_without_a_byte_is_replaced_unsaid),
        cmocka_unit_test(the_retry_is_free_once),
        cmocka_unit_test(a_new_connection_has_no_second_try),
        cmocka_unit_test(nor_has_one_that_has_begun_to_answer),
        cmocka_unit_test(nor_one_that_is_silent),
        cmocka_unit_test(dropped_connections_don_t_come_back),
        cmocka_unit_test(old_calls_can_be_cut),
        cmocka_unit_test(a_held_call_is_told_nothing_until_it_goes_on),
        cmocka_unit_test(a_held_call_that_was_cut_hears_of_it_when_it_goes_on),
    };
    return cmocka_run_group_tests_name("http_pool", tests, NULL, NULL);
}
