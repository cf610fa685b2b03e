/*
 * test_http_conn_end.c - how a connection ends: in good order, cut, refused, too late, closed; and
 * what is said then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "http_world.h"
#include "tls_world.h"

/* --- ends ------------------------------------------------------------------------------------- */

static void who_says_close_is_not_asked_again(void **state)
{
    static const char *const wires[] = {
        OK_HEAD "Connection: close\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wires); i++) {
        struct http_world w;
        http_world_init(&w);
        http_world_respond(&w, wires[i], false);
        http_world_expect(&w, "200;hello;end");
        assert_false(http_conn_reusable(w.client.conn));
        assert_true(pipe_closed(w.pipe));
        http_client_send(&w.client, &GET_PODS); /* all the same: told, but not inside the call */
        http_world_expect(&w, "failed");
        assert_int_equal(w.client.why.code, INF_EEOF);
        http_world_done(&w);
    }
}

static void a_cut_answer_is_told_as_cut(void **state)
{
    static const struct {
        const char *wire, *told, *text;
    } rows[] = {
        {"", "failed", "h:6443 closed the connection before it responded"},
        {"HTTP/1.1 20", "failed", "h:6443 closed the connection in the head of a response"},
        {OK_HEAD "Content-Length: 9\r\n\r\nhello", "200;hello;failed",
         "h:6443 closed the connection in the middle of a response"},
        {CHUNKED "5\r\nhello\r\n", "200;hello;failed",
         "h:6443 closed the connection in the middle of a response"},
        {CHUNKED "5\r\nhello\r\n0\r\n", "200;hello;failed",
         "h:6443 closed the connection in the middle of a response"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_world w;
        http_world_init(&w);
        http_world_respond(&w, rows[i].wire, true);
        http_world_expect_failure(&w, rows[i].told, INF_ECUT, rows[i].text);
        assert_int_equal(http_conn_responded(w.client.conn), rows[i].wire[0] != '\0');
        http_world_done(&w);
    }
}

static void a_complete_answer_is_complete_though_the_connection_ends(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_world_respond(&w, HELLO, true);
    http_world_expect(&w, "200;hello;end");
    assert_false(http_conn_reusable(w.client.conn));
    http_world_done(&w);
}

static void a_network_failure_is_told_as_it_is(void **state)
{
    struct http_world w;
    (void)state;
    http_world_open(&w, &(struct http_plan){.hold = true});
    http_client_send(&w.client, &GET_PODS);
    pipe_end(w.pipe, INF_ENET, "connection refused");
    http_world_expect_failure(&w, "failed", INF_ENET, "h:6443: connection refused");
    http_world_done(&w);
}

static void a_failure_that_nobody_heard_is_told_to_the_next_request(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    sim_run(&w.sim);
    pipe_end(w.pipe, INF_ENET, "connection reset");
    sim_run(&w.sim);
    assert_false(http_conn_reusable(w.client.conn));
    http_client_send(&w.client, &GET_PODS);
    http_world_expect_failure(&w, "failed", INF_ENET, "h:6443: connection reset");
    http_world_done(&w);
}

static void bytes_that_nobody_asked_for_end_the_connection(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    sim_run(&w.sim);
    pipe_sends(w.pipe, HELLO);
    sim_run(&w.sim);
    assert_true(pipe_closed(w.pipe));
    http_client_send(&w.client, &GET_PODS);
    http_world_expect_failure(&w, "failed", INF_EPROTO, "h:6443 sent a response without a request");
    http_world_done(&w);
}

static void a_second_answer_to_one_request_is_never_taken_for_the_next(void **state)
{
    (void)state;
    for (size_t cut = 0; cut <= strlen(HELLO); cut++) {
        struct http_world w;
        http_world_open(&w, &(struct http_plan){.cut = cut});
        w.client.quiet = true;
        http_world_respond(&w, HELLO HELLO, false);
        http_world_expect(&w, "200;end");
        assert_int_equal(w.client.body.len, 5);
        assert_false(http_conn_reusable(w.client.conn));
        assert_true(pipe_closed(w.pipe));
        http_world_done(&w);
    }
}

static void a_second_answer_is_not_taken_for_one_to_a_request_made_at_the_end(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    w.client.again = &GET_PODS;
    http_world_respond(&w, HELLO HELLO, false);
    http_world_expect(&w, "200;hello;end");
    assert_non_null(w.client.again); /* it could not be made */
    http_world_done(&w);
}

static void what_is_no_http_is_told_with_the_name_of_the_server(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_world_respond(&w, OK_HEAD "\r\nhello", true);
    http_world_expect_failure(
        &w, "failed", INF_EPROTO,
        "response from h:6443: neither Content-Length nor chunked: the end of the body "
        "can't be recognized");
    http_world_done(&w);
    http_world_open(&w, &(struct http_plan){.limits = {.head_max = 30}});
    http_world_respond(&w, HELLO, false);
    http_world_expect_failure(&w, "failed", INF_ETOOBIG,
                              "response from h:6443: head over head_max=30");
    http_world_done(&w);
    http_world_init(&w);
    http_world_respond(&w, "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
                       false);
    http_world_expect_failure(&w, "failed", INF_EPROTO,
                              "response from h:6443: unexpected protocol switch (status 101)");
    http_world_done(&w);
}

static void requests_that_would_break_out_of_their_line_are_refused(void **state)
{
    static const struct {
        const char *method, *target, *host, *name, *value, *text;
    } rows[] = {
        {"GE T", "/", "h", "A", "b", "request: the method is not a token"},
        {"", "/", "h", "A", "b", "request: the method is not a token"},
        {"GET", "/ HTTP/1.1\r\nX: y", "h", "A", "b",
         "request: spaces or control characters in the target"},
        {"GET", "", "h", "A", "b", "request: spaces or control characters in the target"},
        {"GET", "/\x80", "h", "A", "b", "request: spaces or control characters in the target"},
        {"GET", "/", "h\n", "A", "b", "request: spaces or control characters in the host"},
        {"GET", "/", "h", "A:", "b", "request: the name of header 1 is not a token"},
        {"GET", "/", "h", "Authorization", "Bearer secret\n",
         "request: control characters in the value of header 'Authorization'"},
        {"GET", "/", "h", "A", "b\r", "request: control characters in the value of header 'A'"},
        {"GET", "/", "h", "A", "b\x7f", "request: control characters in the value of header 'A'"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int open = 0; open <= 1; open++) {
            struct http_header header = {rows[i].name, rows[i].value};
            struct http_request request = {.method = rows[i].method,
                                           .target = rows[i].target,
                                           .host = rows[i].host,
                                           .headers = &header,
                                           .n_headers = 1};
            struct http_world w;
            http_world_init(&w);
            if (open)
                sim_run(&w.sim);
            http_client_send(&w.client, &request);
            http_world_expect_failure(&w, "failed", INF_EINVAL, rows[i].text);
            assert_int_equal(w.pipe->written.len, 0);
            http_world_done(&w);
        }
}

/* --- time ------------------------------------------------------------------------------------- */

static void a_connection_that_does_not_open_is_given_up(void **state)
{
    struct http_world w;
    (void)state;
    http_world_open(&w, &(struct http_plan){.hold = true});
    http_client_send(&w.client, &GET_PODS);
    sim_advance(&w.sim, 14999);
    http_world_expect(&w, "");
    sim_advance(&w.sim, 1);
    http_world_expect_failure(&w, "failed", INF_ETIMEOUT, "no connection to h:6443 within 15s");
    http_world_done(&w);
}

static void an_answer_that_does_not_come_is_given_up(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_world_respond(&w, HELLO, false);
    http_world_expect(&w, "200;hello;end");
    sim_advance(&w.sim, 1000000); /* idle: nobody waits for anything */
    http_world_respond(&w, "HTTP/1.1 200", false);
    sim_advance(&w.sim, 34999);
    http_world_expect(&w, "");
    sim_advance(&w.sim, 1);
    http_world_expect_failure(&w, "failed", INF_ETIMEOUT, "no response from h:6443 within 35s");
    http_world_done(&w);
}

static void limits_can_be_set(void **state)
{
    struct http_world w;
    (void)state;
    http_world_open(&w,
                    &(struct http_plan){.limits = {.open_timeout_ms = 1500, .head_timeout_ms = 10},
                                        .hold = true});
    http_client_send(&w.client, &GET_PODS);
    sim_advance(&w.sim, 1499);
    pipe_open(w.pipe);
    sim_advance(&w.sim, 10);
    http_world_expect_failure(&w, "failed", INF_ETIMEOUT, "no response from h:6443 within 10ms");
    http_world_done(&w);
}

static void a_silent_body_is_not_our_business(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_world_respond(&w, CHUNKED, false);
    sim_advance(&w.sim, 1000000);
    http_world_expect(&w, "200;");
    http_world_done(&w);
}

static void while_paused_no_time_passes(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_client_send(&w.client, &GET_PODS);
    sim_run(&w.sim);
    http_conn_pause(w.client.conn);
    w.client.paused = true;
    sim_advance(&w.sim, 1000000);
    http_world_resume(&w);
    sim_advance(&w.sim, 34999);
    http_world_expect(&w, "");
    sim_advance(&w.sim, 1);
    http_world_expect_failure(&w, "failed", INF_ETIMEOUT, "no response from h:6443 within 35s");
    http_world_done(&w);
}

/* --- close ------------------------------------------------------------------------------------ */

static void closing_is_fine_inside_any_callback(void **state)
{
    static const char *const wires[] = {HELLO, HELLO HELLO, CHUNKED "5\r\nhello\r\nxyz", CHUNKED};
    (void)state;
    http_conn_close(NULL);
    for (int moment = AT_HEAD; moment <= AT_END; moment++)
        for (size_t i = 0; i < ARRAY_LEN(wires); i++)
            for (size_t take = 0; take <= 3; take++) {
                struct http_world w;
                http_world_init(&w);
                w.client.close_at = (enum http_client_moment)moment;
                w.client.take = take;
                w.client.resume_again = take == 3;
                http_world_respond(&w, wires[i], true);
                assert_true(moment == AT_BODY ? pipe_closed(w.pipe) || i == 3 : !w.client.conn);
                http_world_done(&w);
            }
}

static void closing_is_fine_after_any_number_of_ticks(void **state)
{
    (void)state;
    for (int ticks = 0; ticks < 30; ticks++)
        for (int hold = 0; hold <= 1; hold++) {
            struct http_world w;
            http_world_open(&w, &(struct http_plan){.hold = hold});
            w.client.take = 1;
            http_client_send(&w.client, &GET_PODS);
            pipe_sends(w.pipe, HELLO);
            for (int i = 0; i < ticks; i++)
                sim_tick(&w.sim);
            http_world_done(&w);
        }
}

static void closing_in_a_timeout_and_with_one_pending_is_fine(void **state)
{
    struct http_world w;
    (void)state;
    http_world_open(&w, &(struct http_plan){.hold = true});
    http_client_send(&w.client, &GET_PODS);
    w.client.close_at = AT_END;
    sim_advance(&w.sim, 15000);
    assert_null(w.client.conn);
    http_world_done(&w);
    http_world_init(&w);
    http_client_send(&w.client, &(struct http_request){.method = "", .target = "", .host = ""});
    http_world_done(&w); /* refused, and closed before it was told */
}

/* --- over TLS --------------------------------------------------------------------------------- */

/* A server that answers the request it read, then leaves without the politeness of TLS. */
static void https(const struct tls_certs *certs, const char *wire, size_t cut, const char *told)
{
    struct tls_world tls;
    struct http_client client;
    tls_world_init(&tls, certs, &(struct tls_plan){.cut = cut, .budget = 1});
    stream_reader_close(&tls.reader); /* its connection is made below, by http_conn */
    sim_run(&tls.sim);
    http_client_init(&client);
    client.conn = http_conn_open(&tls.sim.clock, &tls.dialer.dialer, "localhost", 6443, NULL);
    http_client_send(&client, &GET_PODS);
    tls_peer_send(&tls.peer, wire, strlen(wire));
    sim_run(&tls.sim);
    assert_memory_equal(tls.peer.received.bytes, "GET /api/v1/pods HTTP/1.1\r\n", 27);
    pipe_end(tls.pipes.last, INF_EEOF, "FIN");
    sim_run(&tls.sim);
    buf_putc(&client.events, '\0');
    assert_string_equal(client.events.bytes, told);
    http_client_done(&client);
    tls_world_done(&tls);
}

static void over_tls_a_missing_goodbye_matters_only_within_an_answer(void **state)
{
    for (size_t cut = 0; cut < 40; cut++) {
        https(*state, HELLO, cut, "200;hello;end");
        https(*state, CHUNKED "5\r\nhello\r\n", cut, "200;hello;failed");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_says_close_is_not_asked_again),
        cmocka_unit_test(a_cut_answer_is_told_as_cut),
        cmocka_unit_test(a_complete_answer_is_complete_though_the_connection_ends),
        cmocka_unit_test(a_network_failure_is_told_as_it_is),
        cmocka_unit_test(a_failure_that_nobody_heard_is_told_to_the_next_request),
        cmocka_unit_test(bytes_that_nobody_asked_for_end_the_connection),
        cmocka_unit_test(a_second_answer_to_one_request_is_never_taken_for_the_next),
        cmocka_unit_test(a_second_answer_is_not_taken_for_one_to_a_request_made_at_the_end),
        cmocka_unit_test(what_is_no_http_is_told_with_the_name_of_the_server),
        cmocka_unit_test(requests_that_would_break_out_of_their_line_are_refused),
        cmocka_unit_test(a_connection_that_does_not_open_is_given_up),
        cmocka_unit_test(an_answer_that_does_not_come_is_given_up),
        cmocka_unit_test(limits_can_be_set),
        cmocka_unit_test(a_silent_body_is_not_our_business),
        cmocka_unit_test(while_paused_no_time_passes),
        cmocka_unit_test(closing_is_fine_inside_any_callback),
        cmocka_unit_test(closing_is_fine_after_any_number_of_ticks),
        cmocka_unit_test(closing_in_a_timeout_and_with_one_pending_is_fine),
        cmocka_unit_test(over_tls_a_missing_goodbye_matters_only_within_an_answer),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
