/*
 * http_server.c - client connections of the server: requests, turns, timeouts.
 *
 * Normal path: bytes arrive, a request is complete, the pump calls the user, the response is sent,
 * and only then is the next request parsed. A client that sends requests without reading responses
 * thus fills one response and `in`, then its own buffers.
 *
 * While a response is in progress, reading continues into `in`, to notice a client that
 * disconnects. A client that has closed its sending side (FIN, as nc does) still gets its response.
 * A streamed response, however, ends there: a watch would never notice otherwise.
 *
 * Closed: connections that are idle for too long, or idle for the longest time when another client
 * waits; that send a head too slowly; that read a response too slowly; that do not speak HTTP.
 * After a refusal the connection lingers: closing with unread bytes would make the kernel discard
 * what the client has not read yet.
 */
#include "wire/http/http_server.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "wire/http/http_server_internal.h"

enum {
    HEAD_MAX = 16 * 1024,
    HEAD_TIMEOUT_MS = 10 * 1000,
    IDLE_TIMEOUT_MS = 60 * 1000,
    STALL_TIMEOUT_MS = 30 * 1000,
    LINGER_MS = 2 * 1000,
};

/* clang-format off */
static const struct sm_state exchange_states[] = {
    [X_IDLE]      = {"idle",      SM_TO(X_READING) | SM_TO(X_QUEUED) | SM_TO(X_SENDING) |
                                  SM_TO(X_CLOSED)},
    [X_READING]   = {"reading",   SM_TO(X_QUEUED) | SM_TO(X_SENDING) | SM_TO(X_CLOSED)},
    [X_QUEUED]    = {"queued",    SM_TO(X_REQUESTED) | SM_TO(X_SENDING) | SM_TO(X_CLOSED)},
    [X_REQUESTED] = {"requested", SM_TO(X_STREAMING) | SM_TO(X_SENDING) | SM_TO(X_CLOSED)},
    [X_STREAMING] = {"streaming", SM_TO(X_SENDING) | SM_TO(X_CLOSED)},
    [X_SENDING]   = {"sending",   SM_TO(X_IDLE) | SM_TO(X_LINGERING) | SM_TO(X_CLOSED)},
    [X_LINGERING] = {"lingering", SM_TO(X_CLOSED)},
    [X_CLOSED]    = {"closed",    0},
};
/* clang-format on */

static struct http_exchange *exchange_of(struct stream_user *user)
{
    return container_of(user, struct http_exchange, stream_user);
}

/* ---- the end ---- */

static void exchange_free_deferred(struct deferred_free *deferred_free)
{
    struct http_exchange *x = container_of(deferred_free, struct http_exchange, deferred_free);
    http_request_parser_free(x->parser);
    buf_free(&x->in);
    buf_free(&x->headers);
    gzip_free(x->gzip);
    free(x->client);
    free(x);
}

void exchange_close(struct http_exchange *x, const char *why)
{
    stream_close(x->stream);
    timer_stop(x->server->clock, &x->timer);
    task_cancel(&x->task);
    list_remove(&x->node);
    sm_move(&x->sm, X_CLOSED, "%s", why);
    clock_free_later(x->server->clock, &x->deferred_free, exchange_free_deferred);
}

/* Closes for a reason that the user does not know: calls on_abort. */
static void exchange_abort(struct http_exchange *x, const char *why)
{
    struct http_exchange_user *user = x->user;
    exchange_close(x, why);
    if (user)
        user->ops->on_abort(user);
}

/* ---- time ---- */

void exchange_arm(struct http_exchange *x)
{
    const struct http_server_limits *limits = &x->server->limits;
    uint64_t ms = 0;
    switch ((enum exchange_state)x->sm.state) {
    case X_IDLE: ms = x->served ? limits->idle_timeout_ms : limits->head_timeout_ms; break;
    case X_READING: ms = limits->head_timeout_ms; break;
    case X_STREAMING:
    case X_SENDING: ms = x->waiting ? limits->stall_timeout_ms : 0; break;
    case X_LINGERING: ms = LINGER_MS; break;
    case X_QUEUED:
    case X_REQUESTED:
    case X_CLOSED: break;
    }
    x->mark = exchange_sent(x);
    if (ms)
        timer_start(x->server->clock, &x->timer, ms);
    else
        timer_stop(x->server->clock, &x->timer);
}

static void exchange_refuse(struct http_exchange *x, int status, const char *why)
{
    x->after = AFTER_LINGER;
    if (status == 405)
        http_exchange_header(x, "Allow", "GET, HEAD");
    exchange_reply_refusal(x, status, why);
}

static void exchange_on_timeout(struct timer *timer)
{
    struct http_exchange *x = container_of(timer, struct http_exchange, timer);
    if (x->sm.state == X_READING)
        exchange_refuse(x, 408, "the request took too long");
    else if (exchange_sent(x) - x->mark >= HTTP_SERVER_PROGRESS)
        exchange_arm(x); /* slow, but it makes progress */
    else
        exchange_abort(x, "timeout");
}

/* ---- requests ---- */

static bool is_accepted_post(const struct http_exchange *x,
                             const struct http_server_request *request)
{
    const char *path = x->server->limits.post_path;
    return path && strcmp(request->method, "POST") == 0 && request->path &&
           strcmp(request->path, path) == 0;
}

static void exchange_queue_request(struct http_exchange *x)
{
    const struct http_server_request *request = http_request_parser_request(x->parser);
    x->after = request->keep_alive ? AFTER_KEEP_ALIVE : AFTER_CLOSE;
    sm_move(&x->sm, X_QUEUED, "%s", request->method);
    exchange_arm(x);
    if (request->head || strcmp(request->method, "GET") == 0 || is_accepted_post(x, request)) {
        task_schedule(x->server->clock, &x->task);
        return;
    }
    exchange_refuse(x, 405, HTTP_METHODS_REFUSAL);
}

/* Parses a request from `in`, if the state allows one. Makes no callbacks. */
static void exchange_read_request(struct http_exchange *x)
{
    enum http_request_result result;
    if ((x->sm.state != X_IDLE && x->sm.state != X_READING) || !x->in.len)
        return;
    buf_consume(&x->in, http_request_parser_feed(x->parser, x->in.bytes, x->in.len, &result));
    if (!x->in.len)
        buf_free(&x->in);
    switch (result) {
    case REQUEST_MORE:
        if (x->sm.state == X_IDLE && http_request_parser_began(x->parser)) {
            sm_move(&x->sm, X_READING, "first byte");
            exchange_arm(x);
        }
        break;
    case REQUEST_COMPLETE: exchange_queue_request(x); break;
    case REQUEST_BAD:
        exchange_refuse(x, http_request_parser_status(x->parser),
                        http_request_parser_why(x->parser));
        break;
    }
}

static void exchange_next_request(struct http_exchange *x)
{
    http_request_parser_start(x->parser);
    x->served = true;
    sm_move(&x->sm, X_IDLE, "served");
    list_remove(&x->node);
    list_push(&x->server->exchanges, &x->node);
    exchange_arm(x);
    exchange_read_request(x);
    if (x->ended && (x->sm.state == X_IDLE || x->sm.state == X_READING)) {
        exchange_close(x, "closed by the client");
    } else if (x->sm.state == X_IDLE && x->server->crowded) {
        x->server->crowded = false;
        exchange_close(x, "another client waits");
    } else if (x->paused) {
        x->paused = false;
        stream_resume(x->stream);
    }
}

/* The response was sent. */
static void exchange_on_sent(struct http_exchange *x)
{
    if (x->after == AFTER_KEEP_ALIVE) {
        exchange_next_request(x);
    } else if (x->after == AFTER_LINGER && !x->ended) {
        sm_move(&x->sm, X_LINGERING, "refused");
        buf_free(&x->in);
        exchange_arm(x);
        stream_resume(x->stream);
    } else {
        exchange_close(x, "served");
    }
}

void exchange_on_complete(struct http_exchange *x)
{
    x->user = NULL;
    if (!x->waiting)
        exchange_on_sent(x);
}

/* ---- the user's turn ---- */

static void exchange_run_user(struct task *task)
{
    struct http_exchange *x = container_of(task, struct http_exchange, task);
    struct http_server_user *server_user = x->server->user;
    if (x->sm.state == X_QUEUED) {
        sm_move(&x->sm, X_REQUESTED, "on_request");
        server_user->ops->on_request(server_user, http_request_parser_request(x->parser), x);
        assert((x->user || (x->sm.state != X_REQUESTED && x->sm.state != X_STREAMING)) &&
               "an unfinished exchange needs a user");
    } else if (x->sm.state == X_STREAMING && !x->waiting && x->user->ops->on_drain) {
        x->user->ops->on_drain(x->user);
    }
}

/* ---- what the stream calls ---- */

static void exchange_on_open(struct stream_user *user)
{
    (void)user;
}

static size_t exchange_on_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct http_exchange *x = exchange_of(user);
    size_t room = HTTP_SERVER_IN_MAX - x->in.len, taken = len < room ? len : room;
    if (x->sm.state == X_LINGERING)
        return len;
    buf_put(&x->in, bytes, taken);
    exchange_read_request(x);
    if (x->in.len == HTTP_SERVER_IN_MAX) {
        x->paused = true;
        stream_pause(x->stream);
    }
    return taken;
}

static void exchange_on_drain(struct stream_user *user)
{
    struct http_exchange *x = exchange_of(user);
    x->waiting = false;
    if (x->sm.state == X_SENDING)
        exchange_on_sent(x);
    else if (x->sm.state == X_STREAMING) {
        exchange_arm(x);
        task_schedule(x->server->clock, &x->task);
    }
}

static void exchange_on_end(struct stream_user *user, const struct inf_error *why)
{
    struct http_exchange *x = exchange_of(user);
    x->ended = true;
    if (why->code != INF_EEOF ||
        (x->sm.state != X_QUEUED && x->sm.state != X_REQUESTED && x->sm.state != X_SENDING))
        exchange_abort(x, why->text);
}

static const struct stream_user_ops stream_user_ops = {
    .on_open = exchange_on_open,
    .on_bytes = exchange_on_bytes,
    .on_end = exchange_on_end,
    .on_drain = exchange_on_drain,
};

/* ---- the server ---- */

struct http_server *http_server_new(struct clock *clock, const struct http_server_limits *limits,
                                    struct http_server_user *user)
{
    struct http_server *s = NEW(struct http_server);
    struct http_server_limits l = limits ? *limits : (struct http_server_limits){0};
    s->clock = clock;
    s->user = user;
    s->limits = (struct http_server_limits){
        .head_max = l.head_max ? l.head_max : HEAD_MAX,
        .head_timeout_ms = l.head_timeout_ms ? l.head_timeout_ms : HEAD_TIMEOUT_MS,
        .idle_timeout_ms = l.idle_timeout_ms ? l.idle_timeout_ms : IDLE_TIMEOUT_MS,
        .stall_timeout_ms = l.stall_timeout_ms ? l.stall_timeout_ms : STALL_TIMEOUT_MS,
        .post_path = l.post_path,
    };
    list_init(&s->exchanges);
    return s;
}

void http_server_accept(struct http_server *s, struct stream *stream)
{
    http_server_accept_client(s, stream, NULL);
}

void http_server_accept_client(struct http_server *s, struct stream *stream, void *client)
{
    struct http_exchange *x = NEW(struct http_exchange);
    x->stream_user.ops = &stream_user_ops;
    x->server = s;
    x->stream = stream;
    x->client = client;
    stream->user = &x->stream_user;
    x->parser = http_request_parser_new(s->limits.head_max);
    http_request_parser_accept_post(x->parser, s->limits.post_path);
    x->timer.fire = exchange_on_timeout;
    task_init(&x->task, PHASE_PUMP, exchange_run_user);
    sm_init(&x->sm, exchange_states, X_IDLE, "client", NULL);
    list_push(&s->exchanges, &x->node);
    s->crowded = false;
    exchange_arm(x);
}

bool http_server_make_room(struct http_server *s)
{
    list_for_each(node, &s->exchanges) {
        struct http_exchange *x = container_of(node, struct http_exchange, node);
        if (x->sm.state == X_IDLE) {
            exchange_close(x, "another client waits");
            return true;
        }
    }
    s->crowded = true;
    return false;
}

size_t http_server_unsent(const struct http_server *s)
{
    size_t bytes = 0;
    list_for_each(node, &s->exchanges)
        bytes += http_exchange_unsent(container_of(node, struct http_exchange, node));
    return bytes;
}

void http_server_disconnect(struct http_server *s)
{
    while (!list_empty(&s->exchanges))
        exchange_abort(container_of(s->exchanges.next, struct http_exchange, node), "disconnected");
}

static void server_free_deferred(struct deferred_free *deferred_free)
{
    free(container_of(deferred_free, struct http_server, deferred_free));
}

void http_server_close(struct http_server *s)
{
    if (!s)
        return;
    while (!list_empty(&s->exchanges))
        exchange_close(container_of(s->exchanges.next, struct http_exchange, node), "shutdown");
    clock_free_later(s->clock, &s->deferred_free, server_free_deferred);
}
