/*
 * test_tls_session.c - which connections are resumed, and above all which are not: a resumed one is
 * not verified.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tier.h"
#include "tls_world.h"

static const int64_t HOUR_US = INT64_C(3600000000);

/* The ways a server can keep sessions. */
static const struct tls_plan kinds[] = {
    {.tls12 = false},
    {.tls12 = true},
    {.tls12 = true, .no_tickets = true},
};
static const struct tls_plan *const kinds_end = kinds + sizeof(kinds) / sizeof(kinds[0]);

/* Runs the handshake. Returns whether it was resumed. */
static bool resumed(struct tls_world *w)
{
    sim_run(&w->sim);
    assert_int_equal(w->reader.opened, 1);
    assert_int_equal(w->reader.ended, 0);
    return w->peer.resumed;
}

static bool resumed_again(struct tls_world *w, const struct tls_plan *names)
{
    tls_world_again(w, names);
    return resumed(w);
}

/* A connection that ends after our hello: the session it offered was used. */
static void use_up_a_session(struct tls_world *w, const struct tls_plan *names)
{
    tls_world_again(w, names);
    sim_tick(&w->sim);
    assert_true(w->pipe->written.len > 0);
    stream_reader_close(&w->reader);
}

static void resumes_all_later_connections(void **state)
{
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++) {
        struct tls_world w;
        tls_world_init(&w, *state, kind);
        assert_false(resumed(&w));
        for (int i = 0; i < 20; i++) {
            assert_true(resumed_again(&w, kind));
            stream_reader_write(&w.reader, "ping", 4);
            tls_peer_send(&w.peer, "pong", 4);
            sim_run(&w.sim);
            assert_int_equal(w.peer.received.len, 4);
            assert_int_equal(w.reader.got.len, 4);
        }
        tls_world_done(&w);
    }
}

static void resumes_for_all_splits(void **state)
{
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++)
        for (size_t cut = 1; cut < 300; cut += tier_is_full() && cut < 80 ? 1 : 7) {
            struct tls_world w;
            struct tls_plan plan = *kind;
            plan.cut = cut;
            tls_world_init(&w, *state, &plan);
            assert_false(resumed(&w));
            assert_true(resumed_again(&w, &plan));
            tls_world_done(&w);
        }
}

static void uses_a_ticket_once(void **state)
{
    static const int tickets = 2; /* what OpenSSL's server gives after a full TLS 1.3 handshake */
    for (int wasted = 0; wasted <= tickets; wasted++) {
        struct tls_world w;
        tls_world_init(&w, *state, kinds);
        assert_false(resumed(&w));
        for (int i = 0; i < wasted; i++)
            use_up_a_session(&w, kinds);
        assert_int_equal(resumed_again(&w, kinds), wasted < tickets);
        tls_world_done(&w);
    }
}

static void does_not_reuse_a_session_that_failed(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &kinds[1]);
    assert_false(resumed(&w));
    use_up_a_session(&w, &kinds[1]);
    assert_false(resumed_again(&w, &kinds[1]));
    tls_world_done(&w);
}

static void does_not_resume_for_another_name_or_server(void **state)
{
    static const struct tls_plan others[] = {
        {.server_name = "api.example.com"},
        {.host = "api.example.com"},
        {.host = "api.example.com", .server_name = "localhost"},
        {.host = "127.0.0.1"},
    };
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++)
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            struct tls_world w;
            tls_world_init(&w, *state, kind);
            assert_false(resumed(&w));
            assert_false(resumed_again(&w, &others[i]));
            assert_true(resumed_again(&w, kind)); /* each by its own */
            assert_true(resumed_again(&w, &others[i]));
            tls_world_done(&w);
        }
}

static void refuses_a_wrong_name_after_a_valid_one(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, kinds);
    assert_false(resumed(&w));
    tls_world_again(&w, &(struct tls_plan){.server_name = "x.org"});
    sim_run(&w.sim);
    assert_string_equal(
        w.reader.why.text,
        "certificate of localhost:6443 is valid for localhost, "
        "*.example.com, 127.0.0.1, not for x.org; set tls-server-name to one of these");
    tls_world_done(&w);
}

static void does_not_resume_with_another_context(void **state)
{
    const struct tls_certs *certs = *state;
    const struct tls_settings settings[] = {
        {.ca_pem = certs->ca->pem},
        {.insecure = true},
        {.ca_pem = certs->ca->pem,
         .cert_pem = certs->client->pem,
         .key_pem = certs->client->key_pem},
    };
    struct tls_world w;
    tls_world_init(&w, certs, &(struct tls_plan){.insecure = true});
    assert_false(resumed(&w));
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        assert_true(resumed_again(&w, kinds));
        tls_context_unref(w.context);
        w.context = tls_context_new(&settings[i], NULL);
        assert_non_null(w.context);
        assert_false(resumed_again(&w, kinds));
    }
    tls_world_done(&w);
}

static void falls_back_to_a_full_handshake(void **state)
{
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++) {
        struct tls_world w;
        tls_world_init(&w, *state, kind);
        assert_false(resumed(&w));
        tls_world_restart(&w, *state);
        assert_false(resumed_again(&w, kind));
        assert_true(resumed_again(&w, kind));
        tls_world_done(&w);
    }
}

static void resumes_with_a_client_certificate(void **state)
{
    const struct tls_certs *certs = *state;
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++) {
        struct tls_world w;
        struct tls_plan plan = *kind;
        plan.client = certs->client;
        plan.client_ca = certs->ca;
        tls_world_init(&w, certs, &plan);
        assert_false(resumed(&w));
        assert_true(resumed_again(&w, &plan));
        tls_world_done(&w);
    }
}

/* --- time ------------------------------------------------------------------------------------- */

/* Twelve hours before @plan's server or its chain expires, until then, and after. */
static void expect_end(const struct tls_certs *certs, const struct tls_plan *plan, const char *text)
{
    struct tls_world w;
    tls_world_init(&w, certs, plan);
    w.sim.wall_offset_us = 12 * HOUR_US;
    assert_false(resumed(&w));
    w.sim.wall_offset_us = 24 * HOUR_US - 1;
    assert_true(resumed_again(&w, plan));
    w.sim.wall_offset_us = 24 * HOUR_US + 1000000;
    tls_world_again(&w, plan);
    sim_run(&w.sim);
    assert_int_equal(w.reader.ended, 1);
    assert_string_equal(w.reader.why.text, text);
    tls_world_done(&w);
}

static void does_not_resume_after_the_certificate_expired(void **state)
{
    const struct tls_certs *certs = *state;
    struct cert *cert = cert_make(&(struct cert_spec){
        .cn = "server", .sans = "DNS:localhost", .issuer = certs->ca, .to_days = 1});
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++) {
        struct tls_plan plan = *kind;
        plan.server = cert;
        expect_end(certs, &plan,
                   "certificate of localhost:6443 expired on 2026-01-02 00:00:00 UTC");
    }
    cert_free(cert);
}

static void does_not_resume_after_an_intermediate_expired(void **state)
{
    const struct tls_certs *certs = *state;
    struct cert *middle = cert_make(
        &(struct cert_spec){.cn = "middle", .ca = true, .issuer = certs->ca, .to_days = 1});
    struct cert *cert =
        cert_make(&(struct cert_spec){.cn = "server", .sans = "DNS:localhost", .issuer = middle});
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++) {
        struct tls_plan plan = *kind;
        plan.server = cert;
        plan.middle = middle;
        expect_end(certs, &plan,
                   "certificate of localhost:6443: its authority 'CN=middle' expired on "
                   "2026-01-02 00:00:00 UTC");
    }
    cert_free(cert);
    cert_free(middle);
}

static void does_not_extend_a_verification_by_resuming(void **state)
{
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++) {
        struct tls_world w;
        tls_world_init(&w, *state, kind);
        assert_false(resumed(&w));
        for (int hours = 6; hours < 24; hours += 6) {
            w.sim.wall_offset_us = hours * HOUR_US;
            assert_true(resumed_again(&w, kind));
        }
        w.sim.wall_offset_us = 24 * HOUR_US;
        assert_false(resumed_again(&w, kind)); /* a day after the last full check */
        assert_true(resumed_again(&w, kind));
        tls_world_done(&w);
    }
}

/* --- ends ------------------------------------------------------------------------------------- */

static void resumes_after_a_cut_connection(void **state)
{
    for (const struct tls_plan *kind = kinds; kind < kinds_end; kind++) {
        struct tls_world w;
        tls_world_init(&w, *state, kind);
        assert_false(resumed(&w));
        pipe_end(w.pipe, INF_ENET, "reset");
        sim_run(&w.sim);
        assert_int_equal(w.reader.ended, 1);
        assert_true(resumed_again(&w, kind));
        pipe_end(w.pipe, INF_EEOF, "FIN");
        sim_run(&w.sim);
        assert_int_equal(w.reader.ended, 1);
        assert_true(resumed_again(&w, kind));
        w.peer.goodbye = true;
        sim_run(&w.sim);
        assert_int_equal(w.reader.ended, 1);
        assert_true(resumed_again(&w, kind));
        tls_world_done(&w);
    }
}

static void drops_the_session_of_a_failed_connection(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &kinds[1]);
    assert_false(resumed(&w));
    pipe_send(w.pipe,
              "\x17\x03\x03\x00\x20"
              "0123456789abcdef0123456789abcdef",
              37);
    sim_run(&w.sim);
    assert_int_equal(w.reader.why.code, INF_ETLS);
    assert_false(resumed_again(&w, &kinds[1]));
    tls_world_done(&w);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void keeps_only_the_newest_sessions(void **state)
{
    enum {
        HOSTS = 129
    }; /* each leaves two tickets, and 256 are kept */
    char hosts[HOSTS][32];
    struct tls_world w;
    for (int i = 0; i < HOSTS; i++)
        snprintf(hosts[i], sizeof(hosts[i]), "h%d.example.com", i);
    tls_world_init(&w, *state, &(struct tls_plan){.host = hosts[0]});
    assert_false(resumed(&w));
    for (int i = 1; i < HOSTS; i++)
        assert_false(resumed_again(&w, &(struct tls_plan){.host = hosts[i]}));
    assert_true(resumed_again(&w, &(struct tls_plan){.host = hosts[HOSTS - 1]}));
    assert_true(resumed_again(&w, &(struct tls_plan){.host = hosts[1]}));
    assert_false(resumed_again(&w, &(struct tls_plan){.host = hosts[0]}));
    tls_world_done(&w);
}

static void does_not_keep_huge_tickets(void **state)
{
    for (int tls12 = 0; tls12 <= 1; tls12++) {
        struct tls_plan plan = {.tls12 = tls12, .fat_tickets = true};
        struct tls_world w;
        tls_world_init(&w, *state, &plan);
        assert_false(resumed(&w));
        assert_false(resumed_again(&w, &plan));
        tls_world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumes_all_later_connections),
        cmocka_unit_test(resumes_for_all_splits),
        cmocka_unit_test(uses_a_ticket_once),
        cmocka_unit_test(does_not_reuse_a_session_that_failed),
        cmocka_unit_test(does_not_resume_for_another_name_or_server),
        cmocka_unit_test(refuses_a_wrong_name_after_a_valid_one),
        cmocka_unit_test(does_not_resume_with_another_context),
        cmocka_unit_test(falls_back_to_a_full_handshake),
        cmocka_unit_test(resumes_with_a_client_certificate),
        cmocka_unit_test(does_not_resume_after_the_certificate_expired),
        cmocka_unit_test(does_not_resume_after_an_intermediate_expired),
        cmocka_unit_test(does_not_extend_a_verification_by_resuming),
        cmocka_unit_test(resumes_after_a_cut_connection),
        cmocka_unit_test(drops_the_session_of_a_failed_connection),
        cmocka_unit_test(keeps_only_the_newest_sessions),
        cmocka_unit_test(does_not_keep_huge_tickets),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
