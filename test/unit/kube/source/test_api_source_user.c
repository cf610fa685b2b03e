/*
 * test_api_source_user.c - operations of a user while a source is open: cancel, open again,
 * close, pause; and the budget of the loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "source_world.h"

/* Events of secrets-watchlist up to each callback, and all of them. */
static const char *const until[] = {
    [WORLD_IN_OPEN] = "open\n",
    [WORLD_IN_EVENT] = "open\nADDED default/db-password 508\n",
    [WORLD_IN_END] = "open\nADDED default/db-password 508\nBOOKMARK 583 end\n"
                     "INF_EEOF: " WATCH_END,
};

static void cancel(struct source_world *w)
{
    w->calling = true;
    source_cancel(w->source);
    w->calling = false;
}

static void cancel_and_request_again(struct source_world *w)
{
    cancel(w);
    source_world_open_version(w, SOURCE_WATCH, "7");
}

/* Plays secrets-watchlist, cut in pieces of @cut bytes, to a user that acts at @when. */
static void play_and(struct source_world *w, enum world_moment when,
                     void (*act)(struct source_world *w), size_t cut)
{
    source_world_init(w, "secrets", NULL);
    w->pipes.cut = cut;
    w->when = when;
    w->act = act;
    source_world_play(w, source_world_connect(w), "secrets-watchlist");
}

static void makes_no_callback_after_a_cancel_in_any_callback(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 100; cut += 33)
        for (int when = WORLD_IN_OPEN; when <= WORLD_IN_END; when++) {
            struct source_world w;
            play_and(&w, (enum world_moment)when, cancel, cut);
            source_world_expect(&w, until[when]);
            assert_int_equal(pipe_closed(w.pipes.last), when != WORLD_IN_END);
            source_world_done(&w);
        }
}

static void makes_no_callback_after_a_close_in_any_callback(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 100; cut += 33)
        for (int when = WORLD_IN_OPEN; when <= WORLD_IN_END; when++) {
            struct source_world w;
            play_and(&w, (enum world_moment)when, source_world_close, cut);
            source_world_expect(&w, until[when]);
            assert_int_equal(pipe_closed(w.pipes.last), when != WORLD_IN_END);
            source_world_done(&w);
        }
}

/* The second request starts clean: nothing of the first response is left, not even an incomplete
 * event. */
static void opens_the_next_request_in_any_callback(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 100; cut += 33)
        for (int when = WORLD_IN_OPEN; when <= WORLD_IN_END; when++) {
            struct source_world w;
            play_and(&w, (enum world_moment)when, cancel_and_request_again, cut);
            source_world_expect(&w, until[when]);
            assert_int_equal(w.pipes.n_dialled, when == WORLD_IN_END ? 1 : 2);
            buf_putc(&w.pipes.last->written, '\0');
            assert_non_null(strstr(w.pipes.last->written.bytes, "&resourceVersion=7 HTTP/1.1"));
            source_world_play(&w, w.pipes.last, "secrets-watchlist");
            source_world_expect(&w, until[WORLD_IN_END]);
            source_world_done(&w);
        }
}

static void opens_the_next_request_after_a_refusal(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "secrets", NULL);
    w.when = WORLD_IN_END;
    w.act = cancel_and_request_again;
    source_world_play(&w, source_world_connect(&w), "pods-list-rv-too-large");
    buf_clear(&w.events);
    source_world_play(&w, w.pipes.last, "badtoken-401"); /* without a delay of the first one */
    source_world_expect(&w,
                        "INF_EUNAUTHORIZED: kube.test:6443: server error: Unauthorized (401 "
                        "Unauthorized); no credentials were sent; the kubeconfig needs a user\n");
    source_world_done(&w);
}

static void can_be_cancelled_at_any_byte(void **state)
{
    static const char answer[] = WATCH_HEAD "4f\r\n" POD("a", "1") "\r\n" WATCH_LAST;
    (void)state;
    for (size_t len = 0; len < sizeof(answer); len++) {
        struct source_world w;
        source_world_init(&w, "pods", NULL);
        pipe_send(source_world_connect(&w), answer, len);
        sim_run(&w.sim);
        cancel(&w);
        cancel(&w); /* harmless */
        buf_clear(&w.events);
        source_world_play(&w, source_world_connect(&w), "secrets-watchlist");
        source_world_expect(&w, until[WORLD_IN_END]);
        source_world_done(&w);
    }
}

/* ---- pausing ---- */

static void hold(struct source_world *w)
{
    w->calling = true;
    source_pause(w->source);
    w->calling = false;
}

static void go_on(struct source_world *w)
{
    w->calling = true;
    source_resume(w->source);
    w->calling = false;
}

static void pause_and_resume(struct source_world *w)
{
    hold(w);
    go_on(w);
}

static void a_pause_in_any_callback_loses_nothing(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 100; cut += 33)
        for (int when = WORLD_IN_OPEN; when <= WORLD_IN_END; when++) {
            struct source_world w;
            play_and(&w, (enum world_moment)when, hold, cut);
            sim_advance(&w.sim, 3600 * 1000);
            source_world_expect(&w, until[when]);
            go_on(&w);
            sim_run(&w.sim);
            source_world_expect(&w, until[WORLD_IN_END] + strlen(until[when]));
            source_world_done(&w);
        }
}

static void pause_and_resume_in_one_callback_have_no_effect(void **state)
{
    (void)state;
    for (int when = WORLD_IN_OPEN; when <= WORLD_IN_END; when++) {
        struct source_world w;
        play_and(&w, (enum world_moment)when, pause_and_resume, 0);
        source_world_expect(&w, until[WORLD_IN_END]);
        source_world_done(&w);
    }
}

static void a_pause_outlives_the_request(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "secrets", NULL);
    hold(&w);
    source_world_play(&w, source_world_connect(&w), "secrets-watchlist");
    source_world_expect(&w, "");
    cancel(&w);
    source_world_play(&w, source_world_connect(&w), "badtoken-401");
    sim_advance(&w.sim, 3600 * 1000); /* silence while paused is not an error of the server */
    source_world_expect(&w, "");
    cancel(&w);
    source_world_play(&w, source_world_connect(&w), "secrets-watchlist");
    go_on(&w);
    sim_run(&w.sim);
    source_world_expect(&w, until[WORLD_IN_END]);
    source_world_done(&w);
}

static void paused_data_stays_in_the_stream(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    w.when = WORLD_IN_EVENT;
    w.act = hold;
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe, POD("a", "1") POD("b", "2"));
    sim_run(&w.sim);
    source_world_expect(&w, "open\nADDED a 1\n");
    for (int i = 0; i < 1000; i++)
        send_chunk(pipe, POD("c", "3"));
    sim_run(&w.sim);
    assert_true(pipe->to_read.len > 1000 * strlen(POD("c", "3"))); /* not read by the source */
    source_world_expect(&w, "");
    source_world_done(&w);
}

/* ---- the budget ---- */

static void over_budget_it_continues_in_the_next_tick(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    w.sim.budget = 1;
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe, POD("a", "1") POD("b", "2") POD("c", "3"));
    sim_tick(&w.sim);
    source_world_expect(&w, "open\nADDED a 1\n");
    sim_tick(&w.sim);
    source_world_expect(&w, "ADDED b 2\n");
    sim_tick(&w.sim);
    source_world_expect(&w, "ADDED c 3\n");
    sim_run(&w.sim);
    source_world_expect(&w, "");
    assert_int_equal(pipe->to_read.len, 0);
    source_world_done(&w);
}

static void a_larger_budget_delivers_more_events_per_tick(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    w.sim.budget = 2;
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe, POD("a", "1") POD("b", "2") POD("c", "3"));
    pipe_sends(pipe, WATCH_LAST);
    sim_tick(&w.sim);
    source_world_expect(&w, "open\nADDED a 1\nADDED b 2\n");
    sim_tick(&w.sim);
    source_world_expect(&w, "ADDED c 3\nINF_EEOF: " WATCH_END);
    source_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_no_callback_after_a_cancel_in_any_callback),
        cmocka_unit_test(makes_no_callback_after_a_close_in_any_callback),
        cmocka_unit_test(opens_the_next_request_in_any_callback),
        cmocka_unit_test(opens_the_next_request_after_a_refusal),
        cmocka_unit_test(can_be_cancelled_at_any_byte),
        cmocka_unit_test(a_pause_in_any_callback_loses_nothing),
        cmocka_unit_test(pause_and_resume_in_one_callback_have_no_effect),
        cmocka_unit_test(a_pause_outlives_the_request),
        cmocka_unit_test(paused_data_stays_in_the_stream),
        cmocka_unit_test(over_budget_it_continues_in_the_next_tick),
        cmocka_unit_test(a_larger_budget_delivers_more_events_per_tick),
    };
    return cmocka_run_group_tests_name("api_source_user", tests, NULL, NULL);
}
