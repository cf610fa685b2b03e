/*
 * test_api_keep.c - one connection is used for a list, its pages and the following watch; and
 * responses other than 200.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "source_world.h"

static void pages_and_watch_use_one_connection(void **state)
{
    static const struct source_request page = {
        .want = SOURCE_LIST, .resource_version = "", .limit = 2};
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    source_world_play(&w, source_world_connect_with(&w, &page), "configmaps-list-page1");
    source_world_play(&w, source_world_connect_with(&w, &page), "configmaps-list-page2");
    source_world_play(&w, source_world_connect(&w), "pods-watchlist");
    source_world_play(&w, source_world_connect(&w), "badtoken-401");
    source_world_play(&w, source_world_connect(&w), "pods-watch-lifecycle");
    assert_int_equal(w.pipes.n_dialled, 1);
    assert_false(pipe_closed(w.pipes.last));
    source_world_done(&w);
}

/* After a failure in the middle of a response the rest of the connection is unknown. */
static void an_unfinished_response_closes_its_connection(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    source_world_play(&w, source_world_connect(&w), "pods-watch-too-old-410");
    assert_true(pipe_closed(w.pipes.last));
    source_world_done(&w);
}

static void retries_a_connection_that_the_server_has_closed(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    source_world_play(&w, source_world_connect(&w), "secrets-watchlist");
    buf_clear(&w.events);
    pipe = source_world_connect(&w);
    pipe_end(pipe, INF_ENET, "connection reset by peer");
    sim_run(&w.sim);
    source_world_expect(&w, "");
    assert_int_equal(w.pipes.n_dialled, 2);
    source_world_play(&w, w.pipes.last, "secrets-watchlist");
    source_world_expect(
        &w, "open\nADDED default/db-password 508\nBOOKMARK 583 end\nINF_EEOF: " WATCH_END);
    source_world_done(&w);
}

static void names_unusual_responses(void **state)
{
    static const struct {
        const char *wire, *events;
    } cases[] = {
        {"HTTP/1.1 302 Found\r\nLocation: https://sso.test/login?state=s3cr3t\r\n"
         "Content-Length: 0\r\n\r\n",
         "INF_EPROTO: kube.test:6443: redirects to 'https://sso.test/login' (HTTP 302), which is "
         "not followed to protect credentials; if that is the API server, set it as `server:` in "
         "the kubeconfig\n"},
        {"HTTP/1.1 308 Permanent Redirect\r\nContent-Length: 0\r\n\r\n",
         "INF_EPROTO: kube.test:6443: redirects to '' (HTTP 308), which is not followed to "
         "protect credentials; if that is the API server, set it as `server:` in the kubeconfig\n"},
        {"HTTP/1.1 204 No Content\r\n\r\n",
         "INF_EPROTO: kube.test:6443: the server returned HTTP 204\n"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
         "INF_ESERVER: kube.test:6443: the server returned HTTP 503\n"},
        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
         "INF_EPROTO: response from kube.test:6443: unexpected protocol switch (status 101)\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct source_world w;
        source_world_init(&w, "pods", NULL);
        pipe_sends(source_world_connect(&w), cases[i].wire);
        sim_run(&w.sim);
        source_world_expect(&w, cases[i].events);
        source_world_done(&w);
    }
}

static void reports_a_refusal_whose_body_never_ends(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    source_world_open_version(&w, SOURCE_WATCH, "7");
    sim_run(&w.sim);
    pipe = w.pipes.last;
    pipe_sends(pipe, "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 9; i++) {
        send_chunk(pipe, "drip ");
        sim_advance(&w.sim, 1000);
    }
    source_world_expect(&w, "");
    sim_advance(&w.sim, 1000);
    source_world_expect(&w,
                        "INF_ESERVER: kube.test:6443: the server returned HTTP 503: drip drip drip "
                        "drip drip drip drip drip drip \n");
    assert_true(pipe_closed(pipe));
    source_world_done(&w);
}

static void a_cut_refusal_is_still_a_refusal(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe_sends(source_world_connect(&w),
               "HTTP/1.1 429 No\r\nRetry-After: 5\r\nContent-Length: 99\r\n"
               "\r\nToo many");
    pipe_end(w.pipes.last, INF_EEOF, "FIN");
    sim_run(&w.sim);
    source_world_expect(&w,
                        "INF_ETHROTTLED: kube.test:6443: the server returned HTTP 429: Too many\n");
    source_world_done(&w);
}

/* The reader of a successful body decides how long it may be silent. */
static void a_successful_response_has_no_time_limit(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    pipe_sends(pipe, WATCH_HEAD);
    sim_advance(&w.sim, 3600 * 1000);
    source_world_expect(&w, "open\n");
    assert_false(pipe_closed(pipe));
    source_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_and_watch_use_one_connection),
        cmocka_unit_test(an_unfinished_response_closes_its_connection),
        cmocka_unit_test(retries_a_connection_that_the_server_has_closed),
        cmocka_unit_test(names_unusual_responses),
        cmocka_unit_test(reports_a_refusal_whose_body_never_ends),
        cmocka_unit_test(a_cut_refusal_is_still_a_refusal),
        cmocka_unit_test(a_successful_response_has_no_time_limit),
    };
    return cmocka_run_group_tests_name("api_keep", tests, NULL, NULL);
}
