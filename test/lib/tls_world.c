#include "tls_world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

int tls_certs_make(void **state)
{
    struct tls_certs *c = NEW(struct tls_certs);
    c->ca = cert_make(&(struct cert_spec){.cn = "test-ca", .ca = true});
    c->other_ca = cert_make(&(struct cert_spec){.cn = "other-ca", .ca = true});
    c->server = cert_make(&(struct cert_spec){
        .cn = "server", .sans = "DNS:localhost,DNS:*.example.com,IP:127.0.0.1", .issuer = c->ca});
    c->client = cert_make(&(struct cert_spec){.cn = "client", .issuer = c->ca});
    *state = c;
    return 0;
}

int tls_certs_drop(void **state)
{
    struct tls_certs *c = *state;
    cert_free(c->ca);
    cert_free(c->other_ca);
    cert_free(c->server);
    cert_free(c->client);
    free(c);
    return 0;
}

static void init_peer(struct tls_world *w, const struct tls_certs *certs)
{
    tls_peer_init(&w->peer, &(struct tls_peer_settings){
                                .cert = w->plan->server ? w->plan->server : certs->server,
                                .client_ca = w->plan->client_ca,
                                .middle = w->plan->middle,
                                .protocol = w->plan->protocol,
                                .tls12 = w->plan->tls12,
                                .no_tickets = w->plan->no_tickets,
                                .fat_tickets = w->plan->fat_tickets,
                            });
    w->pipes.on_tick = w->plan->no_peer ? NULL : tls_peer_on_tick;
    w->pipes.peer = &w->peer;
}

static void init_context(struct tls_world *w, const struct tls_certs *certs)
{
    const struct tls_plan *plan = w->plan;
    struct inf_error err;
    struct tls_settings settings = {
        .ca_pem = (plan->ca ? plan->ca : certs->ca)->pem,
        .cert_pem = plan->client ? plan->client->pem : NULL,
        .key_pem = plan->client ? plan->client->key_pem : NULL,
        .insecure = plan->insecure,
    };
    w->context = tls_context_new(&settings, &err);
    if (!w->context) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

static void dial(struct tls_world *w, const struct tls_plan *plan)
{
    tls_dialer_init(&w->dialer, &w->pipes.dialer, &w->sim.clock, w->context, plan->server_name);
    stream_reader_init(&w->reader);
    w->reader.stream = dialer_dial(&w->dialer.dialer, plan->host ? plan->host : "localhost", 6443,
                                   &w->reader.user);
    w->pipe = w->pipes.last;
}

void tls_world_init(struct tls_world *w, const struct tls_certs *certs, const struct tls_plan *plan)
{
    *w = (struct tls_world){.plan = plan};
    sim_init(&w->sim);
    w->sim.budget = plan->budget;
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pipes.cut = plan->cut;
    w->pipes.seed = plan->seed;
    w->pipes.hold = plan->hold;
    init_peer(w, certs);
    init_context(w, certs);
    dial(w, plan);
}

void tls_world_again(struct tls_world *w, const struct tls_plan *plan)
{
    struct tls_peer old = w->peer;
    stream_reader_done(&w->reader);
    sim_run(&w->sim);
    tls_peer_init(&w->peer, &(struct tls_peer_settings){.twin = &old});
    tls_peer_done(&old);
    dial(w, plan);
}

void tls_world_restart(struct tls_world *w, const struct tls_certs *certs)
{
    stream_reader_close(&w->reader);
    sim_run(&w->sim);
    tls_peer_done(&w->peer);
    init_peer(w, certs);
}

void tls_world_done(struct tls_world *w)
{
    tls_context_unref(w->context); /* streams have their own references */
    stream_reader_done(&w->reader);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    tls_peer_done(&w->peer);
}
