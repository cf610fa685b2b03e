/*
 * conn.c - a connection over libuv: parses one request at a time and lets the reply produce data
 * while there is room. An error of the socket or of the protocol closes the connection and frees
 * its reply.
 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/alloc.h"
#include "base/base.h"

enum {
    ROOM = 256 * 1024,            /* bytes in flight at which an answer waits for the client */
    IN_MAX = HEAD_MAX + BODY_MAX, /* LIMIT: received bytes that are not parsed yet */
};

struct write {
    uv_write_t req;
    struct conn *conn;
    size_t len;
    char bytes[];
};

static void on_handle_closed(uv_handle_t *handle)
{
    struct conn *c = handle->data;
    if (--c->handles > 0)
        return;
    tls_free(c);
    reply_free(&c->reply);
    request_free(&c->request);
    buf_free(&c->in);
    free(c);
}

static void leave(struct conn *c)
{
    c->closing = true;
    c->sim->journal.closed++;
    list_remove(&c->node);
    list_remove(&c->dirty);
    reply_free(&c->reply); /* a closed watch must not get further changes */
    uv_close((uv_handle_t *)&c->pause, on_handle_closed);
    uv_close((uv_handle_t *)&c->deadline, on_handle_closed);
}

void conn_close(struct conn *c)
{
    if (c->closing)
        return;
    leave(c);
    uv_close((uv_handle_t *)&c->tcp, on_handle_closed);
}

static void conn_reset(struct conn *c)
{
    leave(c);
    if (uv_tcp_close_reset(&c->tcp, on_handle_closed) < 0)
        uv_close((uv_handle_t *)&c->tcp, on_handle_closed);
}

static void end_now(struct conn *c)
{
    if (c->closing)
        return;
    if (c->ending == END_RESET)
        conn_reset(c);
    else
        conn_close(c);
}

static void on_written(uv_write_t *req, int status)
{
    struct write *w = container_of(req, struct write, req);
    struct conn *c = w->conn;
    c->in_flight -= w->len;
    free(w);
    if (c->closing)
        return;
    if (status < 0)
        conn_close(c);
    else if (c->ending != END_NOT && c->in_flight == 0)
        end_now(c);
    else
        reply_pump(c);
}

void conn_send_raw(struct conn *c, const char *bytes, size_t len)
{
    struct write *w;
    uv_buf_t buf;
    if (c->closing || len == 0)
        return;
    w = xmalloc(sizeof(*w) + len);
    w->conn = c;
    w->len = len;
    memcpy(w->bytes, bytes, len);
    buf = uv_buf_init(w->bytes, (unsigned)len);
    c->in_flight += len;
    if (uv_write(&w->req, (uv_stream_t *)&c->tcp, &buf, 1, on_written) < 0) {
        c->in_flight -= len;
        free(w);
        conn_close(c);
    }
}

void conn_send(struct conn *c, const char *bytes, size_t len)
{
    c->sim->journal.sent += len;
    if (c->ssl)
        tls_write(c, bytes, len);
    else
        conn_send_raw(c, bytes, len);
}

bool conn_has_room(const struct conn *c)
{
    return !c->closing && !c->silent && c->ending == END_NOT && c->in_flight < ROOM;
}

void conn_end(struct conn *c, enum ending how)
{
    if (c->closing || c->ending != END_NOT)
        return;
    if (how == END_NICE && c->ssl)
        tls_send_close_notify(c);
    c->ending = how;
    if (c->in_flight == 0)
        end_now(c);
}

void conn_go_silent(struct conn *c)
{
    c->silent = true;
}

static void on_soon(uv_timer_t *timer)
{
    struct kubesim *sim = timer->data;
    struct list *n;
    while ((n = list_pop(&sim->dirty)))
        reply_pump(container_of(n, struct conn, dirty));
}

void conn_wake(struct conn *c)
{
    if (c->closing)
        return;
    list_remove(&c->dirty);
    list_push(&c->sim->dirty, &c->dirty);
    uv_timer_start(&c->sim->soon, on_soon, 0, 0);
}

static void read_request(struct conn *c)
{
    size_t used = 0;
    if (c->reply.open || c->closing || c->silent || c->ending != END_NOT || c->in.len == 0)
        return;
    switch (http_parse(&c->request, c->in.bytes, c->in.len, &used)) {
    case PARSE_PARTIAL: return;
    case PARSE_INVALID: conn_end(c, END_NICE); return;
    case PARSE_DONE: break;
    }
    buf_consume(&c->in, used);
    api_answer(c);
}

void conn_next(struct conn *c)
{
    request_free(&c->request);
    read_request(c);
}

static void on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *ret)
{
    (void)handle;
    *ret = uv_buf_init(xmalloc(hint), (unsigned)hint);
}

static bool receive(struct conn *c, const char *bytes, size_t len)
{
    if (c->silent)
        return true;
    if (c->ssl)
        return tls_feed(c, bytes, len);
    return buf_append(&c->in, bytes, len, IN_MAX) == 0;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct conn *c = stream->data;
    if (count < 0 || (count > 0 && !receive(c, buf->base, (size_t)count)))
        conn_close(c);
    free(buf->base);
    if (count > 0)
        read_request(c);
}

static void start(struct conn *c)
{
    struct fault fault = faults_take(&c->sim->faults, NULL, NULL);
    if (fault.kind == FAULT_RESET) {
        conn_end(c, END_RESET);
        return;
    }
    if (fault.kind == FAULT_CUT) {
        conn_end(c, END_CUT);
        return;
    }
    if (fault.kind == FAULT_HOLE)
        conn_go_silent(c);
    if (c->sim->tls)
        tls_start(c);
    uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
}

void conn_open(struct kubesim *sim)
{
    struct conn *c = NEW(struct conn);
    c->sim = sim;
    c->handles = 3;
    list_push(&sim->conns, &c->node);
    list_init(&c->dirty);
    uv_tcp_init(&sim->loop, &c->tcp);
    uv_timer_init(&sim->loop, &c->pause);
    uv_timer_init(&sim->loop, &c->deadline);
    c->tcp.data = c->pause.data = c->deadline.data = c;
    sim->journal.opened++;
    if (uv_accept((uv_stream_t *)&sim->listener, (uv_stream_t *)&c->tcp) < 0) {
        conn_close(c);
        return;
    }
    uv_tcp_nodelay(&c->tcp, 1);
    start(c);
}
