/*
 * test_connector.c - connects to several addresses in parallel: their order, the delays between the
 * attempts, and that abandoned attempts are released.
 *
 * Addresses are those of 127.0.0.0/8; a silent one is a listener whose queue is full. Time passes by
 * firing the timer that is due next.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "loop/connector.h"
#include "real_loop.h"
#include "tcp_server.h"

struct world {
    struct real_loop rl;
    struct tcp_server server; /* on 127.0.0.1 */
    struct connector connector;
    int fds[4]; /* sockets bound to the other addresses, at the server's port */
    size_t n_fds;
    uv_tcp_t *connected;
    char *failure; /* the text of on_failed */
};

static void on_connected(struct connector *connector, uv_tcp_t *handle)
{
    struct world *w = container_of(connector, struct world, connector);
    assert_null(w->connected);
    assert_null(w->failure);
    w->connected = handle;
}

static void on_failed(struct connector *connector, const char *why)
{
    struct world *w = container_of(connector, struct world, connector);
    assert_null(w->connected);
    assert_null(w->failure);
    w->failure = xstrdup(why);
}

static int setup(void **state)
{
    struct world *w = NEW(struct world);
    real_loop_init(&w->rl);
    tcp_server_listen(&w->server, &w->rl.uv, "127.0.0.1");
    connector_init(&w->connector, &w->rl.loop);
    w->connector.on_connected = on_connected;
    w->connector.on_failed = on_failed;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    connector_stop(&w->connector); /* harmless if it has ended */
    if (w->connected)
        loop_discard(&w->rl.loop, (uv_handle_t *)w->connected);
    tcp_server_close(&w->server);
    real_loop_done(&w->rl);
    while (w->n_fds)
        close(w->fds[--w->n_fds]);
    free(w->failure);
    free(w);
    return 0;
}

/* @ips: "127.0.0.2 127.0.0.1", in this order, at the server's port. */
static void start_connecting(struct world *w, const char *ips)
{
    struct addresses addresses = {0};
    char *text = xstrdup(ips), *rest = NULL;
    for (char *ip = strtok_r(text, " ", &rest); ip; ip = strtok_r(NULL, " ", &rest))
        assert_int_equal(uv_ip4_addr(ip, 0, &addresses.list[addresses.count++].v4), 0);
    free(text);
    connector_start(&w->connector, &addresses, w->server.port);
}

static void add_silent(struct world *w, const char *ip)
{
    uint16_t port;
    w->fds[w->n_fds++] = port_that_is_silent(ip, w->server.port, &port);
}

static void add_refusing(struct world *w, const char *ip)
{
    uint16_t port;
    w->fds[w->n_fds++] = port_that_refuses(ip, w->server.port, &port);
}

static size_t count_attempts(const struct world *w)
{
    size_t n = 0;
    list_for_each(node, &w->connector.attempts)
        n++;
    return n;
}

static void fire_next_timer(struct world *w)
{
    struct clock *clock = &w->rl.loop.clock;
    timers_fire(&clock->timers, timers_next_due(&clock->timers));
}

static void assert_connected_to(struct world *w, const char *ip)
{
    struct sockaddr_storage peer;
    int len = sizeof(peer);
    char text[64];
    assert_non_null(w->connected);
    assert_int_equal(uv_tcp_getpeername(w->connected, (struct sockaddr *)&peer, &len), 0);
    uv_ip4_name((const struct sockaddr_in *)&peer, text, sizeof(text));
    assert_string_equal(text, ip);
    assert_int_equal(count_attempts(w), 0);
    assert_true(timers_next_due(&w->rl.loop.clock.timers) == TIMERS_NONE);
}

/* ---- success ---- */

static void test_connects_to_the_only_address(void **state)
{
    struct world *w = *state;
    start_connecting(w, "127.0.0.1");
    assert_null(w->connected); /* never inside the call */
    RUN_UNTIL(&w->rl, w->connected);
    assert_connected_to(w, "127.0.0.1");
}

static void test_tries_the_next_address_after_250_ms_of_silence(void **state)
{
    struct world *w = *state;
    struct clock *clock = &w->rl.loop.clock;
    add_silent(w, "127.0.0.2");
    start_connecting(w, "127.0.0.2 127.0.0.1");
    assert_int_equal(count_attempts(w), 1);
    assert_int_equal(timers_next_due(&clock->timers) - clock_now_ms(clock), CONNECTOR_STAGGER_MS);
    fire_next_timer(w);
    assert_int_equal(count_attempts(w), 2);
    RUN_UNTIL(&w->rl, w->connected);
    assert_connected_to(w, "127.0.0.1");
}

static void test_tries_the_next_address_at_once_after_a_refusal(void **state)
{
    struct world *w = *state;
    add_refusing(w, "127.0.0.2");
    add_refusing(w, "127.0.0.3");
    start_connecting(w, "127.0.0.2 127.0.0.3 127.0.0.1");
    for (int i = 0; i < 3 && !w->connected;
         i++) /* one tick per address; a delay would take longer */
        real_loop_settle(&w->rl);
    assert_connected_to(w, "127.0.0.1");
}

/* The second address fails while the first is silent: the third is tried at once, and the first
 * attempt continues. */
static void test_a_refusal_does_not_end_a_silent_attempt(void **state)
{
    struct world *w = *state;
    add_silent(w, "127.0.0.2");
    add_refusing(w, "127.0.0.3");
    start_connecting(w, "127.0.0.2 127.0.0.3 127.0.0.1");
    fire_next_timer(w);
    RUN_UNTIL(&w->rl, w->connected);
    assert_connected_to(w, "127.0.0.1");
}

/* Both addresses accept connections. */
static void test_uses_the_first_connection_and_closes_the_other(void **state)
{
    struct world *w = *state;
    uint16_t port;
    int fd = port_that_refuses("127.0.0.2", w->server.port, &port);
    assert_int_equal(listen(fd, 1), 0);
    w->fds[w->n_fds++] = fd;
    start_connecting(w, "127.0.0.2 127.0.0.1");
    fire_next_timer(w);
    assert_int_equal(count_attempts(w), 2);
    RUN_UNTIL(&w->rl, w->connected);
    assert_int_equal(count_attempts(w), 0);
    real_loop_settle(&w->rl); /* no second callback */
}

static void test_skips_an_address_that_cant_be_tried(void **state)
{
    struct world *w = *state;
    start_connecting(w, "255.255.255.255 127.0.0.1"); /* TCP has no broadcast */
    assert_int_equal(count_attempts(w), 1);
    RUN_UNTIL(&w->rl, w->connected);
    assert_connected_to(w, "127.0.0.1");
}

/* ---- failure ---- */

static void test_fails_if_all_addresses_refuse(void **state)
{
    struct world *w = *state;
    add_refusing(w, "127.0.0.2");
    add_refusing(w, "127.0.0.3");
    start_connecting(w, "127.0.0.2 127.0.0.3");
    RUN_UNTIL(&w->rl, w->failure);
    assert_string_equal(w->failure, "connection refused");
    assert_true(timers_next_due(&w->rl.loop.clock.timers) == TIMERS_NONE);
}

static void test_fails_after_the_deadline_if_all_addresses_are_silent(void **state)
{
    struct world *w = *state;
    struct clock *clock = &w->rl.loop.clock;
    uint64_t began = clock_now_ms(clock);
    add_silent(w, "127.0.0.2");
    add_silent(w, "127.0.0.3");
    start_connecting(w, "127.0.0.2 127.0.0.3");
    fire_next_timer(w);
    assert_int_equal(count_attempts(w), 2);
    assert_int_equal(timers_next_due(&clock->timers) - began, CONNECTOR_MAX_MS);
    fire_next_timer(w);
    assert_string_equal(w->failure, "no response");
    assert_int_equal(count_attempts(w), 0);
}

/* An attempt that may still connect is awaited. */
static void test_waits_for_a_silent_address_after_the_last_refusal(void **state)
{
    struct world *w = *state;
    add_silent(w, "127.0.0.2");
    add_refusing(w, "127.0.0.3");
    start_connecting(w, "127.0.0.2 127.0.0.3");
    fire_next_timer(w);
    RUN_UNTIL(&w->rl, count_attempts(w) == 1);
    assert_null(w->failure);
    fire_next_timer(w);
    assert_string_equal(w->failure, "no response");
}

static void test_fails_without_addresses(void **state)
{
    struct world *w = *state;
    start_connecting(w, "");
    assert_string_equal(w->failure, "the name has no address");
}

/* ---- stopping: no callback, everything released ---- */

static void test_stops_with_two_attempts_in_progress(void **state)
{
    struct world *w = *state;
    add_silent(w, "127.0.0.2");
    start_connecting(w, "127.0.0.2 127.0.0.1");
    fire_next_timer(w);
    connector_stop(&w->connector);
    real_loop_settle(&w->rl);
    assert_null(w->connected);
    assert_null(w->failure);
}

static void test_can_start_again_after_a_stop(void **state)
{
    struct world *w = *state;
    add_silent(w, "127.0.0.2");
    start_connecting(w, "127.0.0.2 127.0.0.1");
    connector_stop(&w->connector);
    start_connecting(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->connected);
    assert_connected_to(w, "127.0.0.1");
}

/* ---- the order ---- */

/* @ips: the result of getaddrinfo(), at most 20. */
static void assert_order(const char *ips, const char *order)
{
    struct addrinfo result[20] = {{0}};
    union address found[20];
    struct addresses addresses;
    struct buf actual = {0};
    char *text = xstrdup(ips), *rest = NULL, ip[64];
    size_t n = 0;
    for (char *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest), n++) {
        bool v6 = strchr(one, ':');
        if (v6)
            uv_ip6_addr(one, 0, &found[n].v6);
        else
            uv_ip4_addr(one, 0, &found[n].v4);
        result[n].ai_family = v6 ? AF_INET6 : AF_INET;
        result[n].ai_addr = &found[n].any;
        result[n].ai_addrlen = v6 ? sizeof(found[n].v6) : sizeof(found[n].v4);
        if (n)
            result[n - 1].ai_next = &result[n];
    }
    addresses_from_addrinfo(&addresses, n ? result : NULL);
    for (size_t i = 0; i < addresses.count; i++) {
        uv_ip_name(&addresses.list[i].any, ip, sizeof(ip));
        buf_printf(&actual, "%s%s", i ? " " : "", ip);
    }
    buf_putc(&actual, '\0');
    assert_string_equal(actual.bytes, order);
    buf_free(&actual);
    free(text);
}

static void test_ipv6_and_ipv4_addresses_alternate(void **state)
{
    (void)state;
    assert_order("", "");
    assert_order("10.0.0.2 10.0.0.1", "10.0.0.2 10.0.0.1");
    assert_order("::2 ::1 10.0.0.1 10.0.0.2 10.0.0.3", "::2 10.0.0.1 ::1 10.0.0.2 10.0.0.3");
    assert_order("10.0.0.1 10.0.0.2 ::1", "10.0.0.1 ::1 10.0.0.2");
}

static void test_ignores_addresses_over_the_limit(void **state)
{
    (void)state;
    assert_order("::1 ::2 ::3 ::4 ::5 ::6 ::7 ::8 ::9 ::a ::b ::c ::d ::e ::f ::10 ::11 10.0.0.1",
                 "::1 10.0.0.1 ::2 ::3 ::4 ::5 ::6 ::7 ::8 ::9 ::a ::b ::c ::d ::e ::f");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_connects_to_the_only_address),
        CASE(test_tries_the_next_address_after_250_ms_of_silence),
        CASE(test_tries_the_next_address_at_once_after_a_refusal),
        CASE(test_a_refusal_does_not_end_a_silent_attempt),
        CASE(test_uses_the_first_connection_and_closes_the_other),
        CASE(test_skips_an_address_that_cant_be_tried),
        CASE(test_fails_if_all_addresses_refuse),
        CASE(test_fails_after_the_deadline_if_all_addresses_are_silent),
        CASE(test_waits_for_a_silent_address_after_the_last_refusal),
        CASE(test_fails_without_addresses),
        CASE(test_stops_with_two_attempts_in_progress),
        CASE(test_can_start_again_after_a_stop),
        cmocka_unit_test(test_ipv6_and_ipv4_addresses_alternate),
        cmocka_unit_test(test_ignores_addresses_over_the_limit),
    };
    return cmocka_run_group_tests_name("connector", tests, NULL, NULL);
}
