/*
 * test_tls.c - the TLS filter against an OpenSSL server: every split, every yield, every kind of end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tier.h"
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

static void completes_the_handshake_for_all_splits(void **state)
{
    size_t dense = tier_is_full() ? 150 : 20, step = tier_is_full() ? 17 : 43;
    for (int tls12 = 0; tls12 <= 1; tls12++)
        for (size_t cut = 0; cut < 1500; cut += cut < dense ? 1 : step)
            exchange(*state, &(struct tls_plan){.cut = cut, .tls12 = tls12});
}

static void completes_the_handshake_with_random_splits_and_budgets(void **state)
{
    for (uint64_t seed = 1; seed <= (tier_is_full() ? 100 : 20); seed++)
        exchange(*state, &(struct tls_plan){.cut = 1 + seed * 7, .seed = seed, .budget = seed % 4});
}

/* Receives @len bytes with a reader that takes at most @take per call. */
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

static void accepts_yields_of_any_part_of_a_record(void **state)
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

static void accepts_yields_after_each_byte(void **state)
{
    transfer(*state, &(struct tls_plan){.cut = 100}, 20000, 1);
    transfer(*state, &(struct tls_plan){.cut = 1, .tls12 = true}, 20000, 1);
}

static void accepts_every_yield_within_a_small_record(void **state)
{
    for (size_t take = 1; take <= 64; take += tier_is_full() || take < 4 ? 1 : 5)
        for (size_t cut = 0; cut <= 3; cut++)
            transfer(*state, &(struct tls_plan){.cut = cut, .budget = 1}, 64, take);
}

static void decrypts_one_record_per_tick_over_budget(void **state)
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

static void keeps_at_most_one_untaken_record(void **state)
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

static void offers_untaken_bytes_again_without_new_input(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){0});
    w.reader.take = 3;
    tls_peer_send(&w.peer, "0123456789", 10); /* without close_notify */
    sim_run(&w.sim);
    assert_got(&w.reader, "0123456789", 10);
    assert_int_equal(w.reader.calls, 4);
    tls_world_done(&w);
}

static void sends_a_large_upload(void **state)
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

static void handles_a_key_update_request(void **state)
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

static void makes_no_callbacks_while_paused_and_loses_no_bytes(void **state)
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

static void a_pause_delays_the_handshake(void **state)
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

static void calls_on_bytes_after_resume_without_input(void **state)
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

static void calls_on_bytes_after_resume_before_the_end(void **state)
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

static void reports_an_end_without_close_notify(void **state)
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

static void ignores_bytes_after_close_notify(void **state)
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

static void reports_a_network_failure_unchanged(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.hold = true});
    pipe_end(w.pipe, INF_ENET, "localhost:6443: connection refused");
    sim_run(&w.sim);
    assert_end(&w, INF_ENET, "localhost:6443: connection refused");
    assert_int_equal(w.reader.opened, 0);
    tls_world_done(&w);
}

static void reports_an_end_during_the_handshake(void **state)
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

static void reports_a_peer_that_speaks_plain_http(void **state)
{
    for (size_t cut = 0; cut < 6; cut++) {
        say_instead_of_tls(*state, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", cut,
                           "localhost:6443 speaks plain HTTP, not TLS; check the port");
        say_instead_of_tls(*state, "SSH-2.0-OpenSSH_9.2\r\n", cut,
                           "localhost:6443 does not speak TLS; check the port");
    }
}

static void ends_the_stream_on_damaged_records(void **state)
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

static void reports_a_failure_after_a_pause(void **state)
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

static void reports_a_failed_handshake_after_a_pause(void **state)
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

static void can_be_closed_after_any_number_of_ticks(void **state)
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

static void can_be_closed_inside_any_callback(void **state)
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

static void can_be_closed_when_refused(void **state)
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

static void close_sends_close_notify(void **state)
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
        cmocka_unit_test(completes_the_handshake_for_all_splits),
        cmocka_unit_test(completes_the_handshake_with_random_splits_and_budgets),
        cmocka_unit_test(accepts_yields_of_any_part_of_a_record),
        cmocka_unit_test(accepts_yields_after_each_byte),
        cmocka_unit_test(accepts_every_yield_within_a_small_record),
        cmocka_unit_test(decrypts_one_record_per_tick_over_budget),
        cmocka_unit_test(keeps_at_most_one_untaken_record),
        cmocka_unit_test(offers_untaken_bytes_again_without_new_input),
        cmocka_unit_test(sends_a_large_upload),
        cmocka_unit_test(handles_a_key_update_request),
        cmocka_unit_test(makes_no_callbacks_while_paused_and_loses_no_bytes),
        cmocka_unit_test(a_pause_delays_the_handshake),
        cmocka_unit_test(calls_on_bytes_after_resume_without_input),
        cmocka_unit_test(calls_on_bytes_after_resume_before_the_end),
        cmocka_unit_test(reports_an_end_without_close_notify),
        cmocka_unit_test(ignores_bytes_after_close_notify),
        cmocka_unit_test(reports_a_network_failure_unchanged),
        cmocka_unit_test(reports_an_end_during_the_handshake),
        cmocka_unit_test(reports_a_peer_that_speaks_plain_http),
        cmocka_unit_test(ends_the_stream_on_damaged_records),
        cmocka_unit_test(reports_a_failure_after_a_pause),
        cmocka_unit_test(reports_a_failed_handshake_after_a_pause),
        cmocka_unit_test(can_be_closed_after_any_number_of_ticks),
        cmocka_unit_test(can_be_closed_inside_any_callback),
        cmocka_unit_test(can_be_closed_when_refused),
        cmocka_unit_test(close_sends_close_notify),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
