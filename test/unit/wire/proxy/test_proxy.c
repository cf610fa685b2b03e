/*
 * test_proxy.c - the handshake with a proxy, byte by byte, and the bytes that pass through it
 * unchanged.
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
#include "base/str.h"
#include "pipe_stream.h"
#include "sim.h"
#include "stream_reader.h"
#include "tls_world.h"
#include "wire/proxy/proxy.h"

struct world {
    struct sim sim;
    struct pipe_dialer pipes;
    struct proxy proxy;
    struct proxy_dialer dialer;
    struct stream_reader reader;
};

static void world_init(struct world *w, enum proxy_kind kind, const char *login, const char *host)
{
    *w = (struct world){.proxy = {.kind = kind, .host = xstrdup("p"), .port = 3128}};
    if (login) {
        w->proxy.user = xstrdup("me");
        w->proxy.password = xstrdup(login);
    }
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    proxy_dialer_init(&w->dialer, &w->pipes.dialer, &w->sim.clock, &w->proxy);
    stream_reader_init(&w->reader);
    w->reader.stream = dialer_dial(&w->dialer.dialer, host, 6443, &w->reader.user);
}

static void world_done(struct world *w)
{
    stream_reader_done(&w->reader);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    proxy_free(&w->proxy);
}

/* Runs, then checks what was sent to the proxy since the last call. */
static void expect_written(struct world *w, const char *bytes, size_t len)
{
    struct buf *written = &w->pipes.last->written;
    sim_run(&w->sim);
    assert_int_equal(written->len, len);
    if (len)
        assert_memory_equal(written->bytes, bytes, len);
    buf_clear(written);
}

static void answer(struct world *w, struct str bytes)
{
    pipe_send(w->pipes.last, bytes.at, bytes.len);
    sim_run(&w->sim);
}

#define WRITTEN(w, literal) expect_written(w, literal, sizeof(literal) - 1)

/* ---- successful handshakes ---- */

static void check_open(struct world *w)
{
    assert_int_equal(w->reader.opened, 1);
    assert_int_equal(w->reader.ended, 0);
    stream_reader_write(&w->reader, "ping", 4);
    WRITTEN(w, "ping");
    answer(w, STR("pong"));
    assert_int_equal(w->reader.got.len, 4);
    assert_memory_equal(w->reader.got.bytes, "pong", 4);
}

static void http_sends_connect_and_host(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_HTTP, NULL, "api.example.com");
    WRITTEN(&w, "CONNECT api.example.com:6443 HTTP/1.1\r\nHost: api.example.com:6443\r\n\r\n");
    assert_string_equal(w.pipes.last->host, "p");
    assert_int_equal(w.pipes.last->port, 3128);
    answer(&w, STR("HTTP/1.1 200 Connection established\r\nVia: p\r\n\r\n"));
    check_open(&w);
    world_done(&w);
}

static void http_sends_the_login_and_brackets_an_ipv6_address(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_HTTPS, "a:b", "fd00::1");
    WRITTEN(&w, "CONNECT [fd00::1]:6443 HTTP/1.1\r\nHost: [fd00::1]:6443\r\n"
                "Proxy-Authorization: Basic bWU6YTpi\r\n\r\n");
    answer(&w, STR("HTTP/1.0 200\n\n"));
    check_open(&w);
    world_done(&w);
}

/* Lines of one head may end in different ways. */
static void http_head_ends_with_an_empty_line(void **state)
{
    static const char *const heads[] = {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\n\n",
                                        "HTTP/1.1 200 OK\n\r\n", "HTTP/1.1 200 OK\r\nA: b\n\r\n",
                                        "HTTP/1.1 200 OK\nA: b\r\n\n"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct world w;
        world_init(&w, PROXY_HTTP, NULL, "api");
        sim_run(&w.sim);
        buf_clear(&w.pipes.last->written);
        answer(&w, str_of(heads[i]));
        check_open(&w);
        world_done(&w);
    }
}

static void socks_sends_names_unresolved(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_SOCKS5, NULL, "api.example.com");
    WRITTEN(&w, "\5\1\0");
    answer(&w, STR("\5\0"));
    WRITTEN(&w, "\5\1\0\3\17api.example.com\31\53");
    answer(&w, STR("\5\0\0\1\12\0\0\1\0\1"));
    check_open(&w);
    world_done(&w);
}

static void socks_sends_the_login_if_required(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_SOCKS5, "secret", "10.0.0.1");
    WRITTEN(&w, "\5\2\0\2");
    answer(&w, STR("\5\2"));
    WRITTEN(&w, "\1\2me\6secret");
    answer(&w, STR("\1\0"));
    WRITTEN(&w, "\5\1\0\1\12\0\0\1\31\53");
    answer(&w, STR("\5\0\0\3\2ab\0\1"));
    check_open(&w);
    world_done(&w);
}

static void socks_sends_no_login_if_not_required(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_SOCKS5, "secret", "::1");
    WRITTEN(&w, "\5\2\0\2");
    answer(&w, STR("\5\0"));
    WRITTEN(&w, "\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\31\53");
    answer(&w, STR("\5\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\31\53"));
    check_open(&w);
    world_done(&w);
}

/* ---- in parts ---- */

#define S(literal)                     \
    {                                  \
        (literal), sizeof(literal) - 1 \
    } /* STR() for tables */

struct script {
    enum proxy_kind kind;
    const char *login;
    struct str parts[3]; /* responses of the proxy, each to one of our messages */
};

static const struct script scripts[] = {
    {PROXY_HTTP, NULL, {S("HTTP/1.1 200 OK\r\nA: b\r\n\r\npong")}},
    {PROXY_SOCKS5, NULL, {S("\5\0"), S("\5\0\0\1\1\2\3\4\5\6pong")}},
    {PROXY_SOCKS5, "x", {S("\5\2"), S("\1\0"), S("\5\0\0\3\1a\5\6pong")}},
};

/* Sends the first @limit bytes, in parts of @cut, one per tick. */
static void play(struct world *w, const struct script *script, size_t limit, size_t cut)
{
    w->pipes.last->cut = cut;
    sim_run(&w->sim);
    for (size_t i = 0; i < ARRAY_LEN(script->parts); i++) {
        size_t len = script->parts[i].len < limit ? script->parts[i].len : limit;
        limit -= len;
        answer(w, (struct str){script->parts[i].at, len});
    }
}

static size_t script_len(const struct script *script)
{
    return script->parts[0].len + script->parts[1].len + script->parts[2].len;
}

/* Bytes of the server follow the proxy's response immediately. */
static void accepts_responses_in_any_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        for (size_t cut = 1; cut <= script_len(&scripts[i]); cut++) {
            struct world w;
            world_init(&w, scripts[i].kind, scripts[i].login, "api");
            stream_reader_write(&w.reader, "early", 5);
            play(&w, &scripts[i], SIZE_MAX, cut);
            assert_int_equal(w.reader.opened, 1);
            assert_int_equal(w.reader.got.len, 4);
            assert_memory_equal(w.reader.got.bytes, "pong", 4);
            assert_memory_equal(w.pipes.last->written.bytes + w.pipes.last->written.len - 5,
                                "early", 5);
            world_done(&w);
        }
}

static void reports_a_proxy_that_disconnects_at_any_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        for (size_t limit = 0; limit < script_len(&scripts[i]); limit++) {
            struct world w;
            bool open = limit >= script_len(&scripts[i]) - 4;
            world_init(&w, scripts[i].kind, scripts[i].login, "api");
            play(&w, &scripts[i], limit, 0);
            assert_int_equal(w.reader.opened, open);
            pipe_end(w.pipes.last, INF_EEOF, "FIN");
            sim_run(&w.sim);
            assert_int_equal(w.reader.ended, 1);
            assert_string_equal(
                w.reader.why.text,
                open ? "FIN" : "proxy p:3128 closed the connection before connecting to api:6443");
            assert_int_equal(w.reader.why.code, open ? INF_EEOF : INF_ENET);
            world_done(&w);
        }
}

static void can_be_closed_at_any_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        for (size_t limit = 0; limit <= script_len(&scripts[i]); limit++) {
            struct world w;
            world_init(&w, scripts[i].kind, scripts[i].login, "api");
            w.pipes.last->held = limit == 0;
            play(&w, &scripts[i], limit, 0);
            world_done(&w);
        }
    for (enum stream_reader_moment moment = IN_OPEN; moment <= IN_END; moment++) {
        struct world w;
        world_init(&w, PROXY_HTTP, NULL, "api");
        w.reader.close_in = moment;
        play(&w, &scripts[0], SIZE_MAX, 0);
        if (moment == IN_END) {
            pipe_end(w.pipes.last, INF_EEOF, "FIN");
            sim_run(&w.sim);
        }
        assert_true(pipe_closed(w.pipes.last));
        world_done(&w);
    }
}

static void delivers_the_rest_after_a_pause_in_on_open(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_HTTP, NULL, "api");
    w.reader.pause_in = IN_OPEN;
    play(&w, &scripts[0], SIZE_MAX, 0);
    assert_int_equal(w.reader.got.len, 0);
    stream_reader_resume(&w.reader);
    sim_run(&w.sim);
    assert_int_equal(w.reader.got.len, 4);
    world_done(&w);
}

static void passes_yields_through(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_HTTP, NULL, "api");
    w.reader.take = 1;
    play(&w, &scripts[0], SIZE_MAX, 0);
    assert_int_equal(w.reader.got.len, 4);
    assert_true(w.reader.calls >= 4);
    world_done(&w);
}

/* ---- refusals ---- */

static const struct {
    enum proxy_kind kind;
    const char *login;
    struct str answers[2];
    int code;
    const char *text;
} refusals[] = {
    {PROXY_HTTP,
     NULL,
     {S("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n<html>")},
     INF_ENET,
     "requires a login (407 Proxy Authentication Required); put user:password@ before the host in its "
     "URL"},
    {PROXY_HTTP,
     "secret",
     {S("HTTP/1.1 407 Go away\r\n\r\n")},
     INF_ENET,
     "rejected the user and password of its URL (407 Go away)"},
    {PROXY_HTTP,
     "secret",
     {S("HTTP/1.1 407 me:secret bWU6c2VjcmV0 %73ecret\r\nX: secret\r\n\r\n")},
     INF_ENET,
     "rejected the user and password of its URL (407 **:*** *** ***)"},
    {PROXY_HTTP,
     "secret",
     {S("HTTP/1.1 502 0123456789012345678901234567890123456789012345678901234567890123456789 "
        "secret\r\n\r\n")},
     INF_ENET,
     "can't reach api:6443 (502 "
     "0123456789012345678901234567890123456789012345678901234567890123456789 ***)"},
    {PROXY_HTTP,
     "secret",
     {S("HTTP/1.0 401 Unauthorized\r\n\r\n")},
     INF_ENET,
     "rejected the user and password of its URL (401 Unauthorized)"},
    {PROXY_HTTP,
     NULL,
     {S("HTTP/1.0 401 Unauthorized\r\n\r\n")},
     INF_ENET,
     "requires a login (401 Unauthorized); put user:password@ before the host in its URL"},
    {PROXY_HTTP,
     NULL,
     {S("HTTP/1.1 403 Forbidden\r\n\r\n")},
     INF_ENET,
     "does not allow connections to api:6443 (403 Forbidden); allow CONNECT to this address in its rules"},
    {PROXY_HTTP,
     NULL,
     {S("HTTP/1.1 502 Bad Gateway\r\n\r\n")},
     INF_ENET,
     "can't reach api:6443 (502 Bad Gateway)"},
    {PROXY_HTTP, NULL, {S("HTTP/1.1 504\r\n\r\n")}, INF_ENET, "can't reach api:6443 (504)"},
    {PROXY_HTTP,
     NULL,
     {S("HTTP/1.1 405 No \033[1mway\r\n\r\n")},
     INF_EPROTO,
     "did not connect to api:6443: it responded '405 No '"},
    {PROXY_HTTP,
     NULL,
     {S("HTTP/1.1 2000 OK\r\n\r\n")},
     INF_EPROTO,
     "did not connect to api:6443: it responded '2000 OK'"},
    {PROXY_HTTP,
     NULL,
     {S("HTTP/1.1 100 Continue\r\n\r\n")},
     INF_EPROTO,
     "did not connect to api:6443: it responded '100 Continue'"},
    {PROXY_HTTP,
     NULL,
     {S("SSH-2.0")},
     INF_EPROTO,
     "does not respond like an HTTP proxy; check the proxy URL"},
    {PROXY_HTTP,
     NULL,
     {S("HTTP/2.0 200 OK\r\n\r\n")},
     INF_EPROTO,
     "does not respond like an HTTP proxy; check the proxy URL"},
    {PROXY_SOCKS5,
     NULL,
     {S("HTTP/1.1 400")},
     INF_EPROTO,
     "does not respond like a SOCKS5 proxy; check the proxy URL"},
    {PROXY_SOCKS5,
     NULL,
     {S("\5\377")},
     INF_ENET,
     "requires a login; put user:password@ before the host in its URL"},
    {PROXY_SOCKS5,
     NULL,
     {S("\5\2")},
     INF_ENET,
     "requires a login; put user:password@ before the host in its URL"},
    {PROXY_SOCKS5,
     "secret",
     {S("\5\377")},
     INF_ENET,
     "does not support login by user and password"},
    {PROXY_SOCKS5,
     "secret",
     {S("\5\2"), S("\1\1")},
     INF_ENET,
     "rejected the user and password of its URL"},
    {PROXY_SOCKS5,
     "secret",
     {S("\5\2"), S("\5\0")},
     INF_EPROTO,
     "does not respond like a SOCKS5 proxy; check the proxy URL"},
    {PROXY_SOCKS5,
     NULL,
     {S("\5\0"), S("\5\2")},
     INF_ENET,
     "can't reach api:6443: not allowed by its rules"},
    {PROXY_SOCKS5,
     NULL,
     {S("\5\0"), S("\5\5\0\1\0\0\0\0\0\0")},
     INF_ENET,
     "can't reach api:6443: connection refused"},
    {PROXY_SOCKS5, NULL, {S("\5\0"), S("\5\144")}, INF_ENET, "can't reach api:6443: reply 100"},
    {PROXY_SOCKS5,
     NULL,
     {S("\5\0"), S("\5\0\0\7\0")},
     INF_EPROTO,
     "does not respond like a SOCKS5 proxy; check the proxy URL"},
};

static void expect_end(struct world *w, int code, const char *text)
{
    char *whole = xasprintf("proxy p:3128 %s", text);
    assert_int_equal(w->reader.opened, 0);
    assert_int_equal(w->reader.ended, 1);
    assert_string_equal(w->reader.why.text, whole);
    assert_int_equal(w->reader.why.code, code);
    free(whole);
}

static void reports_refusals_with_the_status_of_the_proxy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct world w;
        world_init(&w, refusals[i].kind, refusals[i].login, "api");
        sim_run(&w.sim);
        answer(&w, refusals[i].answers[0]);
        if (refusals[i].answers[1].len)
            answer(&w, refusals[i].answers[1]);
        expect_end(&w, refusals[i].code, refusals[i].text);
        stream_reader_write(&w.reader, "late", 4);
        pipe_end(w.pipes.last, INF_EEOF, "FIN");
        sim_run(&w.sim);
        assert_int_equal(w.reader.ended, 1);
        world_done(&w);
    }
}

static void limits_the_response_head(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_HTTP, NULL, "api");
    sim_run(&w.sim);
    pipe_sends(w.pipes.last, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 2000; i++)
        pipe_sends(w.pipes.last, "Header: x\r\n");
    sim_run(&w.sim);
    expect_end(&w, INF_ETOOBIG, "sent a response head of more than 16384 bytes");
    world_done(&w);
}

static void names_a_proxy_that_is_unreachable(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, PROXY_HTTP, NULL, "api");
    pipe_end(w.pipes.last, INF_ENET, "p:3128: can't connect: connection refused");
    sim_run(&w.sim);
    assert_int_equal(w.reader.ended, 1);
    assert_string_equal(w.reader.why.text, "proxy: p:3128: can't connect: connection refused");
    world_done(&w);
}

/* ---- TLS above ---- */

/* The certificate is verified for the name of the server, not of the proxy. */
static void carries_tls_to_the_server(void **state)
{
    const struct tls_certs *certs = *state;
    struct sim sim;
    struct pipe_dialer pipes;
    struct proxy proxy = {.kind = PROXY_HTTP, .host = xstrdup("p"), .port = 3128};
    struct proxy_dialer through;
    struct tls_dialer tls;
    struct tls_peer peer;
    struct stream_reader reader;
    struct tls_context *context =
        tls_context_new(&(struct tls_settings){.ca_pem = certs->ca->pem}, NULL);
    sim_init(&sim);
    pipe_dialer_init(&pipes, &sim);
    proxy_dialer_init(&through, &pipes.dialer, &sim.clock, &proxy);
    tls_dialer_init(&tls, &through.dialer, &sim.clock, context, NULL);
    tls_peer_init(&peer, &(struct tls_peer_settings){.cert = certs->server});
    stream_reader_init(&reader);
    reader.stream = dialer_dial(&tls.dialer, "k.example.com", 6443, &reader.user);
    sim_run(&sim);
    assert_true(pipe_wrote(pipes.last, "CONNECT k.example.com:6443 HTTP/1.1\r\n"
                                       "Host: k.example.com:6443\r\n\r\n"));
    pipe_sends(pipes.last, "HTTP/1.1 200 OK\r\n\r\n");
    pipes.last->peer = &peer;
    pipes.last->on_tick = tls_peer_on_tick;
    tls_peer_send(&peer, "pong", 4);
    sim_run(&sim);
    assert_int_equal(reader.opened, 1);
    assert_int_equal(reader.got.len, 4);
    assert_string_equal(peer.sni, "k.example.com");
    stream_reader_done(&reader);
    sim_run(&sim);
    sim_done(&sim);
    pipe_dialer_done(&pipes);
    tls_peer_done(&peer);
    tls_context_unref(context);
    proxy_free(&proxy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(http_sends_connect_and_host),
        cmocka_unit_test(http_sends_the_login_and_brackets_an_ipv6_address),
        cmocka_unit_test(http_head_ends_with_an_empty_line),
        cmocka_unit_test(socks_sends_names_unresolved),
        cmocka_unit_test(socks_sends_the_login_if_required),
        cmocka_unit_test(socks_sends_no_login_if_not_required),
        cmocka_unit_test(accepts_responses_in_any_parts),
        cmocka_unit_test(reports_a_proxy_that_disconnects_at_any_byte),
        cmocka_unit_test(can_be_closed_at_any_time),
        cmocka_unit_test(delivers_the_rest_after_a_pause_in_on_open),
        cmocka_unit_test(passes_yields_through),
        cmocka_unit_test(reports_refusals_with_the_status_of_the_proxy),
        cmocka_unit_test(limits_the_response_head),
        cmocka_unit_test(names_a_proxy_that_is_unreachable),
        cmocka_unit_test(carries_tls_to_the_server),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
