/*
 * test_tls_reloader.c - certificates that are replaced in their files: detected in time and used
 * by new connections; invalid files do not replace valid ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "call_recorder.h"
#include "certs.h"
#include "kube/auth/tls_reloader.h"
#include "pipe_stream.h"
#include "sim.h"
#include "tls_peer.h"

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"
#define HELLO   "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

struct certs {
    struct cert *ca, *other_ca, *server, *other_server, *client, *other_client;
};

static int make_certs(void **state)
{
    struct certs *c = NEW(struct certs);
    c->ca = cert_make(&(struct cert_spec){.cn = "ca", .ca = true});
    c->other_ca = cert_make(&(struct cert_spec){.cn = "other ca", .ca = true});
    c->server = cert_make(&(struct cert_spec){.cn = "s", .sans = "DNS:localhost", .issuer = c->ca});
    c->other_server =
        cert_make(&(struct cert_spec){.cn = "s", .sans = "DNS:localhost", .issuer = c->other_ca});
    c->client = cert_make(&(struct cert_spec){.cn = "monday", .issuer = c->ca});
    c->other_client = cert_make(&(struct cert_spec){.cn = "tuesday", .issuer = c->ca});
    *state = c;
    return 0;
}

static int drop_certs(void **state)
{
    struct certs *c = *state;
    cert_free(c->ca);
    cert_free(c->other_ca);
    cert_free(c->server);
    cert_free(c->other_server);
    cert_free(c->client);
    cert_free(c->other_client);
    free(c);
    return 0;
}

/* A reloader whose files are in a directory of its own, a pool that dials with it, and servers. */
struct world {
    struct log log; /* first */
    struct buf logged;
    struct sim sim;
    struct pipe_dialer pipes;
    struct kubeconfig config;
    struct tls_reloader reloader;
    char dir[32];
};

static void world_on_log(struct log *log, enum log_level level, const char *line)
{
    struct world *w = container_of(log, struct world, log);
    buf_printf(&w->logged, "%s %s\n", level == LOG_WARN ? "warn" : "info", line);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void put_client(struct world *w, const struct cert *cert)
{
    put(w->config.cert_file, cert->pem);
    put(w->config.key_file, cert->key_pem);
}

static void world_init(struct world *w, const struct certs *c)
{
    struct inf_error err;
    *w = (struct world){.log = {.level = LOG_DEBUG, .emit = world_on_log}};
    strcpy(w->dir, "/tmp/test_tls_keeper.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->config = (struct kubeconfig){.origin = xstrdup("config"),
                                    .context = xstrdup("c"),
                                    .ca_file = xasprintf("%s/ca", w->dir),
                                    .cert_file = xasprintf("%s/cert", w->dir),
                                    .key_file = xasprintf("%s/key", w->dir),
                                    .ca_pem = xstrdup(c->ca->pem),
                                    .cert_pem = xstrdup(c->client->pem),
                                    .key_pem = xstrdup(c->client->key_pem)};
    put(w->config.ca_file, c->ca->pem);
    put_client(w, c->client);
    assert_int_equal(tls_reloader_open(&w->reloader, &w->config, &w->log, &err), 0);
    tls_reloader_start(&w->reloader, &w->sim.clock, &w->pipes.dialer);
    w->reloader.pool = http_pool_new(&w->sim.clock, &w->reloader.dialer, "localhost", 6443, NULL);
}

static void world_done(struct world *w)
{
    unlink(w->config.ca_file);
    unlink(w->config.cert_file);
    unlink(w->config.key_file);
    rmdir(w->dir);
    tls_reloader_stop(&w->reloader);
    http_pool_free(w->reloader.pool);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    tls_reloader_close(&w->reloader);
    kubeconfig_free(&w->config);
    buf_free(&w->logged);
}

static void logged(struct world *w, const char *text)
{
    buf_putc(&w->logged, '\0');
    assert_string_equal(w->logged.bytes, text);
    buf_clear(&w->logged);
}

/* A client and the server it is connected to. */
struct visit {
    struct call_recorder recorder;
    struct tls_peer peer;
};

static void send_get(struct world *w, struct visit *v, const struct certs *certs,
                     const struct cert *server, const char *answer)
{
    tls_peer_init(&v->peer, &(struct tls_peer_settings){.cert = server, .client_ca = certs->ca});
    w->pipes.on_tick = tls_peer_on_tick;
    w->pipes.peer = &v->peer;
    tls_peer_send(&v->peer, answer, strlen(answer));
    call_recorder_request(
        &v->recorder, w->reloader.pool,
        &(struct http_request){.method = "GET", .target = "/", .host = "localhost"});
    sim_run(&w->sim);
}

static bool has(const struct buf *text, const char *part)
{
    return memmem(text->bytes, text->len, part, strlen(part)) != NULL;
}

/* The server and its pipe are kept until the pipes are released. */
static void hang_up(struct world *w, struct visit *v)
{
    call_recorder_close(&v->recorder);
    http_pool_drop(w->reloader.pool);
    sim_run(&w->sim);
    tls_peer_done(&v->peer);
}

static bool shown(const struct visit *v, const char *name)
{
    return strcmp(v->peer.client, name) == 0;
}

static void a_new_certificate_is_used_and_old_connections_end(void **state)
{
    const struct certs *certs = *state;
    struct visit watch, next;
    struct world w;
    world_init(&w, certs);
    send_get(&w, &watch, certs, certs->server, CHUNKED);
    assert_true(shown(&watch, "monday"));
    put_client(&w, certs->other_client);
    sim_advance(&w.sim, TLS_RELOADER_CHECK_MS - 1);
    assert_false(has(&watch.recorder.events, "reconnecting"));
    sim_advance(&w.sim, 1);
    assert_true(has(&watch.recorder.events, "200;hi;client certificate changed; reconnecting"));
    logged(&w, "info config, context 'c': new client certificate\n");
    send_get(&w, &next, certs, certs->server, HELLO);
    assert_true(shown(&next, "tuesday"));
    assert_true(has(&next.recorder.events, "200;hello;end"));
    assert_string_equal(w.config.cert_pem, certs->other_client->pem);
    hang_up(&w, &watch);
    hang_up(&w, &next);
    world_done(&w);
}

/* The connection that is being dialled is not cut by the reload that it caused. */
static void checks_the_files_when_dialling(void **state)
{
    const struct certs *certs = *state;
    struct visit watch, soon, later;
    struct world w;
    world_init(&w, certs);
    sim_advance(&w.sim, 5000);
    send_get(&w, &watch, certs, certs->server, CHUNKED);
    put_client(&w, certs->other_client);
    sim_advance(&w.sim, TLS_RELOADER_DIAL_CHECK_MS - 1);
    send_get(&w, &soon, certs, certs->server, CHUNKED); /* checked less than a second ago */
    assert_true(shown(&soon, "monday"));
    sim_advance(&w.sim, 1);
    send_get(&w, &later, certs, certs->server, CHUNKED);
    assert_true(shown(&later, "tuesday"));
    assert_true(has(&watch.recorder.events, "reconnecting"));
    assert_true(has(&soon.recorder.events, "reconnecting"));
    assert_false(has(&later.recorder.events, "reconnecting"));
    hang_up(&w, &watch);
    hang_up(&w, &soon);
    hang_up(&w, &later);
    world_done(&w);
}

static void new_authorities_leave_connections_in_use(void **state)
{
    const struct certs *certs = *state;
    struct visit watch, next;
    struct world w;
    world_init(&w, certs);
    send_get(&w, &watch, certs, certs->server, CHUNKED);
    put(w.config.ca_file, certs->other_ca->pem);
    sim_advance(&w.sim, TLS_RELOADER_CHECK_MS);
    logged(&w, "info config, context 'c': new certificate authorities\n");
    send_get(&w, &next, certs, certs->other_server, HELLO);
    assert_true(has(&next.recorder.events, "200;hello;end"));
    assert_int_equal(watch.recorder.events.len, strlen("200;hi"));
    hang_up(&w, &next);
    send_get(&w, &next, certs, certs->server, HELLO); /* not signed by the new authority */
    assert_false(has(&next.recorder.events, "200"));
    hang_up(&w, &next);
    hang_up(&w, &watch);
    world_done(&w);
}

#define KEPT "; keeping the previous certificates\n"

static void unusable_files_change_nothing_and_are_checked_again(void **state)
{
    const struct certs *certs = *state;
    struct visit v;
    struct world w;
    char *line;
    world_init(&w, certs);
    put(w.config.key_file, certs->other_client->key_pem); /* the certificate is not replaced yet */
    sim_advance(&w.sim, TLS_RELOADER_CHECK_MS);
    assert_true(has(&w.logged, "warn config, context 'c': client-key does not belong to"));
    buf_clear(&w.logged);
    put(w.config.ca_file, "");
    sim_advance(&w.sim, 60 * 1000);
    logged(&w, ""); /* logged once */
    send_get(&w, &v, certs, certs->server, HELLO);
    assert_true(shown(&v, "monday"));
    hang_up(&w, &v);
    put(w.config.ca_file, certs->ca->pem);
    put_client(&w, certs->other_client);
    sim_advance(&w.sim, TLS_RELOADER_RETRY_MS);
    logged(&w, "info config, context 'c': new client certificate\n");
    unlink(w.config.ca_file);
    sim_advance(&w.sim, TLS_RELOADER_CHECK_MS);
    line =
        xasprintf("warn config, context 'c': file '%s/ca': No such file or directory" KEPT, w.dir);
    logged(&w, line);
    free(line);
    put(w.config.ca_file, "");
    sim_advance(&w.sim, TLS_RELOADER_CHECK_MS);
    logged(&w, "");
    assert_string_equal(w.config.ca_pem, certs->ca->pem);
    world_done(&w);
}

static void names_the_file_without_a_certificate(void **state)
{
    struct tls_reloader reloader;
    struct inf_error err;
    struct world w;
    world_init(&w, *state);
    free(w.config.ca_pem);
    w.config.ca_pem = xstrdup("nonsense");
    assert_int_equal(tls_reloader_open(&reloader, &w.config, NULL, &err), -INF_ECONF);
    assert_non_null(strstr(
        err.text,
        "config, context 'c': certificate-authority: no certificate in PEM format found (file '"));
    world_done(&w);
}

static void unchanged_files_have_no_effect(void **state)
{
    const struct certs *certs = *state;
    struct visit v;
    struct world w;
    world_init(&w, certs);
    send_get(&w, &v, certs, certs->server, CHUNKED);
    put_client(&w, certs->client);
    sim_advance(&w.sim, 10 * TLS_RELOADER_CHECK_MS);
    logged(&w, "");
    assert_int_equal(v.recorder.events.len, strlen("200;hi"));
    hang_up(&w, &v);
    world_done(&w);
}

static void presents_a_given_certificate_instead_of_the_file(void **state)
{
    const struct certs *certs = *state;
    const struct cert *other = certs->other_client;
    struct inf_error err;
    struct visit watch, next;
    struct world w;
    world_init(&w, certs);
    send_get(&w, &watch, certs, certs->server, CHUNKED);
    assert_int_equal(tls_reloader_present(&w.reloader, other->pem, certs->client->key_pem, &err),
                     -INF_ECONF);
    assert_int_equal(tls_reloader_present(&w.reloader, other->pem, other->key_pem, &err), 0);
    assert_int_equal(watch.recorder.events.len, strlen("200;hi")); /* not inside that call */
    sim_run(&w.sim);
    assert_true(has(&watch.recorder.events, "reconnecting"));
    send_get(&w, &next, certs, certs->server, CHUNKED);
    assert_true(shown(&next, "tuesday"));
    assert_int_equal(tls_reloader_present(&w.reloader, other->pem, other->key_pem, &err), 0);
    sim_run(&w.sim);
    assert_false(has(&next.recorder.events, "reconnecting"));
    hang_up(&w, &watch);
    hang_up(&w, &next);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_certificate_is_used_and_old_connections_end),
        cmocka_unit_test(checks_the_files_when_dialling),
        cmocka_unit_test(new_authorities_leave_connections_in_use),
        cmocka_unit_test(unusable_files_change_nothing_and_are_checked_again),
        cmocka_unit_test(names_the_file_without_a_certificate),
        cmocka_unit_test(unchanged_files_have_no_effect),
        cmocka_unit_test(presents_a_given_certificate_instead_of_the_file),
    };
    return cmocka_run_group_tests_name("tls_keeper", tests, make_certs, drop_certs);
}
