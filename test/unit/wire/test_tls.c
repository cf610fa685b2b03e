/*
 * test_tls.c - the TLS filter against an OpenSSL server: every cut, every yield, every way to end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tls_world.h"

static char *pattern(size_t len)
{
    char *bytes = xmalloc(len);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    return bytes;
}

static void assert_got(const struct stream_reader *r, const char *bytes, size_t len)
{
    assert_int_equal(r->got.len, len);
    if (len)
        assert_memory_equal(r->got.bytes, bytes, len);
}

static void assert_end(const struct tls_world *w, int code, const char *text)
{
    assert_int_equal(w->reader.ended, 1);
    assert_string_equal(w->reader.why.text, text);
    assert_int_equal(w->reader.why.code, code);
}

/* A handshake, some bytes each way, a close_notify. */
static void exchange(const struct tls_certs *certs, const struct tls_plan *plan)
{
    struct tls_world w;
    tls_world_init(&w, certs, plan);
    stream_reader_write(&w.reader, "early, ", 7);
    w.reader.write_in_open = "ping";
    tls_peer_send(&w.peer, "pong", 4);
    sim_run(&w.sim);
    assert_int_equal(w.reader.opened, 1);
    assert_int_equal(w.peer.received.len, 11);
    assert_memory_equal(w.peer.received.bytes, "early, ping", 11);
    w.peer.goodbye = true;
    sim_run(&w.sim);
    assert_got(&w.reader, "pong", 4);
    assert_end(&w, INF_EEOF, "localhost:6443 closed the connection");
    tls_world_done(&w);
}

static void the_handshake_works_however_its_bytes_are_cut(void **state)
{
    for (int tls12 = 0; tls12 <= 1; tls12++)
        for (size_t cut = 0; cut < 1500; cut += cut < 150 ? 1 : 17)
            exchange(*state, &(struct tls_plan){.cut = cut, .tls12 = tls12});
}

static void the_handshake_works_with_random_cuts_and_budgets(void **state)
{
    for (uint64_t seed = 1; seed <= 100; seed++)
        exchange(*state, &(struct tls_plan){.cut = 1 + seed * 7, .seed = seed, .budget = seed % 4});
}

/* Moves @len bytes up through a reader that takes at most @take at a time. */
static void transfer(const struct tls_certs *certs, const struct tls_plan *plan, size_t len,
                     size_t take)
{
    struct tls_world w;
    char *bytes = pattern(len);
    tls_world_init(&w, certs, plan);
    w.reader.take = take;
    tls_peer_send(&w.peer, bytes, len);
    w.peer.goodbye = true;
    sim_run(&w.sim);
    assert_got(&w.reader, bytes, len);
    assert_end(&w, INF_EEOF, "localhost:6443 closed the connection");
    assert_int_equal(w.pipe->to_read.len, 0);
    tls_world_done(&w);
    free(bytes);
}

static void a_reader_may_take_any_part_of_a_record(void **state)
{
    static const size_t takes[] = {1000, 16383, 16384, 16385, 0};
    for (unsigned budget = 0; budget <= 2; budget++)
        for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
            transfer(*state, &(struct tls_plan){.budget = budget}, 200000, takes[i]);
            transfer(*state, &(struct tls_plan){.budget = budget, .cut = 4096, .seed = 7}, 100000,
                     takes[i]);
            transfer(*state, &(struct tls_plan){.budget = budget, .cut = 16406}, 100000, takes[i]);
        }
}

static void a_reader_may_take_one_byte_at_a_time(void **state)
{
    transfer(*state, &(struct tls_plan){.cut = 100}, 20000, 1);
    transfer(*state, &(struct tls_plan){.cut = 1, .tls12 = true}, 20000, 1);
}

static void every_yield_within_a_small_record_works(void **state)
{
    for (size_t take = 1; take <= 64; take++)
        for (size_t cut = 0; cut <= 3; cut++)
            transfer(*state, &(struct tls_plan){.cut = cut, .budget = 1}, 64, take);
}

static void over_budget_a_tick_decrypts_one_record(void **state)
{
    struct tls_world w;
    char *bytes = pattern(10 * 16384);
    tls_world_init(&w, *state, &(struct tls_plan){.budget = 1});
    sim_run(&w.sim);
    tls_peer_send(&w.peer, bytes, 10 * 16384);
    for (size_t i = 1; i <= 10; i++) {
        sim_tick(&w.sim);
        assert_int_equal(w.reader.got.len, i * 16384);
    }
    tls_world_done(&w);
    free(bytes);
}

static void what_a_reader_leaves_stays_below_but_for_one_record(void **state)
{
    struct tls_world w;
    char *bytes = pattern(10 * 16384);
    tls_world_init(&w, *state, &(struct tls_plan){0});
    sim_run(&w.sim);
    w.reader.take_none = true;
    tls_peer_send(&w.peer, bytes, 10 * 16384);
    for (int i = 0; i < 5; i++)
        sim_tick(&w.sim);
    assert_true(w.pipe->to_read.len > 9 * 16384);
    assert_int_equal(w.reader.calls, 5); /* offered again in each tick */
    w.reader.take_none = false;
    sim_run(&w.sim);
    assert_got(&w.reader, bytes, 10 * 16384);
    tls_world_done(&w);
    free(bytes);
}

static void what_was_left_is_offered_again_though_nothing_else_comes(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    w.reader.take = 3;
    tls_peer_send(&w.peer, "0123456789", 10); /* and no goodbye */
    sim_run(&w.sim);
    assert_got(&w.reader, "0123456789", 10);
    assert_int_equal(w.reader.calls, 4);
    tls_world_done(&w);
}

static void a_large_upload_arrives(void **state)
{
    struct tls_world w;
    char *bytes = pattern(300000);
    tls_world_init(&w, *state, &(struct tls_plan){0});
    stream_reader_write(&w.reader, bytes, 100000);
    sim_run(&w.sim);
    w.pipe->n_writes = 0;
    stream_reader_write(&w.reader, bytes + 100000, 200000);
    assert_int_equal(w.pipe->n_writes, 1); /* many records, one write below */
    sim_run(&w.sim);
    assert_int_equal(w.peer.received.len, 300000);
    assert_memory_equal(w.peer.received.bytes, bytes, 300000);
    tls_world_done(&w);
    free(bytes);
}

static void keys_are_changed_when_the_server_asks(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.cut = 5});
    sim_run(&w.sim);
    w.peer.key_update = true;
    tls_peer_send(&w.peer, "a", 1);
    sim_run(&w.sim);
    stream_reader_write(&w.reader, "b", 1);
    sim_run(&w.sim);
    assert_got(&w.reader, "a", 1);
    assert_int_equal(w.peer.received.len, 1);
    assert_false(w.peer.failed);
    tls_world_done(&w);
}

/* --- pause and resume ------------------------------------------------------------------------- */

static void a_paused_reader_hears_nothing_and_loses_nothing(void **state)
{
    struct tls_world w;
    char *bytes = pattern(50000);
    tls_world_init(&w, *state, &(struct tls_plan){.cut = 1000});
    w.reader.pause_in = IN_BYTES;
    w.reader.take = 999;
    tls_peer_send(&w.peer, bytes, 50000);
    w.peer.goodbye = true;
    sim_run(&w.sim);
    assert_int_equal(w.reader.calls, 1);
    while (!w.reader.ended) {
        stream_reader_resume(&w.reader);
        sim_run(&w.sim);
    }
    assert_got(&w.reader, bytes, 50000);
    assert_end(&w, INF_EEOF, "localhost:6443 closed the connection");
    tls_world_done(&w);
    free(bytes);
}

static void a_pause_before_the_handshake_only_delays_it(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    stream_reader_pause(&w.reader);
    sim_run(&w.sim);
    assert_int_equal(w.reader.opened, 0);
    stream_reader_resume(&w.reader);
    sim_run(&w.sim);
    assert_int_equal(w.reader.opened, 1);
    tls_world_done(&w);
}

static void resume_promises_one_call_even_if_nothing_came(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    sim_run(&w.sim);
    assert_int_equal(w.reader.calls, 0);
    stream_reader_resume(&w.reader);
    sim_tick(&w.sim);
    assert_int_equal(w.reader.empty_calls, 1);
    sim_run(&w.sim);
    assert_int_equal(w.reader.calls, 1);
    tls_world_done(&w);
}

static void the_end_waits_for_the_promised_call(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    w.reader.resume_again = true;
    tls_peer_send(&w.peer, "last", 4);
    w.peer.goodbye = true;
    sim_run(&w.sim);
    assert_got(&w.reader, "last", 4);
    assert_int_equal(w.reader.empty_calls, 1);
    assert_int_equal(w.reader.ended, 1);
    tls_world_done(&w);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void a_connection_cut_without_close_notify_is_told_as_cut(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    tls_peer_send(&w.peer, "half", 4);
    sim_run(&w.sim);
    pipe_end(w.pipe, INF_EEOF, "FIN");
    sim_run(&w.sim);
    assert_got(&w.reader, "half", 4);
    assert_end(&w, INF_ECUT, "localhost:6443: connection closed without TLS close_notify");
    tls_world_done(&w);
}

static void bytes_after_close_notify_mean_nothing(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    w.peer.goodbye = true;
    sim_run(&w.sim);
    pipe_sends(w.pipe, "what is this");
    pipe_end(w.pipe, INF_ENET, "reset");
    sim_run(&w.sim);
    stream_reader_write(&w.reader, "too late", 8);
    assert_end(&w, INF_EEOF, "localhost:6443 closed the connection");
    tls_world_done(&w);
}

static void a_failing_connection_is_told_as_it_is(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.hold = true});
    pipe_end(w.pipe, INF_ENET, "localhost:6443: connection refused");
    sim_run(&w.sim);
    assert_end(&w, INF_ENET, "localhost:6443: connection refused");
    assert_int_equal(w.reader.opened, 0);
    tls_world_done(&w);
}

static void a_server_that_leaves_during_the_handshake_is_told(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.no_peer = true});
    sim_run(&w.sim);
    pipe_end(w.pipe, INF_EEOF, "FIN");
    sim_run(&w.sim);
    assert_end(&w, INF_ENET, "localhost:6443 closed the connection during the TLS handshake");
    tls_world_done(&w);
}

static void say_instead_of_tls(const struct tls_certs *certs, const char *bytes, size_t cut,
                               const char *expected)
{
    struct tls_world w;
    tls_world_init(&w, certs, &(struct tls_plan){.no_peer = true, .cut = cut});
    sim_run(&w.sim);
    pipe_sends(w.pipe, bytes);
    pipe_end(w.pipe, INF_EEOF, "FIN");
    sim_run(&w.sim);
    assert_end(&w, INF_ETLS, expected);
    tls_world_done(&w);
}

static void a_peer_that_speaks_plain_http_is_told(void **state)
{
    for (size_t cut = 0; cut < 6; cut++) {
        say_instead_of_tls(*state, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", cut,
                           "localhost:6443 speaks plain HTTP, not TLS; check the port");
        say_instead_of_tls(*state, "SSH-2.0-OpenSSH_9.2\r\n", cut,
                           "localhost:6443 does not speak TLS; check the port");
    }
}

static void damaged_records_end_the_stream(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    sim_run(&w.sim);
    pipe_send(w.pipe,
              "\x17\x03\x03\x00\x20"
              "0123456789abcdef0123456789abcdef",
              37);
    sim_run(&w.sim);
    assert_int_equal(w.reader.ended, 1);
    assert_int_equal(w.reader.why.code, INF_ETLS);
    assert_non_null(strstr(w.reader.why.text, "TLS with localhost:6443: "));
    sim_run(&w.sim);
    assert_true(w.peer.failed); /* it got our alert */
    tls_world_done(&w);
}

static void a_failure_waits_for_a_paused_reader(void **state)
{
    struct tls_world w;
    const struct tls_certs *certs = *state;
    tls_world_init(&w, certs, &(struct tls_plan){.client_ca = certs->ca});
    w.reader.pause_in = IN_OPEN;
    sim_run(&w.sim);
    assert_int_equal(w.reader.opened, 1);
    assert_int_equal(w.reader.ended, 0);
    stream_reader_resume(&w.reader);
    sim_run(&w.sim);
    assert_int_equal(w.reader.ended, 1);
    tls_world_done(&w);
}

static void a_failure_before_it_opened_waits_too(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.server_name = ""});
    stream_reader_pause(&w.reader);
    sim_run(&w.sim);
    assert_int_equal(w.reader.ended, 0);
    stream_reader_resume(&w.reader);
    sim_run(&w.sim);
    assert_int_equal(w.reader.ended, 1);
    assert_int_equal(w.reader.calls, 0);
    tls_world_done(&w);
}

/* --- close ------------------------------------------------------------------------------------ */

static void closing_is_fine_after_any_number_of_ticks(void **state)
{
    for (int held = 0; held <= 1; held++)
        for (int ticks = 0; ticks < 40; ticks++) {
            struct tls_world w;
            tls_world_init(&w, *state, &(struct tls_plan){.hold = held, .cut = 200});
            stream_reader_write(&w.reader, "early", 5);
            tls_peer_send(&w.peer, "0123456789", 10);
            w.peer.goodbye = true;
            w.reader.take = 3;
            for (int i = 0; i < ticks; i++)
                sim_tick(&w.sim);
            stream_reader_close(&w.reader);
            sim_run(&w.sim);
            tls_world_done(&w);
        }
}

static void closing_is_fine_inside_any_callback(void **state)
{
    for (int moment = IN_OPEN; moment <= IN_END; moment++)
        for (int pause = NEVER; pause <= moment; pause++)
            for (int more = 0; more <= 1; more++) {
                struct tls_world w;
                tls_world_init(&w, *state, &(struct tls_plan){0});
                w.reader.close_in = (enum stream_reader_moment)moment;
                w.reader.pause_in = pause == moment ? (enum stream_reader_moment)pause : NEVER;
                w.reader.take = more ? 3 : 0;
                w.reader.resume_again = more;
                tls_peer_send(&w.peer, "0123456789", 10);
                w.peer.goodbye = true;
                sim_run(&w.sim);
                assert_null(w.reader.stream);
                assert_true(pipe_closed(w.pipe));
                tls_world_done(&w);
            }
}

static void closing_when_refused_is_fine(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.host = "x.org"});
    w.reader.close_in = IN_END;
    sim_run(&w.sim);
    assert_null(w.reader.stream);
    tls_world_done(&w);
    tls_world_init(&w, *state, &(struct tls_plan){.server_name = ""});
    w.reader.close_in = IN_END;
    sim_run(&w.sim);
    assert_null(w.reader.stream);
    tls_world_done(&w);
}

static void close_says_goodbye(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    sim_run(&w.sim);
    stream_reader_close(&w.reader);
    tls_peer_on_tick(w.pipe); /* the peer reads what was written before the close */
    assert_true(w.peer.client_goodbye);
    tls_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_handshake_works_however_its_bytes_are_cut),
        cmocka_unit_test(the_handshake_works_with_random_cuts_and_budgets),
        cmocka_unit_test(a_reader_may_take_any_part_of_a_record),
        cmocka_unit_test(a_reader_may_take_one_byte_at_a_time),
        cmocka_unit_test(every_yield_within_a_small_record_works),
        cmocka_unit_test(over_budget_a_tick_decrypts_one_record),
        cmocka_unit_test(what_a_reader_leaves_stays_below_but_for_one_record),
        cmocka_unit_test(what_was_left_is_offered_again_though_nothing_else_comes),
        cmocka_unit_test(a_large_upload_arrives),
        cmocka_unit_test(keys_are_changed_when_the_server_asks),
        cmocka_unit_test(a_paused_reader_hears_nothing_and_loses_nothing),
        cmocka_unit_test(a_pause_before_the_handshake_only_delays_it),
        cmocka_unit_test(resume_promises_one_call_even_if_nothing_came),
        cmocka_unit_test(the_end_waits_for_the_promised_call),
        cmocka_unit_test(a_connection_cut_without_close_notify_is_told_as_cut),
        cmocka_unit_test(bytes_after_close_notify_mean_nothing),
        cmocka_unit_test(a_failing_connection_is_told_as_it_is),
        cmocka_unit_test(a_server_that_leaves_during_the_handshake_is_told),
        cmocka_unit_test(a_peer_that_speaks_plain_http_is_told),
        cmocka_unit_test(damaged_records_end_the_stream),
        cmocka_unit_test(a_failure_waits_for_a_paused_reader),
        cmocka_unit_test(a_failure_before_it_opened_waits_too),
        cmocka_unit_test(closing_is_fine_after_any_number_of_ticks),
        cmocka_unit_test(closing_is_fine_inside_any_callback),
        cmocka_unit_test(closing_when_refused_is_fine),
        cmocka_unit_test(close_says_goodbye),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
