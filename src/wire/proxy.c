/*
 * proxy.c - the filter: first the dialogue with the proxy, then bytes unchanged.
 *
 *     opening -> asking -> open -> ended        and from everywhere: closed
 *
 * Normal path: the stream to the proxy opens, the dialogue (proxy_http.c, proxy_socks.c) produces
 * what to send and parses what arrives, bytes written meanwhile are sent, the user gets on_open.
 * From then on every call is passed through in both directions, so yields, pauses and guarantees
 * are those of the stream below.
 *
 * A failure before that is reported as an error of the proxy. There is no timeout here: the user
 * has one and closes.
 */
#include "wire/proxy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/sm.h"
#include "wire/peer.h"
#include "wire/proxy_talk.h"

enum state {
    OPENING,
    ASKING,
    OPEN,
    ENDED,
    CLOSED,
};

static const struct sm_state proxy_states[] = {
    [OPENING] = {"opening", SM_TO(ASKING) | SM_TO(ENDED) | SM_TO(CLOSED)},
    [ASKING] = {"asking", SM_TO(OPEN) | SM_TO(ENDED) | SM_TO(CLOSED)},
    [OPEN] = {"open", SM_TO(ENDED) | SM_TO(CLOSED)},
    [ENDED] = {"ended", SM_TO(CLOSED)},
    [CLOSED] = {"closed", 0},
};

struct proxied {
    struct stream stream;          /* the user's handle */
    struct stream_user lower_user; /* callbacks of the stream to the proxy */
    struct stream *lower;
    struct clock *clock;
    struct sm sm;
    struct proxy_talk talk;
    struct buf unsent; /* bytes written before it was open */
    bool paused;
    bool opened; /* on_open was called */
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

int proxy_error(const struct proxy_talk *talk, struct inf_error *err, int code, const char *fmt,
                ...)
{
    char text[INF_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return err_set(err, code, "proxy %s %s", talk->name, text);
}

/* ---- the dialogue ---- */

static bool is_socks(const struct proxied *p)
{
    return p->talk.proxy->kind == PROXY_SOCKS5;
}

/* It may contain a login. */
static void wipe_buf(struct buf *b)
{
    if (b->bytes)
        secret_wipe(b->bytes, b->cap);
    buf_free(b);
}

static void proxied_send(struct proxied *p)
{
    if (p->talk.out.len)
        stream_write(p->lower, p->talk.out.bytes, p->talk.out.len);
    wipe_buf(&p->talk.out);
}

static void proxied_end(struct proxied *p, const struct inf_error *why)
{
    sm_move(&p->sm, ENDED, "%s", why->text);
    p->stream.user->ops->on_end(p->stream.user, why);
}

static void proxied_on_opened(struct proxied *p)
{
    sm_move(&p->sm, OPEN, "by %s", p->talk.name);
    buf_free(&p->talk.in);
    if (p->unsent.len)
        stream_write(p->lower, p->unsent.bytes, p->unsent.len);
    buf_free(&p->unsent);
    p->opened = true;
    p->stream.user->ops->on_open(p->stream.user);
}

static void proxied_parse(struct proxied *p, struct str *input)
{
    struct inf_error why;
    int rc = is_socks(p) ? proxy_socks_next(&p->talk, input, &why)
                         : proxy_http_next(&p->talk, input, &why);
    proxied_send(p);
    if (rc == 1)
        proxied_on_opened(p);
    else if (rc < 0)
        proxied_end(p, &why);
}

/* ---- what the stream below calls ---- */

static void proxied_on_lower_open(struct stream_user *user)
{
    struct proxied *p = proxied_of_user(user);
    sm_move(&p->sm, ASKING, "connected to the proxy");
    if (is_socks(p))
        proxy_socks_begin(&p->talk);
    else
        proxy_http_begin(&p->talk);
    proxied_send(p);
}

static size_t proxied_on_lower_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct proxied *p = proxied_of_user(user);
    struct str input = {bytes, len};
    if (p->sm.state == ASKING) {
        proxied_parse(p, &input);
        if (p->paused || input.len == 0)
            return len - input.len;
    }
    if (p->sm.state == OPEN)
        return len - input.len + p->stream.user->ops->on_bytes(p->stream.user, input.at, input.len);
    return len; /* bytes after the end are discarded */
}

static void proxied_on_lower_end(struct stream_user *user, const struct inf_error *why)
{
    struct proxied *p = proxied_of_user(user);
    struct inf_error error = *why;
    if (p->sm.state == ENDED)
        return;
    if (p->sm.state != OPEN && why->code == INF_EEOF)
        proxy_error(&p->talk, &error, INF_ENET, "closed the connection before connecting to %s",
                    p->talk.target);
    else if (p->sm.state != OPEN)
        err_wrap(&error, "proxy"); /* the text contains its name */
    proxied_end(p, &error);
}

static void proxied_on_lower_drain(struct stream_user *user)
{
    struct proxied *p = proxied_of_user(user);
    if (p->opened) /* earlier it concerns only the dialogue */
        stream_call_on_drain(&p->stream);
}

static const struct stream_user_ops lower_user_ops = {
    .on_open = proxied_on_lower_open,
    .on_bytes = proxied_on_lower_bytes,
    .on_end = proxied_on_lower_end,
    .on_drain = proxied_on_lower_drain,
};

/* ---- what the user above calls ---- */

static void proxied_write(struct stream *stream, const char *bytes, size_t len)
{
    struct proxied *p = proxied_of(stream);
    if (p->sm.state < OPEN)
        buf_put(&p->unsent, bytes, len);
    else
        stream_write(p->lower, bytes, len);
}

static void proxied_pause(struct stream *stream)
{
    struct proxied *p = proxied_of(stream);
    p->paused = true;
    stream_pause(p->lower);
}

static void proxied_resume(struct stream *stream)
{
    struct proxied *p = proxied_of(stream);
    p->paused = false;
    stream_resume(p->lower);
}

static void proxied_free_deferred(struct deferred_free *deferred_free)
{
    struct proxied *p = container_of(deferred_free, struct proxied, deferred_free);
    free(p->talk.name);
    free(p->talk.host);
    free(p->talk.target);
    buf_free(&p->talk.in);
    wipe_buf(&p->talk.out);
    buf_free(&p->unsent);
    free(p);
}

static void proxied_close(struct stream *stream)
{
    struct proxied *p = proxied_of(stream);
    sm_move(&p->sm, CLOSED, "by its user");
    stream_close(p->lower);
    clock_free_later(p->clock, &p->deferred_free, proxied_free_deferred);
}

static size_t proxied_unsent(struct stream *stream)
{
    struct proxied *p = proxied_of(stream);
    return p->unsent.len + stream_unsent(p->lower);
}

static const struct stream_ops stream_ops = {
    .write = proxied_write,
    .pause = proxied_pause,
    .resume = proxied_resume,
    .close = proxied_close,
    .unsent = proxied_unsent,
};

/* ---- the dialer ---- */

static struct stream *proxy_dial(struct dialer *dialer, const char *host, uint16_t port,
                                 struct stream_user *user)
{
    struct proxy_dialer *d = container_of(dialer, struct proxy_dialer, dialer);
    struct proxied *p = NEW(struct proxied);
    p->stream = (struct stream){.ops = &stream_ops, .user = user};
    p->lower_user.ops = &lower_user_ops;
    p->clock = d->clock;
    p->talk = (struct proxy_talk){
        .proxy = d->proxy,
        .name = peer_name(d->proxy->host, d->proxy->port),
        .host = xstrdup(host),
        .port = port,
        .target = peer_name(host, port),
    };
    sm_init(&p->sm, proxy_states, OPENING, p->talk.name, NULL);
    p->lower = dialer_dial(d->lower, d->proxy->host, d->proxy->port, &p->lower_user);
    return &p->stream;
}

void proxy_dialer_init(struct proxy_dialer *d, struct dialer *lower, struct clock *clock,
                       const struct proxy *proxy)
{
    *d = (struct proxy_dialer){
        .dialer = {.dial = proxy_dial}, .lower = lower, .clock = clock, .proxy = proxy};
}
