/*
 * test_http_conn_end.c - how a connection ends (complete, truncated, refused, timed out, closed) and
 * the errors it reports.
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

static void does_not_reuse_a_connection_after_connection_close(void **state)
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
        http_client_send(&w.client, &GET_PODS); /* fails, but not inside the call */
        http_world_expect(&w, "failed");
        assert_int_equal(w.client.why.code, INF_EEOF);
        http_world_done(&w);
    }
}

static void reports_a_truncated_response(void **state)
{
    static const struct {
        const char *wire, *events, *text;
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
        http_world_expect_failure(&w, rows[i].events, INF_ECUT, rows[i].text);
        assert_int_equal(http_conn_responded(w.client.conn), rows[i].wire[0] != '\0');
        http_world_done(&w);
    }
}

static void completes_a_response_that_ends_with_the_connection(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_world_respond(&w, HELLO, true);
    http_world_expect(&w, "200;hello;end");
    assert_false(http_conn_reusable(w.client.conn));
    http_world_done(&w);
}

static void reports_a_network_failure_unchanged(void **state)
{
    struct http_world w;
    (void)state;
    http_world_open(&w, &(struct http_plan){.hold = true});
    http_client_send(&w.client, &GET_PODS);
    pipe_end(w.pipe, INF_ENET, "connection refused");
    http_world_expect_failure(&w, "failed", INF_ENET, "h:6443: connection refused");
    http_world_done(&w);
}

static void reports_a_failure_while_idle_to_the_next_request(void **state)
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

static void closes_the_connection_on_bytes_without_a_request(void **state)
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

static void does_not_reuse_a_connection_after_a_second_response(void **state)
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

static void does_not_use_a_second_response_for_a_request_in_on_end(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    w.client.again = &GET_PODS;
    http_world_respond(&w, HELLO HELLO, false);
    http_world_expect(&w, "200;hello;end");
    assert_non_null(w.client.again); /* it was not sent */
    http_world_done(&w);
}

static void names_the_server_if_the_response_is_not_http(void **state)
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

static void refuses_requests_with_line_breaks(void **state)
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

static void times_out_if_the_connection_does_not_open(void **state)
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

static void times_out_without_a_response(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_world_respond(&w, HELLO, false);
    http_world_expect(&w, "200;hello;end");
    sim_advance(&w.sim, 1000000); /* idle: no timeout applies */
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

static void has_no_timeout_for_a_body(void **state)
{
    struct http_world w;
    (void)state;
    http_world_init(&w);
    http_world_respond(&w, CHUNKED, false);
    sim_advance(&w.sim, 1000000);
    http_world_expect(&w, "200;");
    http_world_done(&w);
}

static void suspends_timeouts_while_paused(void **state)
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

static void can_be_closed_inside_any_callback(void **state)
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

static void can_be_closed_after_any_number_of_ticks(void **state)
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

static void can_be_closed_in_a_timeout_and_with_an_error_pending(void **state)
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
    http_world_done(&w); /* refused, and closed before the callback */
}

/* --- over TLS --------------------------------------------------------------------------------- */

/* A server that responds and closes the connection without close_notify. */
static void respond_over_tls(const struct tls_certs *certs, const char *wire, size_t cut,
                             const char *events)
{
    struct tls_world tls;
    struct http_client client;
    tls_world_init(&tls, certs, &(struct tls_plan){.cut = cut, .budget = 1});
    stream_reader_close(&tls.reader); /* http_conn dials its own connection */
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
    assert_string_equal(client.events.bytes, events);
    http_client_done(&client);
    tls_world_done(&tls);
}

static void reports_a_missing_close_notify_only_within_a_response(void **state)
{
    for (size_t cut = 0; cut < 40; cut++) {
        respond_over_tls(*state, HELLO, cut, "200;hello;end");
        respond_over_tls(*state, CHUNKED "5\r\nhello\r\n", cut, "200;hello;failed");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_not_reuse_a_connection_after_connection_close),
        cmocka_unit_test(reports_a_truncated_response),
        cmocka_unit_test(completes_a_response_that_ends_with_the_connection),
        cmocka_unit_test(reports_a_network_failure_unchanged),
        cmocka_unit_test(reports_a_failure_while_idle_to_the_next_request),
        cmocka_unit_test(closes_the_connection_on_bytes_without_a_request),
        cmocka_unit_test(does_not_reuse_a_connection_after_a_second_response),
        cmocka_unit_test(does_not_use_a_second_response_for_a_request_in_on_end),
        cmocka_unit_test(names_the_server_if_the_response_is_not_http),
        cmocka_unit_test(refuses_requests_with_line_breaks),
        cmocka_unit_test(times_out_if_the_connection_does_not_open),
        cmocka_unit_test(times_out_without_a_response),
        cmocka_unit_test(limits_can_be_set),
        cmocka_unit_test(has_no_timeout_for_a_body),
        cmocka_unit_test(suspends_timeouts_while_paused),
        cmocka_unit_test(can_be_closed_inside_any_callback),
        cmocka_unit_test(can_be_closed_after_any_number_of_ticks),
        cmocka_unit_test(can_be_closed_in_a_timeout_and_with_an_error_pending),
        cmocka_unit_test(reports_a_missing_close_notify_only_within_a_response),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
