/*
 * nats_conn.c - the states of a connection, and what is written.
 *
 *     opening ── INFO ──> connecting ── PONG ──> ready          ended, closed: from everywhere
 *
 * The user may close in any callback: the state is checked after each of them.
 */
#include "wire/nats/nats_conn.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/sm.h"
#include "base/text/json_string.h"
#include "seam/peer.h"
#include "wire/nats/nats_greeting.h"
#include "wire/tls/tls.h"

enum {
    WRITE_MAX = 64 * 1024, /* published bytes that are not collected any longer */
    MESSAGES_TICK = 64,    /* messages between two looks at the budget */
    PONGS_MAX = 1000,      /* LIMIT: that the server has not read */
};

enum conn_state {
    CONN_OPENING,
    CONN_CONNECTING, /* CONNECT is sent, PONG is awaited */
    CONN_READY,
    CONN_ENDED,
    CONN_CLOSED,
};

/* clang-format off */
static const struct sm_state conn_states[] = {
    [CONN_OPENING]    = {"opening",    SM_TO(CONN_CONNECTING) | SM_TO(CONN_ENDED) | SM_TO(CONN_CLOSED)},
    [CONN_CONNECTING] = {"connecting", SM_TO(CONN_READY) | SM_TO(CONN_ENDED) | SM_TO(CONN_CLOSED)},
    [CONN_READY]      = {"ready",      SM_TO(CONN_ENDED) | SM_TO(CONN_CLOSED)},
    [CONN_ENDED]      = {"ended",      SM_TO(CONN_CLOSED)},
    [CONN_CLOSED]     = {"closed",     0},
};
/* clang-format on */

struct nats_conn {
    struct clock *clock;
    struct nats_settings settings;
    struct nats_user *user;
    struct stream_user stream_user;
    struct stream *stream;
    struct nats_greeting_dialer greeting;
    struct tls_dialer tls;
    struct sm sm;
    char *peer;
    struct nats_parser parser;
    struct nats_info info;
    struct buf out;     /* published in this tick */
    struct task flush;  /* sends it */
    struct timer timer; /* until it is ready: the timeout; then: the next PING */
    bool awaits_pong;
    unsigned pongs; /* sent since everything was read */
    struct deferred_free deferred_free;
};

static struct nats_conn *conn_of_user(struct stream_user *user)
{
    return container_of(user, struct nats_conn, stream_user);
}

static bool is_over(const struct nats_conn *c)
{
    return c->sm.state >= CONN_ENDED;
}

/* ---- the end ---- */

static void conn_end(struct nats_conn *c, const struct inf_error *why)
{
    struct inf_error error = *why;
    if (is_over(c))
        return;
    sm_move(&c->sm, CONN_ENDED, "%s", why->text);
    timer_stop(c->clock, &c->timer);
    task_cancel(&c->flush);
    c->user->ops->on_end(c->user, &error);
}

__attribute__((format(printf, 3, 4))) static void conn_fail(struct nats_conn *c, int code,
                                                            const char *fmt, ...)
{
    struct inf_error why;
    char text[INF_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    err_set(&why, code, "NATS server %s: %s", c->peer, text);
    conn_end(c, &why);
}

/* The server's text, cut and without control characters. */
static const char *quote(struct str text, char buf[NATS_QUOTE_MAX + 1])
{
    size_t len = text.len < NATS_QUOTE_MAX ? text.len : NATS_QUOTE_MAX;
    for (size_t i = 0; i < len; i++)
        buf[i] = text.at[i] >= ' ' && text.at[i] < 0x7f ? text.at[i] : '?';
    buf[len] = '\0';
    return buf;
}

/* ---- writing ---- */

static void conn_flush(struct nats_conn *c)
{
    task_cancel(&c->flush);
    if (c->out.len)
        stream_write(c->stream, c->out.bytes, c->out.len);
    if (c->out.cap > 4 * WRITE_MAX)
        buf_free(&c->out);
    buf_clear(&c->out);
}

static void on_flush(struct task *task)
{
    conn_flush(container_of(task, struct nats_conn, flush));
}

static void conn_flush_later(struct nats_conn *c)
{
    if (c->out.len >= WRITE_MAX)
        conn_flush(c);
    else
        task_schedule(c->clock, &c->flush);
}

void nats_conn_publish(struct nats_conn *conn, const char *subject, uint64_t id, struct str headers,
                       struct str payload)
{
    static const char begin[] = "NATS/1.0\r\n";
    size_t headers_len = headers.len ? sizeof(begin) - 1 + headers.len + 2 : 0;
    struct buf *out = &conn->out;
    if (headers.len)
        buf_printf(out, "HPUB %s %s.%" PRIu64 " %zu %zu\r\n%s", subject, conn->settings.inbox, id,
                   headers_len, headers_len + payload.len, begin);
    else
        buf_printf(out, "PUB %s %s.%" PRIu64 " %zu\r\n", subject, conn->settings.inbox, id,
                   payload.len);
    if (headers.len) {
        buf_put(out, headers.at, headers.len);
        buf_puts(out, "\r\n");
    }
    if (payload.len)
        buf_put(out, payload.at, payload.len);
    buf_puts(out, "\r\n");
    conn_flush_later(conn);
}

size_t nats_conn_unsent(const struct nats_conn *conn)
{
    return conn->out.len + stream_unsent(conn->stream);
}

static void put_text(struct nats_conn *c, const char *text)
{
    buf_puts(&c->out, text);
    conn_flush_later(c);
}

/* ---- CONNECT ---- */

static void send_connect(struct nats_conn *c)
{
    struct buf text = {.secret = true};
    struct inf_error why;
    bool tls = c->settings.context;
    buf_printf(&text,
               "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false,\"headers\":true,"
               "\"no_responders\":true,\"protocol\":1,\"lang\":\"c\",\"version\":\"%s\","
               "\"tls_required\":%s,\"name\":",
               c->settings.version, tls ? "true" : "false");
    json_put_string(&text, str_of(c->settings.client));
    if (nats_credentials_put(c->settings.credentials, str_of(c->info.nonce), &text, &why) < 0) {
        buf_free(&text);
        conn_fail(c, why.code, "%s", why.text);
        return;
    }
    buf_printf(&text, "}\r\nSUB %s.* 1\r\nPING\r\n", c->settings.inbox);
    stream_write(c->stream, text.bytes, text.len);
    buf_free(&text);
    sm_move(&c->sm, CONN_CONNECTING, "INFO");
}

static void on_info(struct nats_conn *c, struct str text)
{
    struct inf_error why;
    struct nats_info info;
    if (nats_info_read(text, &info, &why) < 0) {
        conn_fail(c, why.code, "%s", why.text);
        return;
    }
    c->info = info;
    if (c->sm.state == CONN_READY) {
        c->user->ops->on_ready(c->user, &c->info);
    } else if (c->sm.state == CONN_OPENING) {
        if (info.tls_required && !c->settings.context)
            conn_fail(c, INF_ETLS, "it requires TLS; write tls:// instead of nats://");
        else if (!info.headers)
            conn_fail(c, INF_EPROTO, "it supports no headers; NATS 2.2 or later is needed");
        else
            send_connect(c);
    }
}

/* ---- the timer ---- */

static void start_pings(struct nats_conn *c)
{
    c->awaits_pong = false;
    timer_start(c->clock, &c->timer, NATS_PING_MS);
}

static void on_timer(struct timer *timer)
{
    struct nats_conn *c = container_of(timer, struct nats_conn, timer);
    if (c->sm.state != CONN_READY) {
        conn_fail(c, INF_ETIMEOUT, "not connected within %.1f s",
                  (double)c->settings.timeout_ms / 1000);
    } else if (c->awaits_pong) {
        conn_fail(c, INF_ETIMEOUT, "no answer to PING within %d s", NATS_PING_MS / 1000);
    } else {
        c->awaits_pong = true;
        put_text(c, "PING\r\n");
        timer_start(c->clock, &c->timer, NATS_PING_MS);
    }
}

/* ---- messages ---- */

/* INBOX.ID */
static bool read_id(const struct nats_conn *c, struct str subject, uint64_t *ret)
{
    size_t prefix = strlen(c->settings.inbox) + 1;
    uint64_t id = 0;
    if (subject.len <= prefix)
        return false;
    for (size_t i = prefix; i < subject.len; i++) {
        unsigned digit = (unsigned char)subject.at[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(id, 10, &id) ||
            __builtin_add_overflow(id, digit, &id))
            return false;
    }
    *ret = id;
    return true;
}

/* Without a limit, a server that only sends would fill our memory. */
static void on_ping(struct nats_conn *c)
{
    if (!nats_conn_unsent(c))
        c->pongs = 0;
    if (c->pongs++ == PONGS_MAX)
        conn_fail(c, INF_EPROTO, "it sends PING and does not read the answers");
    else
        put_text(c, "PONG\r\n");
}

static void on_pong(struct nats_conn *c)
{
    if (c->sm.state == CONN_CONNECTING) {
        sm_move(&c->sm, CONN_READY, "PONG");
        start_pings(c);
        c->user->ops->on_ready(c->user, &c->info);
    } else if (c->sm.state == CONN_READY) {
        c->awaits_pong = false;
    }
}

static void on_error(struct nats_conn *c, struct str text)
{
    static const char permissions[] = "Permissions Violation", authorization[] = "Auth";
    char buf[NATS_QUOTE_MAX + 1];
    quote(text, buf);
    if (strncasecmp(buf, permissions, strlen(permissions)) == 0)
        c->user->ops->on_refused(c->user, str_of(buf));
    else if (strncasecmp(buf, authorization, strlen(authorization)) == 0)
        conn_fail(c, INF_EUNAUTHORIZED, "%s; check the credentials and their permissions", buf);
    else
        conn_fail(c, INF_ESERVER, "%s", buf);
}

static void on_message(struct nats_conn *c, const struct nats_message *m)
{
    uint64_t id;
    switch (m->op) {
    case NATS_INFO: on_info(c, m->text); break;
    case NATS_PING: on_ping(c); break;
    case NATS_PONG: on_pong(c); break;
    case NATS_ERR: on_error(c, m->text); break;
    case NATS_OK: break;
    case NATS_MSG:
        if (c->sm.state == CONN_READY && read_id(c, m->subject, &id))
            c->user->ops->on_reply(c->user, id, m);
        break;
    }
}

/* ---- what the stream calls ---- */

static void conn_on_open(struct stream_user *user)
{
    struct nats_conn *c = conn_of_user(user);
    if (c->greeting.info.len)
        on_info(c, (struct str){c->greeting.info.bytes, c->greeting.info.len});
}

static size_t conn_on_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct nats_conn *c = conn_of_user(user);
    struct str input = {bytes, len};
    struct nats_message message;
    struct inf_error why;
    unsigned count = 0;
    int rc = 1;
    while (!is_over(c) && rc == 1) {
        if (++count % MESSAGES_TICK == 0 && clock_over_budget(c->clock))
            return len - input.len;
        rc = nats_parser_next(&c->parser, &input, &message, &why);
        if (rc == 1)
            on_message(c, &message);
        else if (rc < 0)
            conn_fail(c, why.code, "%s", why.text);
    }
    return is_over(c) ? len : len - input.len;
}

static void conn_on_end(struct stream_user *user, const struct inf_error *why)
{
    struct nats_conn *c = conn_of_user(user);
    if (why->code == INF_EEOF)
        conn_fail(c, INF_ENET, "it closed the connection");
    else
        conn_end(c, why);
}

static void conn_on_drain(struct stream_user *user)
{
    struct nats_conn *c = conn_of_user(user);
    if (c->sm.state == CONN_READY && !c->out.len)
        c->user->ops->on_drain(c->user);
}

static const struct stream_user_ops stream_user_ops = {
    .on_open = conn_on_open,
    .on_bytes = conn_on_bytes,
    .on_end = conn_on_end,
    .on_drain = conn_on_drain,
};

/* ---- life ---- */

static struct dialer *stack_dialers(struct nats_conn *c)
{
    struct dialer *way = c->settings.dialer;
    if (!c->settings.context)
        return way;
    if (!c->settings.tls_first) {
        nats_greeting_dialer_init(&c->greeting, way, c->clock);
        way = &c->greeting.dialer;
    }
    tls_dialer_init(&c->tls, way, c->clock, c->settings.context, NULL);
    return &c->tls.dialer;
}

struct nats_conn *nats_conn_open(struct clock *clock, const struct nats_settings *settings,
                                 struct nats_user *user)
{
    struct nats_conn *c = NEW(struct nats_conn);
    c->clock = clock;
    c->settings = *settings;
    c->user = user;
    c->stream_user.ops = &stream_user_ops;
    c->peer = peer_name(settings->host, settings->port);
    c->timer.fire = on_timer;
    task_init(&c->flush, PHASE_FLUSH, on_flush);
    sm_init(&c->sm, conn_states, CONN_OPENING, c->peer, NULL);
    timer_start(clock, &c->timer, settings->timeout_ms);
    c->stream = dialer_dial(stack_dialers(c), settings->host, settings->port, &c->stream_user);
    return c;
}

/* The streams are freed in the reap phase, before the dialers. */
static void conn_free(struct deferred_free *deferred_free)
{
    struct nats_conn *c = container_of(deferred_free, struct nats_conn, deferred_free);
    nats_parser_free(&c->parser);
    buf_free(&c->greeting.info);
    buf_free(&c->out);
    free(c->peer);
    free(c);
}

void nats_conn_close(struct nats_conn *conn)
{
    if (!conn)
        return;
    timer_stop(conn->clock, &conn->timer);
    task_cancel(&conn->flush);
    sm_move(&conn->sm, CONN_CLOSED, "by its user");
    stream_close(conn->stream);
    clock_free_later(conn->clock, &conn->deferred_free, conn_free);
}
