/*
 * test_tcp_dial.c - from a name to an open connection: every way in which it goes wrong, and
 * closing at each moment.
 *
 * Names are resolved by lib/resolver.c, so no name server is asked and a lookup takes as long as
 * the test likes.
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
           timers_next_due(&w->rl.loop.clock.timers) != TIMERS_NONE; /* its patience is running */
}

/* An address is being tried: the answer, though it may be there, comes in a later tick. */
static void run_until_connecting(struct tcp_world *w)
{
    RUN_UNTIL(&w->rl, connecting(w));
    assert_false(w->reader.opened);
}

static void lose_patience(struct tcp_world *w)
{
    struct clock *clock = &w->rl.loop.clock;
    timers_fire(&clock->timers, timers_next_due(&clock->timers));
}

/* ---- names ---- */

static void test_no_such_name(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "no-such-host.invalid");
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't resolve the name: unknown node or service");
    assert_int_equal(w->reader.opened + (int)w->reader.calls, 0);
}

/* libuv refuses it before asking anybody; that is told like all else, and not inside the call. */
static void test_name_too_long_to_ask_for(void **state)
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

static void test_a_name(void **state)
{
    struct tcp_world *w = *state;
    resolver_set("api.test", "127.0.0.1");
    tcp_world_dial(w, "api.test");
    RUN_UNTIL(&w->rl, w->reader.opened);
}

static void test_what_is_written_and_resumed_before_a_bad_end(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "no-such-host.invalid");
    stream_reader_write(&w->reader, "hello?", 6);
    stream_reader_pause(&w->reader);
    real_loop_settle(&w->rl);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.ended); /* no call is owed where there never was a connection */
    assert_int_equal(w->reader.calls, 0);
}

/* ---- addresses ---- */

static void test_refused(void **state)
{
    struct tcp_world *w = *state;
    uint16_t port;
    int fd = port_that_refuses("127.0.0.1", 0, &port);
    tcp_world_dial_port(w, "127.0.0.1", port);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't connect: connection refused");
    close(fd);
}

static void test_an_address_that_cant_even_be_tried(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "255.255.255.255"); /* TCP has no broadcast */
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_int_equal(w->reader.why.code, INF_ENET);
    assert_non_null(strstr(w->reader.why.text, ": can't connect: "));
}

static void test_ipv6_addresses_are_named_in_brackets(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "::ffff:255.255.255.255");
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_memory_equal(w->reader.why.text, "[::ffff:255.255.255.255]:", 25);
}

/* The first of two refuses: 127.0.0.2 at the server's port, which this test holds so that nobody
 * else can. */
static void test_the_second_address_answers(void **state)
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

static void test_the_first_cant_be_tried_the_second_answers(void **state)
{
    struct tcp_world *w = *state;
    resolver_set("two.test", "255.255.255.255 127.0.0.1");
    tcp_world_dial(w, "two.test");
    RUN_UNTIL(&w->rl, w->reader.opened);
}

static void test_all_refuse(void **state)
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

/* A dead first address costs a quarter of a second, and not the half minute of a kernel's patience. */
static void test_the_first_is_silent_the_second_answers(void **state)
{
    struct tcp_world *w = *state;
    uint16_t port;
    int fd = port_that_is_silent("127.0.0.2", w->server.port, &port);
    resolver_set("two.test", "127.0.0.2 127.0.0.1");
    tcp_world_dial(w, "two.test");
    run_until_connecting(w);
    lose_patience(w);
    RUN_UNTIL(&w->rl, w->reader.opened);
    close(fd);
}

/* ---- patience ---- */

static void test_no_answer_in_time(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    run_until_connecting(w);
    lose_patience(w);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "can't connect: no response");
    real_loop_settle(&w->rl); /* and an answer that comes too late is not told */
    assert_int_equal(w->reader.opened, 0);
}

static void test_patience_ends_with_the_connecting(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    run_until_connecting(w);
    RUN_UNTIL(&w->rl, w->reader.opened);
    assert_false(connecting(w));
}

/* ---- closing, at each moment: nothing is called afterwards, nothing leaks ---- */

static void close_and_see_nothing(struct tcp_world *w)
{
    int told = w->reader.opened + w->reader.ended + (int)w->reader.calls;
    stream_reader_close(&w->reader);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.opened + w->reader.ended + (int)w->reader.calls, told);
}

static void test_close_right_after_dialling(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    stream_reader_write(&w->reader, "hello", 5);
    close_and_see_nothing(w);
}

static void test_close_while_the_name_is_looked_up(void **state)
{
    struct tcp_world *w = *state;
    resolver_set("api.test", "127.0.0.1");
    resolver_hold();
    tcp_world_dial(w, "api.test");
    resolver_await();
    close_and_see_nothing(w);
    resolver_release(); /* the answer comes to nobody */
    real_loop_settle(&w->rl);
}

static void test_close_one_of_two_that_wait_for_the_same_name(void **state)
{
    struct tcp_world *w = *state;
    struct stream_reader other;
    stream_reader_init(&other);
    resolver_set("api.test", "127.0.0.1");
    resolver_hold();
    tcp_world_dial(w, "api.test");
    other.stream = dialer_dial(&w->dialer.dialer, "api.test", w->server.port, &other.user);
    resolver_await();
    close_and_see_nothing(w);
    resolver_release();
    RUN_UNTIL(&w->rl, other.opened);
    stream_reader_done(&other);
}

/* The end of the test closes the dialer while libuv's pool is busy for it. */
static void test_close_the_dialer_while_a_name_is_looked_up(void **state)
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
    close_and_see_nothing(w);
}

static void test_close_before_the_end_is_told(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    run_until_connecting(w);
    lose_patience(w); /* the end is noted, not told yet */
    close_and_see_nothing(w);
}

static void test_close_when_open(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    tcp_server_send(&w->server, "on its way", 10);
    close_and_see_nothing(w);
}

static void test_close_with_a_write_under_way(void **state)
{
    struct tcp_world *w = *state;
    size_t len = 16 * 1024 * 1024;
    char *bytes = calloc(1, len);
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    uv_read_stop((uv_stream_t *)&w->server.peer); /* so that not all of it goes out */
    stream_reader_write(&w->reader, bytes, len);
    free(bytes);
    close_and_see_nothing(w);
}

static void test_close_with_bytes_not_taken(void **state)
{
    struct tcp_world *w = *state;
    w->reader.take_none = true;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    tcp_server_send(&w->server, "leftovers", 9);
    RUN_UNTIL(&w->rl, w->reader.calls);
    close_and_see_nothing(w);
}

static void test_close_when_paused_and_when_resumed(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened);
    stream_reader_pause(&w->reader);
    stream_reader_resume(&w->reader);
    close_and_see_nothing(w); /* the owed call is owed no more */
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

/* There is no handle whose closing would keep the stream's memory: what on_end was given must live
 * all the same. */
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
    close_and_see_nothing(w);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, tcp_world_setup, tcp_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_no_such_name),
        CASE(test_name_too_long_to_ask_for),
        CASE(test_a_name),
        CASE(test_what_is_written_and_resumed_before_a_bad_end),
        CASE(test_refused),
        CASE(test_an_address_that_cant_even_be_tried),
        CASE(test_ipv6_addresses_are_named_in_brackets),
        CASE(test_the_second_address_answers),
        CASE(test_the_first_cant_be_tried_the_second_answers),
        CASE(test_all_refuse),
        CASE(test_the_first_is_silent_the_second_answers),
        CASE(test_no_answer_in_time),
        CASE(test_patience_ends_with_the_connecting),
        CASE(test_close_right_after_dialling),
        CASE(test_close_while_the_name_is_looked_up),
        CASE(test_close_one_of_two_that_wait_for_the_same_name),
        CASE(test_close_the_dialer_while_a_name_is_looked_up),
        CASE(test_close_while_connecting),
        CASE(test_close_before_the_end_is_told),
        CASE(test_close_when_open),
        CASE(test_close_with_a_write_under_way),
        CASE(test_close_with_bytes_not_taken),
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
