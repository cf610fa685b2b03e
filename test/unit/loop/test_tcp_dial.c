/*
 * test_tcp_dial.c - from a name to an open connection: every failure, and closing in each
 * state.
 *
 * Names are resolved by lib/resolver.c: no name server is used, and the test controls the duration of
 * a lookup.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "resolver.h"
#include "tcp_world.h"

static bool connecting(const struct tcp_world *w)
{
    return list_empty(&w->dialer.resolver.waiting) &&
           timers_next_due(&w->rl.loop.clock.timers) != TIMERS_NONE; /* the timeout is running */
}

/* An address is being tried: the result is reported in a later tick. */
static void run_until_connecting(struct tcp_world *w)
{
    RUN_UNTIL(&w->rl, connecting(w));
    assert_false(w->reader.opened);
}

static void fire_timeout(struct tcp_world *w)
{
    struct clock *clock = &w->rl.loop.clock;
    timers_fire(&clock->timers, timers_next_due(&clock->timers));
}

/* ---- names ---- */

static void test_reports_a_name_that_does_not_exist(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "no-such-host.invalid");
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't resolve the name: unknown node or service");
    assert_int_equal(w->reader.opened + (int)w->reader.calls, 0);
}

/* libuv refuses it at once; this is reported like other errors, not inside the call. */
static void test_reports_a_name_that_is_too_long(void **state)
{
    struct tcp_world *w = *state;
    char host[301];
    memset(host, 'x', sizeof(host) - 1);
    host[sizeof(host) - 1] = 0;
    tcp_world_dial(w, host);
    assert_int_equal(w->reader.ended, 0);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_int_equal(w->reader.why.code, INF_ENET);
    assert_non_null(strstr(w->reader.why.text, "x:"));
    assert_non_null(strstr(w->reader.why.text, ": can't resolve the name: "));
}

static void test_connects_to_a_name(void **state)
{
    struct tcp_world *w = *state;
    resolver_set("api.test", "127.0.0.1");
    tcp_world_dial(w, "api.test");
    RUN_UNTIL(&w->rl, w->reader.opened);
}

static void test_reports_a_failure_after_write_and_resume(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "no-such-host.invalid");
    stream_reader_write(&w->reader, "hello?", 6);
    stream_reader_pause(&w->reader);
    real_loop_settle(&w->rl);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.ended); /* no on_bytes call without a connection */
    assert_int_equal(w->reader.calls, 0);
}

/* ---- addresses ---- */

static void test_reports_a_refused_connection(void **state)
{
    struct tcp_world *w = *state;
    uint16_t port;
    int fd = port_that_refuses("127.0.0.1", 0, &port);
    tcp_world_dial_port(w, "127.0.0.1", port);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't connect: connection refused");
    close(fd);
}

static void test_reports_an_address_that_cant_be_tried(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "255.255.255.255"); /* TCP has no broadcast */
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_int_equal(w->reader.why.code, INF_ENET);
    assert_non_null(strstr(w->reader.why.text, ": can't connect: "));
}

static void test_puts_ipv6_addresses_in_brackets(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "::ffff:255.255.255.255");
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_memory_equal(w->reader.why.text, "[::ffff:255.255.255.255]:", 25);
}

/* The first of two refuses: 127.0.0.2 at the server's port, which this test binds so that no
 * other process can. */
static void test_connects_to_the_second_address_after_a_refusal(void **state)
{
    struct tcp_world *w = *state;
    uint16_t port;
    int fd = port_that_refuses("127.0.0.2", w->server.port, &port);
    resolver_set("two.test", "127.0.0.2 127.0.0.1");
    tcp_world_dial(w, "two.test");
    stream_reader_write(&w->reader, "hi", 2);
    RUN_UNTIL(&w->rl, w->server.got.len == 2);
    assert_int_equal(w->reader.opened, 1);
    close(fd);
}

static void test_connects_to_the_second_address_if_the_first_cant_be_tried(void **state)
{
    struct tcp_world *w = *state;
    resolver_set("two.test", "255.255.255.255 127.0.0.1");
    tcp_world_dial(w, "two.test");
    RUN_UNTIL(&w->rl, w->reader.opened);
}

static void test_reports_that_all_addresses_refuse(void **state)
{
    struct tcp_world *w = *state;
    uint16_t port;
    int a = port_that_refuses("127.0.0.2", 0, &port);
    int b = port_that_refuses("127.0.0.3", port, &port);
    resolver_set("two.test", "127.0.0.2 127.0.0.3");
    tcp_world_dial_port(w, "two.test", port);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't connect: connection refused");
    close(a);
    close(b);
}

/* A silent first address costs 250 ms, not the kernel's timeout of half a minute. */
static void test_connects_to_the_second_address_if_the_first_is_silent(void **state)
{
    struct tcp_world *w = *state;
    uint16_t port;
    int fd = port_that_is_silent("127.0.0.2", w->server.port, &port);
    resolver_set("two.test", "127.0.0.2 127.0.0.1");
    tcp_world_dial(w, "two.test");
    run_until_connecting(w);
    fire_timeout(w);
    RUN_UNTIL(&w->rl, w->reader.opened);
    close(fd);
}

/* ---- the timeout ---- */

static void test_reports_a_timeout(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    run_until_connecting(w);
    fire_timeout(w);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't connect: no response");
    real_loop_settle(&w->rl); /* a late connection is not reported */
    assert_int_equal(w->reader.opened, 0);
}

static void test_stops_the_timeout_when_connected(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    run_until_connecting(w);
    RUN_UNTIL(&w->rl, w->reader.opened);
    assert_false(connecting(w));
}

/* ---- closing in each state: no callback afterwards, no leak ---- */

static void close_and_expect_no_callback(struct tcp_world *w)
{
    int calls = w->reader.opened + w->reader.ended + (int)w->reader.calls;
    stream_reader_close(&w->reader);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.opened + w->reader.ended + (int)w->reader.calls, calls);
}

static void test_close_after_dialling(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    stream_reader_write(&w->reader, "hello", 5);
    close_and_expect_no_callback(w);
}

static void test_close_during_the_lookup(void **state)
{
    struct tcp_world *w = *state;
    resolver_set("api.test", "127.0.0.1");
    resolver_hold();
    tcp_world_dial(w, "api.test");
    resolver_await();
    close_and_expect_no_callback(w);
    resolver_release(); /* the result has no receiver */
    real_loop_settle(&w->rl);
}

static void test_close_one_of_two_waiting_for_the_same_name(void **state)
{
    struct tcp_world *w = *state;
    struct stream_reader other;
    stream_reader_init(&other);
    resolver_set("api.test", "127.0.0.1");
    resolver_hold();
    tcp_world_dial(w, "api.test");
    other.stream = dialer_dial(&w->dialer.dialer, "api.test", w->server.port, &other.user);
    resolver_await();
    close_and_expect_no_callback(w);
    resolver_release();
    RUN_UNTIL(&w->rl, other.opened);
    stream_reader_done(&other);
}

/* The teardown closes the dialer while a lookup runs in libuv's thread pool. */
static void test_close_the_dialer_during_a_lookup(void **state)
{
    struct tcp_world *w = *state;
    resolver_set("api.test", "127.0.0.1");
    resolver_hold();
    tcp_world_dial(w, "api.test");
    resolver_await();
    stream_reader_close(&w->reader);
    resolver_release();
}

static void test_close_while_connecting(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    run_until_connecting(w);
    close_and_expect_no_callback(w);
}

static void test_close_before_the_end_is_reported(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    run_until_connecting(w);
    fire_timeout(w); /* the end is not reported yet */
    close_and_expect_no_callback(w);
}

static void test_close_when_open(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    tcp_server_send(&w->server, "on its way", 10);
    close_and_expect_no_callback(w);
}

static void test_close_during_a_write(void **state)
{
    struct tcp_world *w = *state;
    size_t len = 16 * 1024 * 1024;
    char *bytes = calloc(1, len);
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    uv_read_stop((uv_stream_t *)&w->server.peer); /* so that not everything is sent */
    stream_reader_write(&w->reader, bytes, len);
    free(bytes);
    close_and_expect_no_callback(w);
}

static void test_close_with_untaken_bytes(void **state)
{
    struct tcp_world *w = *state;
    w->reader.take_none = true;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    tcp_server_send(&w->server, "leftovers", 9);
    RUN_UNTIL(&w->rl, w->reader.calls);
    close_and_expect_no_callback(w);
}

static void test_close_when_paused_and_when_resumed(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened);
    stream_reader_pause(&w->reader);
    stream_reader_resume(&w->reader);
    close_and_expect_no_callback(w); /* the call after resume is not made */
}

/* The server sends and ends; the reader closes in one of its callbacks. */
static void close_inside(struct tcp_world *w, enum stream_reader_moment moment, size_t take)
{
    w->reader.close_in = moment;
    w->reader.take = take;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->server.accepted);
    tcp_server_send(&w->server, "abc", 3);
    tcp_server_end(&w->server);
    RUN_UNTIL(&w->rl, !w->reader.stream);
    real_loop_settle(&w->rl); /* the reader checks that it is not called */
}

static void test_close_inside_on_open(void **state)
{
    struct tcp_world *w = *state;
    w->reader.write_in_open = "and away";
    close_inside(w, IN_OPEN, 0);
    assert_int_equal(w->reader.calls, 0);
}

static void test_close_inside_on_bytes(void **state)
{
    struct tcp_world *w = *state;
    close_inside(w, IN_BYTES, 0);
    assert_int_equal(w->reader.calls, 1);
}

static void test_close_inside_on_bytes_taking_a_part(void **state)
{
    struct tcp_world *w = *state;
    w->reader.resume_again = true;
    close_inside(w, IN_BYTES, 2);
    assert_int_equal(w->reader.calls, 1);
    assert_int_equal(w->reader.got.len, 2);
}

static void test_close_inside_on_end(void **state)
{
    struct tcp_world *w = *state;
    close_inside(w, IN_END, 0);
    assert_tcp_end(w, INF_EEOF, "connection closed by the peer");
}

/* No handle keeps the memory of the stream: the argument of on_end must stay valid nevertheless. */
static void test_close_inside_on_end_without_a_connection(void **state)
{
    struct tcp_world *w = *state;
    w->reader.close_in = IN_END;
    tcp_world_dial(w, "no-such-host.invalid");
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't resolve the name: unknown node or service");
}

static void test_close_after_the_end(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "no-such-host.invalid");
    RUN_UNTIL(&w->rl, w->reader.ended);
    close_and_expect_no_callback(w);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, tcp_world_setup, tcp_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_reports_a_name_that_does_not_exist),
        CASE(test_reports_a_name_that_is_too_long),
        CASE(test_connects_to_a_name),
        CASE(test_reports_a_failure_after_write_and_resume),
        CASE(test_reports_a_refused_connection),
        CASE(test_reports_an_address_that_cant_be_tried),
        CASE(test_puts_ipv6_addresses_in_brackets),
        CASE(test_connects_to_the_second_address_after_a_refusal),
        CASE(test_connects_to_the_second_address_if_the_first_cant_be_tried),
        CASE(test_reports_that_all_addresses_refuse),
        CASE(test_connects_to_the_second_address_if_the_first_is_silent),
        CASE(test_reports_a_timeout),
        CASE(test_stops_the_timeout_when_connected),
        CASE(test_close_after_dialling),
        CASE(test_close_during_the_lookup),
        CASE(test_close_one_of_two_waiting_for_the_same_name),
        CASE(test_close_the_dialer_during_a_lookup),
        CASE(test_close_while_connecting),
        CASE(test_close_before_the_end_is_reported),
        CASE(test_close_when_open),
        CASE(test_close_during_a_write),
        CASE(test_close_with_untaken_bytes),
        CASE(test_close_when_paused_and_when_resumed),
        CASE(test_close_inside_on_open),
        CASE(test_close_inside_on_bytes),
        CASE(test_close_inside_on_bytes_taking_a_part),
        CASE(test_close_inside_on_end),
        CASE(test_close_inside_on_end_without_a_connection),
        CASE(test_close_after_the_end),
    };
    setenv("UV_THREADPOOL_SIZE", "1", 1); /* one lookup at a time */
    return cmocka_run_group_tests_name("tcp_dial", tests, NULL, NULL);
}
