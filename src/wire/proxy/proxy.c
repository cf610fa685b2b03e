/*
 * proxy.c - a connection through a proxy: first the handshake with the proxy, then no work at all.
 *
 *     connecting -> handshaking -> open        ended: failed before it was open        closed
 *
 * Normal path: the stream to the proxy opens, the handshake (proxy_http.c, proxy_socks.c) produces
 * what to send and parses what arrives, bytes written meanwhile are sent, and the stream to the proxy
 * is handed over: from then on it calls our user directly, so bytes, yields, the end and on_drain do
 * not pass through here. on_open is the last callback that we make. Calls of the user (write, pause,
 * resume, close) are passed down.
 *
 * A failure before that is reported as an error of the proxy. There is no timeout here: the user
 * has one and closes.
 */
#include "wire/proxy/proxy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/sm.h"
#include "seam/peer.h"
#include "wire/proxy/proxy_handshake.h"

enum proxied_state {
    PROXIED_CONNECTING, /* to the proxy */
    PROXIED_HANDSHAKING,
    PROXIED_OPEN,  /* the lower stream is handed over */
    PROXIED_ENDED, /* on_end was called */
    PROXIED_CLOSED,
};

/* clang-format off */
static const struct sm_state proxied_states[] = {
    [PROXIED_CONNECTING]  = {"connecting",  SM_TO(PROXIED_HANDSHAKING) | SM_TO(PROXIED_ENDED) |
                                            SM_TO(PROXIED_CLOSED)},
    [PROXIED_HANDSHAKING] = {"handshaking", SM_TO(PROXIED_OPEN) | SM_TO(PROXIED_ENDED) |
                                            SM_TO(PROXIED_CLOSED)},
    [PROXIED_OPEN]        = {"open",        SM_TO(PROXIED_CLOSED)},
    [PROXIED_ENDED]       = {"ended",       SM_TO(PROXIED_CLOSED)},
    [PROXIED_CLOSED]      = {"closed",      0},
};
/* clang-format on */

/* The protocol of each enum proxy_kind. */
static const struct proxy_protocol *const protocols[] = {
    [PROXY_HTTP] = &proxy_http_protocol,
    [PROXY_HTTPS] = &proxy_http_protocol,
    [PROXY_SOCKS5] = &proxy_socks_protocol,
};

struct proxied {
    struct stream stream;          /* the user's handle */
    struct stream_user lower_user; /* callbacks of the stream to the proxy, until it is open */
    struct stream *lower;
    struct clock *clock;
    struct sm sm;
    const struct proxy_protocol *protocol;
    struct proxy_handshake handshake;
    struct buf unsent; /* bytes written before it was open */
    struct deferred_free deferred_free;
};

static struct proxied *proxied_of_user(struct stream_user *user)
{
    return container_of(user, struct proxied, lower_user);
}

static struct proxied *proxied_of(struct stream *stream)
{
    return container_of(stream, struct proxied, stream);
}

void proxy_free(struct proxy *proxy)
{
    free(proxy->host);
    secret_free(proxy->user);
    secret_free(proxy->password);
    *proxy = (struct proxy){0};
}

int proxy_error(const struct proxy_handshake *h, struct inf_error *err, int code, const char *fmt,
                ...)
{
    char text[INF_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return err_set(err, code, "proxy %s %s", h->name, text);
}

/* ---- the handshake ---- */

/* Sends what the protocol has produced, and wipes it: it may contain a login. */
static void proxied_send_handshake(struct proxied *p)
{
    struct buf *out = &p->handshake.out;
    if (out->len)
        stream_write(p->lower, out->bytes, out->len);
    if (out->bytes)
        secret_wipe(out->bytes, out->cap);
    buf_free(out);
}

static void proxied_hand_over(struct proxied *p)
{
    sm_move(&p->sm, PROXIED_OPEN, "by %s", p->handshake.name);
    buf_free(&p->handshake.in);
    if (p->unsent.len)
        stream_write(p->lower, p->unsent.bytes, p->unsent.len);
    buf_free(&p->unsent);
    p->lower->user = p->stream.user;
    p->stream.user->ops->on_open(p->stream.user);
}

static void proxied_end(struct proxied *p, const struct inf_error *why)
{
    sm_move(&p->sm, PROXIED_ENDED, "%s", why->text);
    p->stream.user->ops->on_end(p->stream.user, why);
}

/* ---- what the stream below calls ---- */

static void proxied_on_lower_open(struct stream_user *user)
{
    struct proxied *p = proxied_of_user(user);
    sm_move(&p->sm, PROXIED_HANDSHAKING, "connected to the proxy");
    p->protocol->begin(&p->handshake);
    proxied_send_handshake(p);
}

/* Bytes after the handshake are not taken: the stream below offers them again, to our user. */
static size_t proxied_on_lower_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct proxied *p = proxied_of_user(user);
    struct str input = {bytes, len};
    struct inf_error why;
    int rc;
    if (p->sm.state == PROXIED_ENDED)
        return len; /* discarded */
    rc = p->protocol->next(&p->handshake, &input, &why);
    proxied_send_handshake(p);
    if (rc == 1)
        proxied_hand_over(p);
    else if (rc < 0)
        proxied_end(p, &why);
    return p->sm.state == PROXIED_ENDED ? len : len - input.len;
}

static void proxied_on_lower_end(struct stream_user *user, const struct inf_error *why)
{
    struct proxied *p = proxied_of_user(user);
    struct inf_error error = *why;
    if (p->sm.state == PROXIED_ENDED)
        return;
    if (why->code == INF_EEOF)
        proxy_error(&p->handshake, &error, INF_ENET,
                    "closed the connection before connecting to %s", p->handshake.target);
    else
        err_wrap(&error, "proxy"); /* the text contains its name */
    proxied_end(p, &error);
}

/* No on_drain: before the hand-over it would concern only the handshake. */
static const struct stream_user_ops lower_user_ops = {
    .on_open = proxied_on_lower_open,
    .on_bytes = proxied_on_lower_bytes,
    .on_end = proxied_on_lower_end,
};

/* ---- what the user above calls ---- */

static void proxied_write(struct stream *stream, const char *bytes, size_t len)
{
    struct proxied *p = proxied_of(stream);
    if (p->sm.state < PROXIED_OPEN)
        buf_put(&p->unsent, bytes, len);
    else
        stream_write(p->lower, bytes, len);
}

static void proxied_pause(struct stream *stream)
{
    stream_pause(proxied_of(stream)->lower);
}

static void proxied_resume(struct stream *stream)
{
    stream_resume(proxied_of(stream)->lower);
}

static void proxied_free_deferred(struct deferred_free *deferred_free)
{
    struct proxied *p = container_of(deferred_free, struct proxied, deferred_free);
    free(p->handshake.name);
    free(p->handshake.host);
    free(p->handshake.target);
    buf_free(&p->handshake.in);
    buf_free(&p->unsent);
    free(p);
}

static void proxied_close(struct stream *stream)
{
    struct proxied *p = proxied_of(stream);
    sm_move(&p->sm, PROXIED_CLOSED, "by its user");
    stream_close(p->lower);
    clock_free_later(p->clock, &p->deferred_free, proxied_free_deferred);
}

static size_t proxied_unsent(struct stream *stream)
{
    struct proxied *p = proxied_of(stream);
    return p->unsent.len + stream_unsent(p->lower);
}

static void proxied_gather(struct stream *stream, bool may_gather)
{
    stream_gather(proxied_of(stream)->lower, may_gather);
}

static const struct stream_ops proxied_ops = {
    .write = proxied_write,
    .pause = proxied_pause,
    .resume = proxied_resume,
    .close = proxied_close,
    .unsent = proxied_unsent,
    .gather = proxied_gather,
};

/* ---- the dialer ---- */

static struct stream *proxy_dial(struct dialer *dialer, const char *host, uint16_t port,
                                 struct stream_user *user)
{
    struct proxy_dialer *d = container_of(dialer, struct proxy_dialer, dialer);
    const struct proxy *proxy = d->proxy;
    struct proxied *p = NEW(struct proxied);
    *p = (struct proxied){
        .stream = {.ops = &proxied_ops, .user = user},
        .lower_user.ops = &lower_user_ops,
        .clock = d->clock,
        .protocol = protocols[proxy->kind],
        .handshake = {.proxy = proxy,
                      .name = peer_name(proxy->host, proxy->port),
                      .host = xstrdup(host),
                      .port = port,
                      .target = peer_name(host, port)},
    };
    sm_init(&p->sm, proxied_states, PROXIED_CONNECTING, p->handshake.name, NULL);
    p->lower = dialer_dial(d->lower, proxy->host, proxy->port, &p->lower_user);
    return &p->stream;
}

void proxy_dialer_init(struct proxy_dialer *d, struct dialer *lower, struct clock *clock,
                       const struct proxy *proxy)
{
    *d = (struct proxy_dialer){
        .dialer = {.dial = proxy_dial}, .lower = lower, .clock = clock, .proxy = proxy};
}
