/*
 * test_tcp_budget.c - TCP streams whose users take longer than the budget of a tick.
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
#include "tcp_world.h"

/* Takes a millisecond for each call. */
struct slow_user {
    struct stream_user user;
    struct stream *stream;
    int opened;
    size_t calls, len;
    const char *at; /* the last bytes */
    struct inf_error end;
};

static void slow_on_open(struct stream_user *user)
{
    container_of(user, struct slow_user, user)->opened++;
}

static size_t slow_on_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct slow_user *slow = container_of(user, struct slow_user, user);
    uint64_t until_ns = uv_hrtime() + UINT64_C(1000000);
    slow->calls++;
    slow->len += len;
    slow->at = bytes;
    while (uv_hrtime() < until_ns)
        continue;
    return len;
}

static void slow_on_end(struct stream_user *user, const struct inf_error *why)
{
    container_of(user, struct slow_user, user)->end = *why;
}

/* libuv would read up to 32 times in a row. */
static void test_stops_reading_when_the_budget_is_used_up(void **state)
{
    static const struct stream_user_ops ops = {
        .on_open = slow_on_open, .on_bytes = slow_on_bytes, .on_end = slow_on_end};
    struct tcp_world *w = *state;
    struct slow_user slow = {.user = {&ops}};
    size_t len = 8 * 1024 * 1024;
    char *bytes = xcalloc(1, len);
    slow.stream = dialer_dial(&w->dialer.dialer, "127.0.0.1", w->server.port, &slow.user);
    RUN_UNTIL(&w->rl, slow.opened && w->server.accepted);
    tcp_server_send(&w->server, bytes, len);
    while (slow.len < len) {
        size_t before = slow.calls;
        real_loop_tick(&w->rl);
        assert_in_range(slow.calls - before, 0, LOOP_BUDGET_US / 1000);
    }
    assert_ptr_equal(slow.at, w->rl.loop.read_buffer); /* the one buffer of all streams */
    stream_close(slow.stream);
    free(bytes);
}

/* libuv calls all readable streams in one round, hundreds after an outage. */
static void test_streams_share_a_tick_s_budget(void **state)
{
    static const struct stream_user_ops ops = {
        .on_open = slow_on_open, .on_bytes = slow_on_bytes, .on_end = slow_on_end};
    struct tcp_world *w = *state;
    struct tcp_server other = {0}, *servers[] = {&w->server, &other};
    struct slow_user slow[2] = {{.user = {&ops}}, {.user = {&ops}}};
    tcp_server_listen(&other, &w->rl.uv, "127.0.0.1");
    for (int i = 0; i < 2; i++) {
        slow[i].stream =
            dialer_dial(&w->dialer.dialer, "127.0.0.1", servers[i]->port, &slow[i].user);
        RUN_UNTIL(&w->rl, slow[i].opened && servers[i]->accepted);
    }
    for (int i = 0; i < 2; i++)
        tcp_server_send(servers[i], "x", 1);
    while (!slow[0].len || !slow[1].len) {
        size_t before = slow[0].calls + slow[1].calls;
        real_loop_tick(&w->rl);
        assert_in_range(slow[0].calls + slow[1].calls - before, 0, LOOP_BUDGET_US / 1000);
    }
    for (int i = 0; i < 2; i++)
        stream_close(slow[i].stream);
    tcp_server_close(&other);
}

/* Only the first call that receives gets the error; the next one gets the end. */
static void test_a_reset_of_a_late_stream_is_not_a_normal_end(void **state)
{
    static const struct stream_user_ops ops = {
        .on_open = slow_on_open, .on_bytes = slow_on_bytes, .on_end = slow_on_end};
    struct tcp_world *w = *state;
    struct slow_user slow = {.user = {&ops}};
    slow.stream = dialer_dial(&w->dialer.dialer, "127.0.0.1", w->server.port, &slow.user);
    RUN_UNTIL(&w->rl, slow.opened && w->server.accepted);
    tcp_server_send(&w->server, "x", 1);
    RUN_UNTIL(&w->rl, slow.len);
    tcp_server_reset(&w->server);
    RUN_UNTIL(&w->rl, slow.end.code);
    stream_close(slow.stream);
    assert_int_equal(slow.end.code, INF_ENET);
    assert_non_null(strstr(slow.end.text, "connection lost: connection reset by peer"));
}

/* The first one would be read in each tick until it has no more bytes. */
static void test_late_streams_take_turns(void **state)
{
    static const struct stream_user_ops ops = {
        .on_open = slow_on_open, .on_bytes = slow_on_bytes, .on_end = slow_on_end};
    struct tcp_world *w = *state;
    struct tcp_server other = {0}, *servers[] = {&w->server, &other};
    struct slow_user slow[2] = {{.user = {&ops}}, {.user = {&ops}}};
    size_t len = 4 * 1024 * 1024;
    char *bytes = xcalloc(1, len);
    tcp_server_listen(&other, &w->rl.uv, "127.0.0.1");
    for (int i = 0; i < 2; i++) {
        slow[i].stream =
            dialer_dial(&w->dialer.dialer, "127.0.0.1", servers[i]->port, &slow[i].user);
        RUN_UNTIL(&w->rl, slow[i].opened && servers[i]->accepted);
    }
    for (int i = 0; i < 2; i++)
        tcp_server_send(servers[i], bytes, len);
    while (slow[0].len < len && slow[1].len < len)
        real_loop_tick(&w->rl);
    for (int i = 0; i < 2; i++)
        stream_close(slow[i].stream);
    tcp_server_close(&other);
    free(bytes);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(slow[i].end.code, 0);
        assert_in_range(slow[i].len, len / 4, len);
    }
}

static unsigned starts; /* calls of uv_read_start() that had an effect */

/* NOLINTBEGIN(bugprone-reserved-identifier): names that the linker gives */
int __real_uv_read_start(uv_stream_t *stream, uv_alloc_cb alloc, uv_read_cb read);
int __wrap_uv_read_start(uv_stream_t *stream, uv_alloc_cb alloc, uv_read_cb read);

int __wrap_uv_read_start(uv_stream_t *stream, uv_alloc_cb alloc, uv_read_cb read)
{
    starts += !uv_is_active((uv_handle_t *)stream);
    return __real_uv_read_start(stream, alloc, read);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* Otherwise the system calls for many streams would grow with the square of their number. */
static void test_late_streams_are_not_started_in_each_tick(void **state)
{
    enum {
        STREAMS = 8
    };
    static const struct stream_user_ops ops = {
        .on_open = slow_on_open, .on_bytes = slow_on_bytes, .on_end = slow_on_end};
    struct tcp_world *w = *state;
    struct tcp_server servers[STREAMS] = {0};
    struct slow_user slow[STREAMS];
    size_t got = 0;
    for (int i = 0; i < STREAMS; i++) {
        slow[i] = (struct slow_user){.user = {&ops}};
        tcp_server_listen(&servers[i], &w->rl.uv, "127.0.0.1");
        slow[i].stream =
            dialer_dial(&w->dialer.dialer, "127.0.0.1", servers[i].port, &slow[i].user);
        RUN_UNTIL(&w->rl, slow[i].opened && servers[i].accepted);
    }
    real_loop_tick(&w->rl);
    for (int i = 0; i < STREAMS; i++)
        tcp_server_send(&servers[i], "x", 1);
    for (starts = 0; got < STREAMS;) {
        real_loop_tick(&w->rl);
        got = 0;
        for (int i = 0; i < STREAMS; i++)
            got += slow[i].len;
    }
    for (int i = 0; i < STREAMS; i++) {
        stream_close(slow[i].stream);
        tcp_server_close(&servers[i]);
    }
    real_loop_tick(&w->rl);
    assert_in_range(starts, 0, STREAMS);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, tcp_world_setup, tcp_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_stops_reading_when_the_budget_is_used_up),
        CASE(test_streams_share_a_tick_s_budget),
        CASE(test_a_reset_of_a_late_stream_is_not_a_normal_end),
        CASE(test_late_streams_take_turns),
        CASE(test_late_streams_are_not_started_in_each_tick),
    };
    return cmocka_run_group_tests_name("tcp_budget", tests, NULL, NULL);
}
