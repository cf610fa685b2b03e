/*
 * test_http_conn.c - one connection, one request at a time: what is sent and what is delivered,
 * for every split of the input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "http_world.h"
#include "recording.h"
#include "tier.h"

/* --- requests and responses ------------------------------------------------------------------- */

static void sends_a_request_and_delivers_the_response(void **state)
{
    static const struct http_header headers[] = {{"Accept", "application/json"}, {"X", "a\tb"}};
    struct http_request request = GET_PODS;
    struct http_world w;
    (void)state;
    request.headers = headers;
    request.n_headers = ARRAY_LEN(headers);
    http_world_init(&w);
    http_client_send(&w.client, &request);
    sim_run(&w.sim);
    assert_true(pipe_wrote(w.pipe, "GET /api/v1/pods HTTP/1.1\r\nHost: h\r\n"
                                   "Accept: application/json\r\nX: a\tb\r\n\r\n"));
    assert_false(http_conn_responded(w.client.conn));
    pipe_sends(w.pipe, "HTTP/1.1 100 Continue\r\n\r\n" HELLO);
    http_world_expect(&w, "200;hello;end");
    assert_true(http_conn_responded(w.client.conn));
    assert_true(http_conn_reusable(w.client.conn));
    http_world_done(&w);
}

static void reuses_a_connection_for_many_requests(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    sim_run(&w.sim);
    for (int i = 0; i < 3; i++) {
        http_world_respond(&w, HELLO, false);
        http_world_expect(&w, "200;hello;end");
        http_world_respond(&w, CHUNKED "1\r\na\r\n0\r\n\r\n", false);
        http_world_expect(&w, "200;a;end");
        http_world_respond(&w, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", false);
        http_world_expect(&w, "302;end");
    }
    assert_int_equal(w.pipes.n_dialled, 1);
    http_world_done(&w);
}

static void accepts_a_request_inside_on_end(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    w.client.again = &GET_PODS;
    http_world_respond(&w, HELLO, false);
    http_world_expect(&w, "200;hello;end;");
    pipe_sends(w.pipe, HELLO);
    http_world_expect(&w, "200;hello;end");
    http_world_done(&w);
}

static void expects_no_body_after_a_head_request(void **state)
{
    static const struct http_request head = {.method = "HEAD", .target = "/", .host = "h"};
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_client_send(&w.client, &head);
    sim_run(&w.sim);
    pipe_sends(w.pipe, OK_HEAD "Content-Length: 500\r\n\r\n");
    http_world_expect(&w, "200;end");
    http_world_respond(&w, HELLO, false);
    http_world_expect(&w, "200;hello;end");
    http_world_done(&w);
}

static void finds_headers_case_insensitively(void **state)
{
    static const struct http_header headers[] = {{"Retry-After", "5"}, {"RETRY-AFTER", "6"}};
    struct http_head head = {.status = 429, .headers = headers, .n_headers = 2};
    (void)state;
    assert_string_equal(http_head_get(&head, "retry-after"), "5");
    assert_null(http_head_get(&head, "retry"));
}

/* --- splits and yields ------------------------------------------------------------------------ */

static void play(struct http_world *w, const struct recording *recording, size_t take)
{
    w->client.quiet = true;
    w->client.take = take;
    http_client_send(&w->client, &GET_PODS);
    pipe_send(w->pipe, recording->wire.bytes, recording->wire.len);
    http_world_expect(w, recording->status == 200 ? "200;end" : "410;end");
    assert_int_equal(w->client.body.len, recording->body.len);
    assert_memory_equal(w->client.body.bytes, recording->body.bytes, recording->body.len);
}

static void delivers_recordings_unchanged_for_all_splits_and_yields(void **state)
{
    static const char *const names[] = {"pods-watchlist", "pods-list-exact-expired-410"};
    static const size_t takes[] = {0, 1, 10, 4000};
    size_t dense = tier_is_full() ? 20 : 4;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t t = 0; t < ARRAY_LEN(takes); t++)
            for (size_t cut = 0; cut <= 300; cut += cut < dense ? 1 : 31)
                for (uint64_t seed = 0; seed <= 1; seed++) {
                    struct recording recording;
                    struct http_world w;
                    recording_open(&recording, names[i]);
                    http_world_open(&w, &(struct http_plan){.cut = cut, .seed = seed});
                    w.client.resume_again = seed;
                    play(&w, &recording, takes[t]);
                    http_world_done(&w);
                    recording_close(&recording);
                }
}

static void leaves_untaken_bytes_in_the_stream(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    w.client.take = 2;
    http_client_send(&w.client, &GET_PODS);
    sim_run(&w.sim);
    pipe_sends(w.pipe, CHUNKED "5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n");
    sim_tick(&w.sim);
    assert_int_equal(w.pipe->to_read.len, strlen("llo\r\n3\r\nabc\r\n0\r\n\r\n"));
    http_world_expect(&w, "200;he;ll;o;ab;c;end");
    http_world_done(&w);
}

static void makes_no_callbacks_while_paused_and_loses_no_bytes(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 8; cut++) {
        struct http_world w;
        http_world_open(&w, &(struct http_plan){.cut = cut});
        w.client.pause_at = AT_BODY;
        w.client.take = 3;
        w.client.quiet = true;
        http_world_respond(&w, CHUNKED "5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n", false);
        http_world_expect(&w, "200;");
        sim_advance(&w.sim, 1000000);
        for (int i = 0; i < 20 && !w.client.events.len; i++)
            http_world_resume(&w);
        http_world_expect(&w, "end");
        assert_int_equal(w.client.body.len, 8);
        assert_memory_equal(w.client.body.bytes, "helloabc", 8);
        http_world_done(&w);
    }
}

static void delivers_no_body_after_a_pause_in_on_head(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    w.client.pause_at = AT_HEAD;
    http_world_respond(&w, HELLO, true);
    http_world_expect(&w, "200;");
    http_world_resume(&w);
    http_world_expect(&w, "hello;end");
    http_world_done(&w);
}

static void calls_on_body_after_resume_before_the_end(void **state)
{
    static const char *const wires[] = {HELLO, CHUNKED "5\r\nhello\r\n0\r\n\r\n"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wires); i++) {
        struct http_world w;
        http_world_init(&w);
        w.client.resume_again = true;
        http_world_respond(&w, wires[i], true);
        http_world_expect(&w, "200;hello;end");
        assert_int_equal(w.client.empty_calls, 1);
        http_world_done(&w);
    }
}

static void calls_on_body_after_resume_before_a_failure(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    w.client.resume_again = true;
    http_world_respond(&w, CHUNKED "5\r\nhello\r\nxyz", false);
    http_world_expect(&w, "200;hello;failed");
    assert_int_equal(w.client.empty_calls, 1);
    http_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_a_request_and_delivers_the_response),
        cmocka_unit_test(reuses_a_connection_for_many_requests),
        cmocka_unit_test(accepts_a_request_inside_on_end),
        cmocka_unit_test(expects_no_body_after_a_head_request),
        cmocka_unit_test(finds_headers_case_insensitively),
        cmocka_unit_test(delivers_recordings_unchanged_for_all_splits_and_yields),
        cmocka_unit_test(leaves_untaken_bytes_in_the_stream),
        cmocka_unit_test(makes_no_callbacks_while_paused_and_loses_no_bytes),
        cmocka_unit_test(delivers_no_body_after_a_pause_in_on_head),
        cmocka_unit_test(calls_on_body_after_resume_before_the_end),
        cmocka_unit_test(calls_on_body_after_resume_before_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
