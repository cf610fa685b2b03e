/*
 * test_race.c - several addresses, of which one may answer: in which order, how soon, and that the
 * losers leave nothing behind.
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
#include "loop/race.h"
#include "real_loop.h"
#include "tcp_server.h"

struct world {
    struct real_loop rl;
    struct tcp_server server; /* on 127.0.0.1 */
    struct race race;
    int fds[4]; /* what holds the other addresses at the server's port */
    size_t n_fds;
    uv_tcp_t *won;
    char *lost; /* why */
};

static void on_won(struct race *race, uv_tcp_t *handle)
{
    struct world *w = container_of(race, struct world, race);
    assert_null(w->won);
    assert_null(w->lost);
    w->won = handle;
}

static void on_lost(struct race *race, const char *why)
{
    struct world *w = container_of(race, struct world, race);
    assert_null(w->won);
    assert_null(w->lost);
    w->lost = xstrdup(why);
}

static int setup(void **state)
{
    struct world *w = NEW(struct world);
    real_loop_init(&w->rl);
    tcp_server_listen(&w->server, &w->rl.uv, "127.0.0.1");
    race_init(&w->race, &w->rl.loop);
    w->race.on_won = on_won;
    w->race.on_lost = on_lost;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    race_stop(&w->race); /* harmless, whatever has become of it */
    if (w->won)
        loop_discard(&w->rl.loop, (uv_handle_t *)w->won);
    tcp_server_close(&w->server);
    real_loop_done(&w->rl);
    while (w->n_fds)
        close(w->fds[--w->n_fds]);
    free(w->lost);
    free(w);
    return 0;
}

/* @ips: "127.0.0.2 127.0.0.1", in this order, at the server's port. */
static void start(struct world *w, const char *ips)
{
    struct addresses addresses = {0};
    char *text = xstrdup(ips), *rest = NULL;
    for (char *ip = strtok_r(text, " ", &rest); ip; ip = strtok_r(NULL, " ", &rest))
        assert_int_equal(uv_ip4_addr(ip, 0, &addresses.list[addresses.count++].v4), 0);
    free(text);
    race_start(&w->race, &addresses, w->server.port);
}

static void silent(struct world *w, const char *ip)
{
    uint16_t port;
    w->fds[w->n_fds++] = port_that_is_silent(ip, w->server.port, &port);
}

static void refusing(struct world *w, const char *ip)
{
    uint16_t port;
    w->fds[w->n_fds++] = port_that_refuses(ip, w->server.port, &port);
}

static size_t under_way(const struct world *w)
{
    size_t n = 0;
    list_for_each(node, &w->race.attempts)
        n++;
    return n;
}

static void next_timer(struct world *w)
{
    struct clock *clock = &w->rl.loop.clock;
    timers_fire(&clock->timers, timers_next_due(&clock->timers));
}

static void assert_won_by(struct world *w, const char *ip)
{
    struct sockaddr_storage peer;
    int len = sizeof(peer);
    char text[64];
    assert_non_null(w->won);
    assert_int_equal(uv_tcp_getpeername(w->won, (struct sockaddr *)&peer, &len), 0);
    uv_ip4_name((const struct sockaddr_in *)&peer, text, sizeof(text));
    assert_string_equal(text, ip);
    assert_int_equal(under_way(w), 0);
    assert_true(timers_next_due(&w->rl.loop.clock.timers) == TIMERS_NONE);
}

/* ---- who wins ---- */

static void test_the_only_one(void **state)
{
    struct world *w = *state;
    start(w, "127.0.0.1");
    assert_null(w->won); /* never inside the call */
    RUN_UNTIL(&w->rl, w->won);
    assert_won_by(w, "127.0.0.1");
}

static void test_a_silent_one_has_a_quarter_of_a_second_for_itself(void **state)
{
    struct world *w = *state;
    struct clock *clock = &w->rl.loop.clock;
    silent(w, "127.0.0.2");
    start(w, "127.0.0.2 127.0.0.1");
    assert_int_equal(under_way(w), 1);
    assert_int_equal(timers_next_due(&clock->timers) - clock_now_ms(clock), RACE_STAGGER_MS);
    next_timer(w);
    assert_int_equal(under_way(w), 2);
    RUN_UNTIL(&w->rl, w->won);
    assert_won_by(w, "127.0.0.1");
}

static void test_one_that_refuses_costs_no_time(void **state)
{
    struct world *w = *state;
    refusing(w, "127.0.0.2");
    refusing(w, "127.0.0.3");
    start(w, "127.0.0.2 127.0.0.3 127.0.0.1");
    for (int i = 0; i < 3 && !w->won; i++) /* a tick each; a wait would take more than that */
        real_loop_settle(&w->rl);
    assert_won_by(w, "127.0.0.1");
}

/* While the first hangs, the second fails: the third begins at once, and the first still may win. */
static void test_a_failure_beside_a_silent_one(void **state)
{
    struct world *w = *state;
    silent(w, "127.0.0.2");
    refusing(w, "127.0.0.3");
    start(w, "127.0.0.2 127.0.0.3 127.0.0.1");
    next_timer(w);
    RUN_UNTIL(&w->rl, w->won);
    assert_won_by(w, "127.0.0.1");
}

/* Both would answer, in the order in which they were tried. */
static void test_the_first_to_connect_wins(void **state)
{
    struct world *w = *state;
    uint16_t port;
    int fd = port_that_refuses("127.0.0.2", w->server.port, &port);
    assert_int_equal(listen(fd, 1), 0);
    w->fds[w->n_fds++] = fd;
    start(w, "127.0.0.2 127.0.0.1");
    next_timer(w);
    assert_int_equal(under_way(w), 2);
    RUN_UNTIL(&w->rl, w->won);
    assert_int_equal(under_way(w), 0);
    real_loop_settle(&w->rl); /* the loser's connection, made or not, is not told */
}

static void test_one_that_cant_be_tried(void **state)
{
    struct world *w = *state;
    start(w, "255.255.255.255 127.0.0.1"); /* TCP has no broadcast */
    assert_int_equal(under_way(w), 1);
    RUN_UNTIL(&w->rl, w->won);
    assert_won_by(w, "127.0.0.1");
}

/* ---- nobody ---- */

static void test_all_refuse(void **state)
{
    struct world *w = *state;
    refusing(w, "127.0.0.2");
    refusing(w, "127.0.0.3");
    start(w, "127.0.0.2 127.0.0.3");
    RUN_UNTIL(&w->rl, w->lost);
    assert_string_equal(w->lost, "connection refused");
    assert_true(timers_next_due(&w->rl.loop.clock.timers) == TIMERS_NONE);
}

static void test_all_are_silent(void **state)
{
    struct world *w = *state;
    struct clock *clock = &w->rl.loop.clock;
    uint64_t began = clock_now_ms(clock);
    silent(w, "127.0.0.2");
    silent(w, "127.0.0.3");
    start(w, "127.0.0.2 127.0.0.3");
    next_timer(w);
    assert_int_equal(under_way(w), 2);
    assert_int_equal(timers_next_due(&clock->timers) - began, RACE_MAX_MS);
    next_timer(w);
    assert_string_equal(w->lost, "no response");
    assert_int_equal(under_way(w), 0);
}

/* The last one to fail does not end it while another may still answer. */
static void test_the_last_refuses_the_first_is_silent(void **state)
{
    struct world *w = *state;
    silent(w, "127.0.0.2");
    refusing(w, "127.0.0.3");
    start(w, "127.0.0.2 127.0.0.3");
    next_timer(w);
    RUN_UNTIL(&w->rl, under_way(w) == 1);
    assert_null(w->lost);
    next_timer(w);
    assert_string_equal(w->lost, "no response");
}

static void test_no_address_at_all(void **state)
{
    struct world *w = *state;
    start(w, "");
    assert_string_equal(w->lost, "the name has no address");
}

/* ---- stopped: nothing is told, nothing is left ---- */

static void test_stopped_with_two_under_way(void **state)
{
    struct world *w = *state;
    silent(w, "127.0.0.2");
    start(w, "127.0.0.2 127.0.0.1");
    next_timer(w);
    race_stop(&w->race);
    real_loop_settle(&w->rl);
    assert_null(w->won);
    assert_null(w->lost);
}

static void test_a_second_race_after_the_first_was_stopped(void **state)
{
    struct world *w = *state;
    silent(w, "127.0.0.2");
    start(w, "127.0.0.2 127.0.0.1");
    race_stop(&w->race);
    start(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->won);
    assert_won_by(w, "127.0.0.1");
}

/* ---- the order ---- */

/* @ips as a name server would say them, at most 20. */
static void assert_order(const char *ips, const char *order)
{
    struct addrinfo answer[20] = {{0}};
    union address found[20];
    struct addresses addresses;
    struct buf said = {0};
    char *text = xstrdup(ips), *rest = NULL, ip[64];
    size_t n = 0;
    for (char *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest), n++) {
        bool v6 = strchr(one, ':');
        if (v6)
            uv_ip6_addr(one, 0, &found[n].v6);
        else
            uv_ip4_addr(one, 0, &found[n].v4);
        answer[n].ai_family = v6 ? AF_INET6 : AF_INET;
        answer[n].ai_addr = &found[n].any;
        answer[n].ai_addrlen = v6 ? sizeof(found[n].v6) : sizeof(found[n].v4);
        if (n)
            answer[n - 1].ai_next = &answer[n];
    }
    addresses_from_answer(&addresses, n ? answer : NULL);
    for (size_t i = 0; i < addresses.count; i++) {
        uv_ip_name(&addresses.list[i].any, ip, sizeof(ip));
        buf_printf(&said, "%s%s", i ? " " : "", ip);
    }
    buf_putc(&said, '\0');
    assert_string_equal(said.bytes, order);
    buf_free(&said);
    free(text);
}

static void test_the_families_take_turns(void **state)
{
    (void)state;
    assert_order("", "");
    assert_order("10.0.0.2 10.0.0.1", "10.0.0.2 10.0.0.1");
    assert_order("::2 ::1 10.0.0.1 10.0.0.2 10.0.0.3", "::2 10.0.0.1 ::1 10.0.0.2 10.0.0.3");
    assert_order("10.0.0.1 10.0.0.2 ::1", "10.0.0.1 ::1 10.0.0.2");
}

static void test_more_addresses_than_anybody_needs(void **state)
{
    (void)state;
    assert_order("::1 ::2 ::3 ::4 ::5 ::6 ::7 ::8 ::9 ::a ::b ::c ::d ::e ::f ::10 ::11 10.0.0.1",
                 "::1 10.0.0.1 ::2 ::3 ::4 ::5 ::6 ::7 ::8 ::9 ::a ::b ::c ::d ::e ::f");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_the_only_one),
        CASE(test_a_silent_one_has_a_quarter_of_a_second_for_itself),
        CASE(test_one_that_refuses_costs_no_time),
        CASE(test_a_failure_beside_a_silent_one),
        CASE(test_the_first_to_connect_wins),
        CASE(test_one_that_cant_be_tried),
        CASE(test_all_refuse),
        CASE(test_all_are_silent),
        CASE(test_the_last_refuses_the_first_is_silent),
        CASE(test_no_address_at_all),
        CASE(test_stopped_with_two_under_way),
        CASE(test_a_second_race_after_the_first_was_stopped),
        cmocka_unit_test(test_the_families_take_turns),
        cmocka_unit_test(test_more_addresses_than_anybody_needs),
    };
    return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
