/*
 * http_conn.c - the client side of HTTP/1.1 on one stream.
 *
 *     opening -> idle -> sent -> reading -> parsed -> idle -> ...    dead: no more requests    closed
 *
 * Normal path: the connection dials at once. A request is written at once too; the stream keeps it
 * until it is open. The head of the response is delivered, then the body as it arrives, then the
 * end. If HTTP allows it, the connection is then idle and accepts another request.
 *
 * Yields: the parser keeps no bytes. What the user does not take is not taken from the stream
 * either.
 *
 * Failures: the stream ends or fails, the response is not HTTP or exceeds a limit, a timeout, bytes
 * without a request. All of them make the connection `dead`: the stream is closed, `why` is kept,
 * and the user of the request, if any, gets on_end once. A request on a dead connection fails with
 * `why` from a timer, because no function may call back before it returns.
 */
#include "wire/http/http_conn.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sm.h"
#include "seam/peer.h"
#include "wire/http/http_parser.h"
#include "wire/http/http_request.h"

enum {
    HEAD_MAX = 64 * 1024,
    OPEN_TIMEOUT_MS = 15 * 1000,
    HEAD_TIMEOUT_MS = 35 * 1000,
};

enum conn_state {
    CONN_OPENING,
    CONN_IDLE,
    CONN_SENT,    /* the request was sent, the head of the response is incomplete */
    CONN_READING, /* the head was delivered */
    CONN_PARSED,  /* the response is complete, or invalid (`why`); on_end is still to be called */
    CONN_DEAD,
    CONN_CLOSED,
};

/* clang-format off */
static const struct sm_state conn_states[] = {
    [CONN_OPENING] = {"opening", SM_TO(CONN_IDLE) | SM_TO(CONN_SENT) |
                                 SM_TO(CONN_DEAD) | SM_TO(CONN_CLOSED)},
    [CONN_IDLE]    = {"idle",    SM_TO(CONN_SENT) | SM_TO(CONN_DEAD) | SM_TO(CONN_CLOSED)},
    [CONN_SENT]    = {"sent",    SM_TO(CONN_READING) | SM_TO(CONN_PARSED) | SM_TO(CONN_DEAD) |
                                 SM_TO(CONN_CLOSED)},
    [CONN_READING] = {"reading", SM_TO(CONN_PARSED) | SM_TO(CONN_DEAD) | SM_TO(CONN_CLOSED)},
    [CONN_PARSED]  = {"parsed",  SM_TO(CONN_IDLE) | SM_TO(CONN_DEAD) | SM_TO(CONN_CLOSED)},
    [CONN_DEAD]    = {"dead",    SM_TO(CONN_CLOSED)},
    [CONN_CLOSED]  = {"closed",  0},
};
/* clang-format on */

struct http_conn {
    struct stream_user stream_user; /* the stream's callbacks */
    struct stream *stream;          /* NULL once dead */
    struct clock *clock;
    struct http_limits limits;
    struct http_parser *parser;
    struct http_user *user;   /* of the request in progress; NULL: none */
    struct http_owner *owner; /* gets the end in place of the user; NULL: none */
    struct sm sm;
    struct timer timer; /* for the current state; see conn_arm() */
    char *peer;
    bool responded; /* at least one byte of the response arrived */
    bool paused;
    bool owed;            /* the user called resume() and must get a call */
    bool offered;         /* it got one in the current call from the stream */
    struct inf_error why; /* the reason for `dead`, or why the response is invalid; code 0: none */
    struct deferred_free deferred_free;
};

const char *http_header_find(const struct http_header *headers, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(headers[i].name, name) == 0)
            return headers[i].value;
    return NULL;
}

const char *http_head_get(const struct http_head *head, const char *name)
{
    return http_header_find(head->headers, head->n_headers, name);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Starts the timer that belongs to the state. */
static void conn_arm(struct http_conn *c)
{
    timer_stop(c->clock, &c->timer);
    switch ((enum conn_state)c->sm.state) {
    case CONN_OPENING: timer_start(c->clock, &c->timer, c->limits.open_timeout_ms); break;
    case CONN_SENT: timer_start(c->clock, &c->timer, c->limits.head_timeout_ms); break;
    case CONN_DEAD:
        if (c->user)
            timer_start(c->clock, &c->timer, 0);
        break;
    case CONN_IDLE:
    case CONN_READING: /* the reader of a body has its own timeout */
    case CONN_PARSED:
    case CONN_CLOSED: break;
    }
}

static void conn_move(struct http_conn *c, enum conn_state next, const char *why)
{
    sm_move(&c->sm, (int)next, "%s", why);
    if (!c->paused)
        conn_arm(c);
}

/* --- the end of a request, and of the connection ---------------------------------------------- */

/* Must be the last use of @c in a callback: the user may close it. */
static void conn_report_end(struct http_conn *c, const struct inf_error *why)
{
    struct http_user *user = c->user;
    struct http_owner *owner = c->owner;
    c->user = NULL;
    c->owner = NULL;
    c->owed = false;
    if (owner)
        owner->on_end(owner, why);
    else if (user)
        user->ops->on_end(user, why);
}

static void conn_die(struct http_conn *c, const struct inf_error *why)
{
    stream_close(c->stream);
    c->stream = NULL;
    if (why != &c->why)
        c->why = *why;
    conn_move(c, CONN_DEAD, c->why.text);
    timer_stop(c->clock, &c->timer);
}

static void conn_fail(struct http_conn *c, const struct inf_error *why)
{
    conn_die(c, why);
    conn_report_end(c, &c->why);
}

static void conn_time_out(struct http_conn *c, const char *what, uint64_t ms)
{
    struct inf_error why;
    if (ms % 1000 == 0)
        err_set(&why, INF_ETIMEOUT, "%s %s within %" PRIu64 "s", what, c->peer, ms / 1000);
    else
        err_set(&why, INF_ETIMEOUT, "%s %s within %" PRIu64 "ms", what, c->peer, ms);
    conn_fail(c, &why);
}

static void conn_on_timer(struct timer *timer)
{
    struct http_conn *c = container_of(timer, struct http_conn, timer);
    switch ((enum conn_state)c->sm.state) {
    case CONN_OPENING: conn_time_out(c, "no connection to", c->limits.open_timeout_ms); break;
    case CONN_SENT: conn_time_out(c, "no response from", c->limits.head_timeout_ms); break;
    case CONN_DEAD: conn_report_end(c, &c->why); break;
    case CONN_IDLE:
    case CONN_READING:
    case CONN_PARSED:
    case CONN_CLOSED: break;
    }
}

/* --- the response ----------------------------------------------------------------------------- */

static size_t conn_offer(struct http_conn *c, const char *bytes, size_t len)
{
    size_t taken = c->user->ops->on_body(c->user, bytes, len);
    assert(taken <= len);
    c->offered = true;
    return taken;
}

/* Delivers the response piece by piece until the user pauses, resumes or yields, or more bytes are
 * needed. Returns the number of bytes consumed. */
static size_t conn_read(struct http_conn *c, const char *bytes, size_t len)
{
    struct http_piece piece;
    size_t at = 0, taken;
    while ((c->sm.state == CONN_SENT || c->sm.state == CONN_READING) && !c->paused && !c->owed) {
        at += http_parser_next(c->parser, bytes + at, len - at, &piece);
        switch (piece.type) {
        case PIECE_MORE: return at;
        case PIECE_HEAD:
            conn_move(c, CONN_READING, "head");
            if (c->owner)
                c->owner->on_response(c->owner);
            c->user->ops->on_head(c->user, &piece.head);
            break;
        case PIECE_BODY:
            taken = conn_offer(c, piece.bytes, piece.len);
            http_parser_took(c->parser, taken);
            at += taken;
            if (taken < piece.len)
                return at;
            break;
        case PIECE_DONE: conn_move(c, CONN_PARSED, "complete"); break;
        case PIECE_BAD:
            c->why = piece.why;
            err_wrap(&c->why, "response from %s", c->peer);
            conn_move(c, CONN_PARSED, "invalid");
            break;
        }
    }
    return at;
}

/* Calls on_end as soon as everything before it was delivered. @rest bytes follow the response; they
 * belong to no request, so the connection can't be reused. */
static void conn_finish(struct http_conn *c, size_t rest)
{
    struct inf_error why;
    if (c->sm.state != CONN_PARSED || c->paused || c->owed)
        return;
    if (c->why.code) {
        conn_fail(c, &c->why);
        return;
    }
    if (rest) {
        err_set(&why, INF_EPROTO, "%s sent more than one response to one request", c->peer);
        conn_die(c, &why);
    } else if (!http_parser_keep_alive(c->parser)) {
        err_set(&why, INF_EEOF, "%s does not keep the connection alive", c->peer);
        conn_die(c, &why);
    } else {
        conn_move(c, CONN_IDLE, "complete");
    }
    conn_report_end(c, NULL);
}

/* --- what the stream calls -------------------------------------------------------------------- */

static struct http_conn *conn_of(struct stream_user *user)
{
    return container_of(user, struct http_conn, stream_user);
}

static void conn_on_open(struct stream_user *user)
{
    struct http_conn *c = conn_of(user);
    conn_move(c, c->user ? CONN_SENT : CONN_IDLE, "open");
}

static size_t conn_on_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct http_conn *c = conn_of(user);
    struct inf_error why;
    size_t at;
    bool owed;
    if (c->sm.state == CONN_IDLE && len) {
        err_set(&why, INF_EPROTO, "%s sent a response without a request", c->peer);
        conn_die(c, &why);
        return len;
    }
    c->responded |= len > 0;
    owed = c->owed;
    c->owed = c->offered = false;
    at = conn_read(c, len ? bytes : "", len);
    if (owed && !c->offered && (c->sm.state == CONN_READING || c->sm.state == CONN_PARSED))
        conn_offer(c, "", 0);
    conn_finish(c, len - at);
    return at;
}

/* The meaning of the end of the stream depends on the state. */
static void conn_on_end(struct stream_user *user, const struct inf_error *end)
{
    struct http_conn *c = conn_of(user);
    struct inf_error why = *end;
    bool cut = end->code == INF_EEOF || end->code == INF_ECUT;
    if (cut && c->sm.state == CONN_READING)
        err_set(&why, INF_ECUT, "%s closed the connection in the middle of a response", c->peer);
    else if (cut && c->sm.state == CONN_SENT)
        err_set(&why, INF_ECUT, "%s closed the connection %s", c->peer,
                c->responded ? "in the head of a response" : "before it responded");
    else if (!strstr(why.text, c->peer))
        err_wrap(&why, "%s", c->peer);
    conn_fail(c, &why);
}

static const struct stream_user_ops conn_stream_user_ops = {
    .on_open = conn_on_open,
    .on_bytes = conn_on_bytes,
    .on_end = conn_on_end,
};

/* --- what the user calls ---------------------------------------------------------------------- */

static struct http_limits with_defaults(const struct http_limits *limits)
{
    struct http_limits l = limits ? *limits : (struct http_limits){0};
    l.head_max = l.head_max ? l.head_max : HEAD_MAX;
    l.open_timeout_ms = l.open_timeout_ms ? l.open_timeout_ms : OPEN_TIMEOUT_MS;
    l.head_timeout_ms = l.head_timeout_ms ? l.head_timeout_ms : HEAD_TIMEOUT_MS;
    return l;
}

struct http_conn *http_conn_open(struct clock *clock, struct dialer *dialer, const char *host,
                                 uint16_t port, const struct http_limits *limits)
{
    struct http_conn *c = NEW(struct http_conn);
    c->stream_user.ops = &conn_stream_user_ops;
    c->clock = clock;
    c->limits = with_defaults(limits);
    c->parser = http_parser_new(c->limits.head_max);
    c->timer.fire = conn_on_timer;
    c->peer = peer_name(host, port);
    sm_init(&c->sm, conn_states, CONN_OPENING, c->peer, NULL);
    c->stream = dialer_dial(dialer, host, port, &c->stream_user);
    conn_arm(c);
    return c;
}

static void conn_send(struct http_conn *c, const struct http_request *request)
{
    struct buf bytes = {.secret = true}; /* it may contain a token */
    struct inf_error why;
    if (http_request_write(request, &bytes, &why) < 0) {
        conn_die(c, &why);
        return;
    }
    stream_write(c->stream, bytes.bytes, bytes.len);
    stream_gather(c->stream, request->gather);
    buf_free(&bytes);
    http_parser_start(c->parser, strcmp(request->method, "HEAD") == 0);
}

void http_conn_request(struct http_conn *c, const struct http_request *request,
                       struct http_user *user, struct http_owner *owner)
{
    assert(!c->user);
    c->user = user;
    c->owner = owner;
    c->responded = false;
    if (c->sm.state != CONN_DEAD)
        conn_send(c, request);
    if (c->sm.state == CONN_IDLE)
        conn_move(c, CONN_SENT, request->target);
    else if (c->sm.state == CONN_DEAD && !c->paused)
        conn_arm(c);
}

bool http_conn_reusable(const struct http_conn *c)
{
    return !c->user && (c->sm.state == CONN_OPENING || c->sm.state == CONN_IDLE);
}

bool http_conn_responded(const struct http_conn *c)
{
    return c->responded;
}

void http_conn_pause(struct http_conn *c)
{
    c->paused = true;
    timer_stop(c->clock, &c->timer); /* the peer is not at fault while we do not read */
    if (c->stream)
        stream_pause(c->stream);
}

void http_conn_resume(struct http_conn *c)
{
    if (c->paused) {
        c->paused = false;
        conn_arm(c);
    }
    c->owed = c->sm.state == CONN_READING || c->sm.state == CONN_PARSED;
    if (c->stream)
        stream_resume(c->stream);
}

static void conn_free_deferred(struct deferred_free *deferred_free)
{
    struct http_conn *c = container_of(deferred_free, struct http_conn, deferred_free);
    http_parser_free(c->parser);
    free(c->peer);
    free(c);
}

void http_conn_close(struct http_conn *c)
{
    if (!c)
        return;
    if (c->stream)
        stream_close(c->stream);
    c->stream = NULL;
    c->user = NULL;
    c->owner = NULL;
    c->owed = false;
    timer_stop(c->clock, &c->timer);
    sm_move(&c->sm, CONN_CLOSED, "by its user");
    clock_free_later(c->clock, &c->deferred_free, conn_free_deferred);
}
