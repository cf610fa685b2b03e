/*
 * test_tcp.c - TCP streams and a plain server, both on one real loop.
 *
 * The reader (lib/stream_reader.h) checks the rules of seam/stream.h in every callback. Failures before
 * the stream is open, and closing in each state, are in test_tcp_dial.c; slow users in test_tcp_budget.c.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "tcp_world.h"

/* Opens the stream; neither side has sent anything. */
static struct tcp_world *opened(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    return w;
}

static char *pattern(size_t len)
{
    char *bytes = xmalloc(len);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i % 251);
    return bytes;
}

static void assert_got(const struct buf *got, const char *bytes, size_t len)
{
    assert_int_equal(got->len, len);
    if (len)
        assert_memory_equal(got->bytes, bytes, len);
}

static void sends(struct tcp_world *w, const char *text)
{
    tcp_server_send(&w->server, text, strlen(text));
}

/* ---- both directions ---- */

static void test_sends_and_receives(void **state)
{
    struct tcp_world *w = *state;
    w->server.echo = true;
    w->reader.write_in_open = "ping";
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.got.len == 4);
    assert_got(&w->reader.got, "ping", 4);
}

static void test_sends_bytes_written_before_open_first(void **state)
{
    struct tcp_world *w = *state;
    w->reader.write_in_open = "three";
    tcp_world_dial(w, "127.0.0.1");
    stream_reader_write(&w->reader, "one ", 4);
    stream_reader_write(&w->reader, "", 0);
    stream_reader_write(&w->reader, "two ", 4);
    RUN_UNTIL(&w->rl, w->server.got.len == 13);
    assert_got(&w->server.got, "one two three", 13);
}

static void test_sends_and_receives_megabytes(void **state)
{
    struct tcp_world *w = opened(state);
    size_t len = 4 * 1024 * 1024;
    char *bytes = pattern(len);
    w->server.echo = true;
    stream_reader_write(&w->reader, bytes, len / 2);
    stream_reader_write(&w->reader, bytes + len / 2, len - len / 2);
    RUN_UNTIL(&w->rl, w->reader.got.len == len);
    assert_got(&w->reader.got, bytes, len);
    free(bytes);
}

static void test_close_sends_fin(void **state)
{
    struct tcp_world *w = opened(state);
    stream_reader_write(&w->reader, "bye", 3);
    RUN_UNTIL(&w->rl, w->server.got.len == 3);
    stream_reader_close(&w->reader);
    RUN_UNTIL(&w->rl, w->server.ended);
}

/* The descriptor of the stream's socket: the one whose peer is the server. */
static int socket_of(const struct tcp_world *w)
{
    struct sockaddr_in peer;
    socklen_t len = sizeof(peer);
    for (int fd = 0; fd < 1024; fd++)
        if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && peer.sin_family == AF_INET &&
            ntohs(peer.sin_port) == w->server.port)
            return fd;
    return -1;
}

static int option_of(int fd, int level, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);
    assert_int_equal(getsockopt(fd, level, option, &value, &len), 0);
    return value;
}

static void test_sets_options_that_detect_a_dead_peer(void **state)
{
    struct tcp_world *w = opened(state);
    int fd = socket_of(w);
    assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30000);
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
}

/* ---- yields ---- */

/* All of @len bytes arrive, once and in order, then the end. */
static void read_to_the_end(struct tcp_world *w, size_t len)
{
    char *bytes = pattern(len);
    tcp_server_send(&w->server, bytes, len);
    tcp_server_end(&w->server);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_got(&w->reader.got, bytes, len);
    assert_tcp_end(w, INF_EEOF, "connection closed by the peer");
    free(bytes);
}

static void test_accepts_a_user_that_takes_all(void **state)
{
    struct tcp_world *w = opened(state);
    read_to_the_end(w, 1000 * 1000);
}

static void test_accepts_yields_after_each_byte(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.take = 1;
    read_to_the_end(w, 3000);
}

static void test_accepts_yields_after_seven_bytes(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.take = 7;
    read_to_the_end(w, 20 * 1000);
}

/* 0 to 100 bytes per call, at random. */
static void test_accepts_random_yields(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.take = 100;
    w->reader.dice.state = 1;
    read_to_the_end(w, 20 * 1000);
}

static void test_accepts_a_resume_in_each_call(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.take = 100;
    w->reader.resume_again = true;
    read_to_the_end(w, 1000);
    assert_int_equal(w->reader.empty_calls, 1); /* it also resumed with the last byte */
}

static void test_offers_untaken_bytes_in_each_tick(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.take_none = true;
    sends(w, "hello");
    RUN_UNTIL(&w->rl, w->reader.calls);
    for (size_t calls = w->reader.calls; calls < 10; calls++) {
        assert_int_equal(w->reader.calls, calls);
        real_loop_tick(&w->rl);
    }
    w->reader.take_none = false;
    real_loop_tick(&w->rl);
    assert_got(&w->reader.got, "hello", 5);
}

static void test_offers_kept_bytes_before_new_ones(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.take_none = true;
    sends(w, "first ");
    RUN_UNTIL(&w->rl, w->reader.calls);
    sends(w, "second");
    real_loop_settle(&w->rl);
    w->reader.take_none = false;
    RUN_UNTIL(&w->rl, w->reader.got.len == 12);
    assert_got(&w->reader.got, "first second", 12);
}

/* ---- pause and resume ---- */

static void test_makes_no_callbacks_while_paused(void **state)
{
    struct tcp_world *w = *state;
    w->reader.pause_in = IN_OPEN;
    tcp_world_dial(w, "127.0.0.1");
    RUN_UNTIL(&w->rl, w->reader.opened && w->server.accepted);
    sends(w, "patience");
    tcp_server_end(&w->server);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.calls + (size_t)w->reader.ended, 0);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_got(&w->reader.got, "patience", 8);
    assert_tcp_end(w, INF_EEOF, "connection closed by the peer");
}

static void test_keeps_untaken_bytes_while_paused(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.pause_in = IN_BYTES;
    w->reader.take = 2;
    sends(w, "abcdef");
    for (size_t taken = 2; taken <= 6; taken += 2) {
        RUN_UNTIL(&w->rl, w->reader.paused);
        real_loop_settle(&w->rl);
        assert_got(&w->reader.got, "abcdef", taken);
        stream_reader_resume(&w->reader);
    }
}

static void test_a_pause_stops_the_peer(void **state)
{
    struct tcp_world *w = opened(state);
    size_t len = 16 * 1024 * 1024;
    char *bytes = pattern(len);
    stream_reader_pause(&w->reader);
    tcp_server_send(&w->server, bytes, len);
    real_loop_settle(&w->rl);
    assert_true(uv_stream_get_write_queue_size((uv_stream_t *)&w->server.peer) > 0);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.got.len == len);
    assert_got(&w->reader.got, bytes, len);
    free(bytes);
}

static void assert_one_empty_call_next_tick(struct tcp_world *w)
{
    size_t before = w->reader.empty_calls;
    stream_reader_resume(&w->reader);
    assert_int_equal(w->reader.empty_calls, before); /* never inside the call */
    real_loop_tick(&w->rl);
    assert_int_equal(w->reader.empty_calls, before + 1);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.empty_calls, before + 1);
}

static void test_calls_on_bytes_after_resume(void **state)
{
    struct tcp_world *w = opened(state);
    assert_one_empty_call_next_tick(w); /* also if it was not paused */
    stream_reader_pause(&w->reader);
    assert_one_empty_call_next_tick(w);
    sends(w, "x");
    RUN_UNTIL(&w->rl, w->reader.got.len);
    assert_one_empty_call_next_tick(w);
}

static void test_calls_on_bytes_after_a_resume_before_open(void **state)
{
    struct tcp_world *w = *state;
    tcp_world_dial(w, "127.0.0.1");
    stream_reader_pause(&w->reader);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.opened);
    RUN_UNTIL(&w->rl, w->reader.calls);
    assert_int_equal(w->reader.empty_calls, 1);
}

static void test_a_pause_after_resume_prevents_the_call(void **state)
{
    struct tcp_world *w = opened(state);
    stream_reader_resume(&w->reader);
    stream_reader_pause(&w->reader);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.calls, 0);
    assert_one_empty_call_next_tick(w);
}

static void test_calls_on_bytes_after_resume_before_the_end(void **state)
{
    struct tcp_world *w = opened(state);
    stream_reader_pause(&w->reader);
    tcp_server_end(&w->server);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.ended, 0);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.ended); /* the reader checks that this was the last call */
    assert_int_equal(w->reader.empty_calls, 1);
}

/* ---- ends ---- */

static void test_reports_a_reset(void **state)
{
    struct tcp_world *w = opened(state);
    tcp_server_reset(&w->server);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_tcp_end(w, INF_ENET, "connection lost: connection reset by peer");
    stream_reader_write(&w->reader, "no peer?", 8); /* ignored, without a callback */
    stream_reader_pause(&w->reader);
    stream_reader_resume(&w->reader);
    real_loop_settle(&w->rl);
}

/* Reading or writing may detect it; it is reported once. */
static void test_reports_a_failed_write(void **state)
{
    struct tcp_world *w = opened(state);
    stream_reader_pause(&w->reader); /* reading can't detect it */
    tcp_server_reset(&w->server);
    real_loop_settle(&w->rl);
    stream_reader_write(&w->reader, "a", 1);
    stream_reader_write(&w->reader, "b", 1);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.ended, 0);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_int_equal(w->reader.why.code, INF_ENET);
}

/* As a server does that responds with 401 and closes before it has read the request. */
static void test_delivers_received_bytes_before_a_failed_write_is_reported(void **state)
{
    struct tcp_world *w = opened(state);
    w->reader.take_none = true;
    sends(w, "answer");
    RUN_UNTIL(&w->rl, w->reader.calls);
    tcp_server_reset(&w->server);
    real_loop_settle(&w->rl);
    stream_reader_write(&w->reader, "question", 8);
    stream_reader_write(&w->reader, "question", 8);
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.ended, 0);
    w->reader.take_none = false;
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_got(&w->reader.got, "answer", 6);
    assert_int_equal(w->reader.why.code, INF_ENET);
}

/* ---- budget ---- */

struct miser {
    uv_prepare_t prepare;
    struct loop *loop;
    unsigned tick;
};

static void on_prepare(uv_prepare_t *prepare)
{
    struct miser *m = container_of(prepare, struct miser, prepare);
    if (m->tick++ % 3 == 1)
        m->loop->deadline_ns = 1; /* long ago: this tick's I/O is over budget before it begins */
}

static void test_delivers_everything_with_ticks_over_budget(void **state)
{
    struct tcp_world *w = opened(state);
    struct miser miser = {.loop = &w->rl.loop};
    assert_int_equal(uv_prepare_init(&w->rl.uv, &miser.prepare), 0);
    uv_prepare_start(&miser.prepare, on_prepare);
    w->reader.take = 1000;
    read_to_the_end(w, 300 * 1000);
    uv_close((uv_handle_t *)&miser.prepare, NULL);
    real_loop_tick(&w->rl);
}

/* ---- gathering ---- */

/* A stream that is gathered, as after many reads. */
static struct tcp_world *gathering(void **state)
{
    struct tcp_world *w = opened(state);
    struct gather *gather = &w->rl.loop.gather;
    gather_set_interval(gather, 5);
    stream_gather(w->reader.stream, true);
    for (size_t got = 1; list_empty(&gather->streams); got++) {
        gather->is_busy = true;
        sends(w, "x");
        RUN_UNTIL(&w->rl, w->reader.got.len == got);
    }
    assert_int_equal(option_of(socket_of(w), SOL_SOCKET, SO_RCVLOWAT), GATHER_BYTES);
    buf_clear(&w->reader.got);
    return w;
}

static void test_a_gathered_stream_gets_few_and_many_bytes_and_the_end(void **state)
{
    struct tcp_world *w = gathering(state);
    size_t len = 1024 * 1024;
    char *bytes = pattern(len);
    sends(w, "few");
    RUN_UNTIL(&w->rl, w->reader.got.len == 3);
    assert_got(&w->reader.got, "few", 3);
    buf_clear(&w->reader.got);
    tcp_server_send(&w->server, bytes, len);
    tcp_server_end(&w->server);
    RUN_UNTIL(&w->rl, w->reader.ended);
    assert_got(&w->reader.got, bytes, len);
    free(bytes);
}

static void test_a_gathered_stream_obeys_pause_and_resume(void **state)
{
    struct tcp_world *w = gathering(state);
    stream_reader_pause(&w->reader);
    sends(w, "later");
    real_loop_settle(&w->rl);
    assert_int_equal(w->reader.got.len, 0);
    stream_reader_resume(&w->reader);
    RUN_UNTIL(&w->rl, w->reader.got.len == 5);
}

static void test_a_stream_is_released_on_request(void **state)
{
    struct tcp_world *w = gathering(state);
    stream_gather(w->reader.stream, false);
    assert_int_equal(option_of(socket_of(w), SOL_SOCKET, SO_RCVLOWAT), 1);
    sends(w, "now");
    RUN_UNTIL(&w->rl, w->reader.got.len == 3);
    assert_true(list_empty(&w->rl.loop.gather.streams));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, tcp_world_setup, tcp_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_sends_and_receives),
        CASE(test_sends_bytes_written_before_open_first),
        CASE(test_sends_and_receives_megabytes),
        CASE(test_close_sends_fin),
        CASE(test_sets_options_that_detect_a_dead_peer),
        CASE(test_accepts_a_user_that_takes_all),
        CASE(test_accepts_yields_after_each_byte),
        CASE(test_accepts_yields_after_seven_bytes),
        CASE(test_accepts_random_yields),
        CASE(test_accepts_a_resume_in_each_call),
        CASE(test_offers_untaken_bytes_in_each_tick),
        CASE(test_offers_kept_bytes_before_new_ones),
        CASE(test_makes_no_callbacks_while_paused),
        CASE(test_keeps_untaken_bytes_while_paused),
        CASE(test_a_pause_stops_the_peer),
        CASE(test_calls_on_bytes_after_resume),
        CASE(test_calls_on_bytes_after_a_resume_before_open),
        CASE(test_a_pause_after_resume_prevents_the_call),
        CASE(test_calls_on_bytes_after_resume_before_the_end),
        CASE(test_reports_a_reset),
        CASE(test_reports_a_failed_write),
        CASE(test_delivers_received_bytes_before_a_failed_write_is_reported),
        CASE(test_delivers_everything_with_ticks_over_budget),
        CASE(test_a_gathered_stream_gets_few_and_many_bytes_and_the_end),
        CASE(test_a_gathered_stream_obeys_pause_and_resume),
        CASE(test_a_stream_is_released_on_request),
    };
    return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}
