/*
 * test_tls_server.c - the server side of wire/tls/tls.c against its client side, for every split and every end.
 *
 * Two pipes: what one side writes, the other reads, in pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "pipe_stream.h"
#include "sim.h"
#include "stream_reader.h"
#include "tier.h"
#include "wire/tls/tls.h"
#include "wire/tls/tls_authority.h"

struct certs {
    struct tls_pair ca, server;
    struct tls_context *server_context;
};

struct plan {
    const char *host; /* "localhost" */
    size_t cut;       /* bytes per tick in each direction; 0: all */
    size_t end_after; /* the connection ends after this many bytes of the client; 0: never */
};

struct world {
    struct sim sim;
    struct pipe_dialer pipes;
    struct pipe *below_client, *below_server;
    struct tls_context *client_context;
    struct tls_dialer dialer;
    struct stream_reader client, server, opener;
    size_t from_client;
};

static int certs_make(void **state)
{
    static struct certs c;
    static const char *const names[] = {"localhost", "127.0.0.1", "::1"};
    struct tls_names all = {names, ARRAY_LEN(names)};
    struct inf_error err;
    if (tls_authority_make(SIM_START_US, NULL, &c.ca, &err) < 0 ||
        tls_authority_issue(&c.ca, &all, SIM_START_US, &c.server, &err) < 0)
        return -1;
    c.server_context = tls_context_new_server(c.server.cert_pem, c.server.key_pem, &err);
    *state = &c;
    return c.server_context ? 0 : -1;
}

static int certs_drop(void **state)
{
    struct certs *c = *state;
    tls_context_unref(c->server_context);
    tls_pair_free(&c->ca);
    tls_pair_free(&c->server);
    return 0;
}

static void world_init(struct world *w, const struct certs *certs, const struct plan *plan)
{
    struct tls_settings settings = {.ca_pem = certs->ca.cert_pem};
    struct inf_error err;
    *w = (struct world){0};
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    stream_reader_init(&w->client);
    stream_reader_init(&w->server);
    stream_reader_init(&w->opener);
    w->opener.stream = dialer_dial(&w->pipes.dialer, "client", 1, &w->opener.user);
    w->below_server = w->pipes.last;
    sim_tick(&w->sim);
    w->server.stream = tls_accept(w->opener.stream, &w->sim.clock, certs->server_context);
    w->server.stream->user = &w->server.user;
    w->opener.stream = NULL;
    w->client_context = tls_context_new(&settings, &err);
    tls_dialer_init(&w->dialer, &w->pipes.dialer, &w->sim.clock, w->client_context, NULL);
    w->client.stream = dialer_dial(&w->dialer.dialer, plan->host ? plan->host : "localhost", 6444,
                                   &w->client.user);
    w->below_client = w->pipes.last;
}

static void world_done(struct world *w)
{
    stream_reader_done(&w->client);
    stream_reader_done(&w->server);
    tls_context_unref(w->client_context);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
}

static size_t carry(struct pipe *from, struct pipe *to, size_t cut)
{
    size_t n = cut && cut < from->written.len ? cut : from->written.len;
    if (n && !pipe_closed(to) && !to->ending)
        pipe_send(to, from->written.bytes, n);
    buf_consume(&from->written, n);
    return n;
}

/* Carries bytes in both directions until there are none. */
static void run(struct world *w, const struct plan *plan)
{
    size_t idle = 0;
    while (idle < 3) {
        size_t left = plan->end_after ? plan->end_after - w->from_client : 0;
        size_t cut = left && (!plan->cut || left < plan->cut) ? left : plan->cut;
        size_t n = carry(w->below_client, w->below_server, cut);
        w->from_client += n;
        n += carry(w->below_server, w->below_client, plan->cut);
        sim_run(&w->sim);
        idle = n ? 0 : idle + 1;
        if (plan->end_after && w->from_client >= plan->end_after) {
            pipe_end(w->below_server, INF_EEOF, "FIN");
            sim_run(&w->sim);
            return;
        }
    }
}

static void assert_got(const struct stream_reader *reader, const char *text)
{
    assert_int_equal(reader->got.len, strlen(text));
    assert_memory_equal(reader->got.bytes, text, strlen(text));
}

/* A handshake and some bytes each way. Returns how many bytes the client sent before it
 * closed the connection. */
static size_t exchange(const struct certs *certs, const struct plan *plan)
{
    struct world w;
    size_t sent;
    world_init(&w, certs, plan);
    w.client.write_in_open = "ping";
    w.server.write_in_open = "pong";
    run(&w, plan);
    assert_int_equal(w.client.opened, 1);
    assert_int_equal(w.server.opened, 1);
    assert_got(&w.client, "pong");
    assert_got(&w.server, "ping");
    sent = w.from_client;
    stream_reader_close(&w.client);
    run(&w, plan);
    assert_int_equal(w.server.ended, 1);
    assert_int_equal(w.server.why.code, INF_EEOF);
    world_done(&w);
    return sent;
}

static void serves_for_all_splits(void **state)
{
    exchange(*state, &(struct plan){0});
    for (size_t cut = 1; cut < 1200; cut += cut < 12 || tier_is_full() ? 1 : 37)
        exchange(*state, &(struct plan){.cut = cut});
}

static void serves_names_and_addresses_of_its_certificate(void **state)
{
    exchange(*state, &(struct plan){.host = "127.0.0.1"});
    exchange(*state, &(struct plan){.host = "::1"});
}

/* A connection that ends after any byte is reported once, and nothing is left. */
static void ends_with_the_connection_after_every_byte(void **state)
{
    size_t all = exchange(*state, &(struct plan){0});
    for (size_t end = 1; end <= all; end += tier_is_full() ? 1 : 7) {
        struct plan plan = {.end_after = end};
        struct world w;
        world_init(&w, *state, &plan);
        w.client.write_in_open = "ping";
        run(&w, &plan);
        assert_int_equal(w.server.ended, 1);
        assert_true(w.server.why.code == INF_ENET || w.server.why.code == INF_ECUT);
        world_done(&w);
    }
}

static void refuses_what_is_not_tls(void **state)
{
    struct plan plan = {0};
    struct world w;
    world_init(&w, *state, &plan);
    pipe_sends(w.below_server, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    sim_run(&w.sim);
    assert_int_equal(w.server.opened, 0);
    assert_int_equal(w.server.ended, 1);
    assert_int_equal(w.server.why.code, INF_ETLS);
    world_done(&w);
}

static void a_client_rejects_another_name(void **state)
{
    struct plan plan = {.host = "example.com"};
    struct world w;
    world_init(&w, *state, &plan);
    run(&w, &plan);
    assert_int_equal(w.client.why.code, INF_ETLS);
    assert_int_equal(w.server.why.code, INF_ETLS);
    assert_int_equal(w.client.opened, 0);
    world_done(&w);
}

static void sends_what_is_written_before_the_handshake(void **state)
{
    struct plan plan = {.cut = 50};
    struct world w;
    world_init(&w, *state, &plan);
    stream_reader_write(&w.server, "early", 5);
    run(&w, &plan);
    assert_got(&w.client, "early");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves_for_all_splits),
        cmocka_unit_test(serves_names_and_addresses_of_its_certificate),
        cmocka_unit_test(ends_with_the_connection_after_every_byte),
        cmocka_unit_test(refuses_what_is_not_tls),
        cmocka_unit_test(a_client_rejects_another_name),
        cmocka_unit_test(sends_what_is_written_before_the_handshake),
    };
    return cmocka_run_group_tests_name("tls_server", tests, certs_make, certs_drop);
}
