/*
 * tcp.c - a TCP connection as a stream.
 *
 *     connecting -> open -> ending -> ended        and from everywhere: closed
 *
 * Normal path: resolve the name (not needed for an address), connect to the address that responds
 * first, open. Each read goes into the loop's shared buffer and directly to the user.
 *
 * Yields: if the user takes less than it was given, the rest is copied to `kept`, reading stops,
 * and the rest is offered again in the next tick; then reading continues. The same call without
 * bytes fulfils the guarantee of resume().
 *
 * Failures: the name can't be resolved, no address responds, reset, end of stream. Each is reported
 * once by on_end, after every byte was taken.
 *
 * A write can outlive close(): it holds a reference, and the last reference frees the connection.
 */
#include "loop/tcp.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sm.h"
#include "loop/connector.h"
#include "seam/peer.h"

enum {
    KEEPALIVE_S = 30,            /* detects a dead peer while nothing is sent */
    USER_TIMEOUT_MS = 30 * 1000, /* detects a peer that does not acknowledge */
};

enum tcp_state {
    TCP_CONNECTING, /* resolving the name, or connecting */
    TCP_OPEN,
    TCP_ENDING, /* `end` is set; on_end follows when all bytes are taken */
    TCP_ENDED,  /* on_end was called */
    TCP_CLOSED, /* by the user: no more callbacks */
};

/* clang-format off */
static const struct sm_state tcp_states[] = {
    [TCP_CONNECTING] = {"connecting", SM_TO(TCP_OPEN) | SM_TO(TCP_ENDING) | SM_TO(TCP_CLOSED)},
    [TCP_OPEN]       = {"open",       SM_TO(TCP_ENDING) | SM_TO(TCP_CLOSED)},
    [TCP_ENDING]     = {"ending",     SM_TO(TCP_ENDED) | SM_TO(TCP_CLOSED)},
    [TCP_ENDED]      = {"ended",      SM_TO(TCP_CLOSED)},
    [TCP_CLOSED]     = {"closed",     0},
};
/* clang-format on */

struct tcp {
    struct stream stream;
    struct sm sm;
    struct loop *loop;
    char *peer;                /* host:port, for messages */
    struct tcp_parent *parent; /* of an accepted connection; NULL: dialled */
    int refs;                  /* the user, each write */
    size_t n_writes;           /* in progress */
    struct deferred_free deferred_free;

    struct resolving resolving;
    struct connector connector;
    uint16_t port;
    uv_stream_t *handle; /* NULL: never connected */
    struct buf unsent;   /* written before the connection was open */

    struct io_task io_task;
    struct buf kept; /* bytes not taken yet */
    struct inf_error end;
    bool paused; /* by the user */
    bool owed;   /* the user must get an on_bytes call, even without bytes */
    bool late;   /* the budget was used up before it was read: tcp_on_io_task() reads it */
    bool may_gather;
    struct gathered gathered;
};

struct tcp_write {
    uv_write_t request;
    struct tcp *tcp;
    char bytes[];
};

/* ---- lifetimes ---- */

static void tcp_free_deferred(struct deferred_free *deferred_free)
{
    struct tcp *t = container_of(deferred_free, struct tcp, deferred_free);
    loop_unref(t->loop);
    buf_free(&t->kept);
    buf_free(&t->unsent);
    free(t->peer);
    free(t);
}

/* Freed in the reap phase: the user may still read the argument of on_end. */
static void tcp_unref(struct tcp *t)
{
    if (--t->refs == 0)
        clock_free_later(&t->loop->clock, &t->deferred_free, tcp_free_deferred);
}

/* ---- bytes to the user ---- */

static void tcp_update_reading(struct tcp *t);

static void tcp_end(struct tcp *t, int code, const char *what, const char *why)
{
    if (t->sm.state >= TCP_ENDING)
        return;
    if (why)
        err_set(&t->end, code, "%s: %s: %s", t->peer, what, why);
    else
        err_set(&t->end, code, "%s: %s", t->peer, what);
    sm_move(&t->sm, TCP_ENDING, "%s", what);
    loop_schedule(t->loop, &t->io_task);
}

/* Offers @len bytes and keeps what was not taken. */
static void tcp_offer(struct tcp *t, const char *bytes, size_t len)
{
    size_t taken;
    t->owed = false;
    taken = t->stream.user->ops->on_bytes(t->stream.user, bytes, len);
    if (t->sm.state == TCP_CLOSED)
        return;
    assert(taken <= len);
    if (bytes == t->kept.bytes)
        buf_consume(&t->kept, taken);
    else
        buf_put(&t->kept, bytes + taken, len - taken);
    if (t->kept.len)
        loop_schedule(t->loop, &t->io_task);
    else
        buf_free(&t->kept);
}

/* Reads as libuv does. The end is left to libuv, which is woken by it. An error is not: it is reported to the first call
 * only. */
static bool tcp_read_now(struct tcp *t)
{
    struct loop *loop = t->loop;
    bool any = false;
    ssize_t n = sizeof(loop->read_buffer);
    int fd;
    if (uv_fileno((uv_handle_t *)t->handle, &fd) < 0)
        return false; /* UNTESTED: it is open */
    while (n == sizeof(loop->read_buffer) && t->sm.state == TCP_OPEN && !t->paused &&
           !t->kept.len && !clock_over_budget(&loop->clock)) {
        n = recv(fd, loop->read_buffer, sizeof(loop->read_buffer), MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            tcp_end(t, INF_ENET, "connection lost", uv_strerror(uv_translate_sys_error(errno)));
        if (n <= 0)
            break;
        any = true;
        tcp_offer(t, loop->read_buffer, (size_t)n);
    }
    return any;
}

/* At the end of the I/O phase: delivers kept bytes or an owed call, then the end. */
static void tcp_on_io_task(struct io_task *task)
{
    struct tcp *t = container_of(task, struct tcp, io_task);
    if (t->paused || t->sm.state == TCP_ENDED)
        return;
    if (clock_over_budget(&t->loop->clock)) {
        loop_postpone(t->loop, &t->io_task);
        return;
    }
    if (t->handle && (t->kept.len || t->owed))
        tcp_offer(t, t->kept.bytes, t->kept.len);
    if (t->sm.state == TCP_CLOSED || t->paused)
        return;
    if (t->sm.state == TCP_ENDING && !t->kept.len && (!t->owed || !t->handle)) {
        sm_move(&t->sm, TCP_ENDED, "%s", t->end.text);
        t->stream.user->ops->on_end(t->stream.user, &t->end);
        return;
    }
    if (t->late)
        tcp_read_now(t);
    if (t->sm.state != TCP_CLOSED)
        tcp_update_reading(t);
}

/* libuv calls this for all readable streams in one round: after the budget is used up, streams get
 * no buffer and are read in the next tick. */
static void tcp_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
    struct tcp *t = handle->data;
    (void)suggested;
    loop_busy(t->loop);
    *ret_buf = uv_buf_init(t->loop->read_buffer,
                           clock_over_budget(&t->loop->clock) ? 0 : sizeof(t->loop->read_buffer));
}

static void tcp_on_read(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf)
{
    struct tcp *t = handle->data;
    loop_busy(t->loop);
    if (n > 0 && t->may_gather)
        gather_note_wakeup(&t->loop->gather, &t->gathered);
    if (n > 0)
        tcp_offer(t, buf->base, (size_t)n);
    else if (n == UV_EOF)
        tcp_end(t, INF_EEOF, "connection closed by the peer", NULL);
    else if (n < 0 && n != UV_ENOBUFS)
        tcp_end(t, INF_ENET, "connection lost", uv_strerror((int)n));
    if (t->sm.state != TCP_CLOSED)
        tcp_update_reading(t);
}

/* Starts or stops reading: not while paused, ended, with kept bytes, or over budget. Both calls are
 * harmless if nothing changes. A stream that is late is read directly: starting all late ones in each tick,
 * of which the budget suffices for a few, took 1,020 instead of 750 us of CPU time for each of 900 watches
 * that reconnect (bench.py, the step `storm`), and more of it with more watches. */
static void tcp_update_reading(struct tcp *t)
{
    bool busy = clock_over_budget(&t->loop->clock);
    bool may_read = t->sm.state == TCP_OPEN && !t->paused;
    if (may_read && !t->kept.len && !busy)
        uv_read_start(t->handle, tcp_on_alloc, tcp_on_read);
    else if (t->handle)
        uv_read_stop(t->handle);
    t->late = may_read && busy;
    if (t->late)
        loop_schedule(t->loop, &t->io_task);
}

/* ---- gathering: see loop/gather.h ---- */

/* Linux wakes a process for a TCP socket only when this many bytes have arrived, or at its end. */
static void tcp_hold(struct gathered *gathered, bool held)
{
    struct tcp *t = container_of(gathered, struct tcp, gathered);
    int fd, least = held ? GATHER_BYTES : 1;
    if (t->handle && uv_fileno((uv_handle_t *)t->handle, &fd) == 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
}

static bool tcp_read_gathered(struct gathered *gathered)
{
    struct tcp *t = container_of(gathered, struct tcp, gathered);
    bool any = tcp_read_now(t);
    if (any && t->sm.state != TCP_CLOSED)
        tcp_update_reading(t);
    return any;
}

static const struct gathered_ops tcp_gathered_ops = {.hold = tcp_hold, .read = tcp_read_gathered};

static void tcp_gather(struct stream *stream, bool may_gather)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    t->may_gather = may_gather;
    if (!may_gather)
        gather_leave(&t->loop->gather, &t->gathered);
}

/* ---- bytes to the peer ---- */

/* A peer that has closed its sending side may still read. */
static bool tcp_can_send(const struct tcp *t)
{
    return t->sm.state < TCP_ENDING || t->end.code == INF_EEOF;
}

static void tcp_on_written(uv_write_t *request, int status)
{
    struct tcp_write *w = container_of(request, struct tcp_write, request);
    struct tcp *t = w->tcp;
    t->n_writes--;
    if (status < 0)
        tcp_end(t, INF_ENET, "sending failed", uv_strerror(status));
    else if (t->sm.state != TCP_CLOSED && !t->n_writes && tcp_can_send(t))
        stream_call_on_drain(&t->stream);
    free(w);
    tcp_unref(t);
}

static void tcp_send_bytes(struct tcp *t, const char *bytes, size_t len)
{
    struct tcp_write *w;
    uv_buf_t all;
    int rc;
    w = xmalloc(sizeof(*w) + len);
    memcpy(w->bytes, bytes, len);
    w->tcp = t;
    all = uv_buf_init(w->bytes, (unsigned)len);
    rc = uv_write(&w->request, t->handle, &all, 1, tcp_on_written);
    if (rc < 0) {
        free(w);
        tcp_end(t, INF_ENET, "sending failed", uv_strerror(rc));
        return;
    }
    t->refs++;
    t->n_writes++;
}

static void tcp_write(struct stream *stream, const char *bytes, size_t len)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    if (!tcp_can_send(t) || !len)
        return;
    if (t->handle)
        tcp_send_bytes(t, bytes, len);
    else
        buf_put(&t->unsent, bytes, len);
}

/* Copies only what the kernel does not take; the queued write reports errors. */
static bool tcp_write_now(struct stream *stream, const char *bytes, size_t len)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    ssize_t sent = 0;
    int fd;
    if (t->handle && !t->n_writes && tcp_can_send(t) &&
        uv_fileno((uv_handle_t *)t->handle, &fd) == 0)
        sent = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0)
        sent = 0;
    if ((size_t)sent == len)
        return true;
    tcp_write(stream, bytes + sent, len - (size_t)sent);
    return false;
}

/* ---- connecting ---- */

static void tcp_set_options(uv_tcp_t *handle)
{
    int fd, ms = USER_TIMEOUT_MS;
    uv_tcp_nodelay(handle, 1);
    uv_tcp_keepalive(handle, 1, KEEPALIVE_S);
    if (uv_fileno((uv_handle_t *)handle, &fd) == 0)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

static void tcp_on_connected(struct connector *connector, uv_tcp_t *handle)
{
    struct tcp *t = container_of(connector, struct tcp, connector);
    t->handle = (uv_stream_t *)handle;
    t->handle->data = t;
    tcp_set_options(handle);
    sm_move(&t->sm, TCP_OPEN, "connected");
    if (t->unsent.len)
        tcp_send_bytes(t, t->unsent.bytes, t->unsent.len);
    buf_free(&t->unsent);
    t->stream.user->ops->on_open(t->stream.user);
    if (t->sm.state != TCP_CLOSED)
        loop_schedule(t->loop, &t->io_task); /* starts reading */
}

static void tcp_on_failed(struct connector *connector, const char *why)
{
    tcp_end(container_of(connector, struct tcp, connector), INF_ENET, "can't connect", why);
}

static void tcp_on_resolved(struct resolving *resolving, const struct addresses *addresses)
{
    struct tcp *t = container_of(resolving, struct tcp, resolving);
    connector_start(&t->connector, addresses, t->port);
}

static void tcp_on_unresolved(struct resolving *resolving, const char *why)
{
    tcp_end(container_of(resolving, struct tcp, resolving), INF_ENET, "can't resolve the name",
            why);
}

/* ---- seam/stream.h ---- */

static void tcp_pause(struct stream *stream)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    t->paused = true;
    if (t->handle)
        uv_read_stop(t->handle);
}

static void tcp_resume(struct stream *stream)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    t->paused = false;
    t->owed = true;
    loop_schedule(t->loop, &t->io_task);
}

static void tcp_close(struct stream *stream)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    sm_move(&t->sm, TCP_CLOSED, "by its user");
    list_remove(&t->io_task.node);
    gather_leave(&t->loop->gather, &t->gathered);
    if (t->parent) {
        t->parent->on_close(t->parent);
    } else {
        resolve_stop(&t->resolving);
        connector_stop(&t->connector);
    }
    if (t->handle)
        loop_discard(t->loop, (uv_handle_t *)t->handle);
    tcp_unref(t);
}

static size_t tcp_unsent(struct stream *stream)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    if (!tcp_can_send(t))
        return 0;
    return t->handle ? uv_stream_get_write_queue_size(t->handle) : t->unsent.len;
}

static const struct stream_ops tcp_ops = {
    .write = tcp_write,
    .write_now = tcp_write_now,
    .pause = tcp_pause,
    .resume = tcp_resume,
    .close = tcp_close,
    .unsent = tcp_unsent,
    .gather = tcp_gather,
};

/* Takes ownership of @peer. */
static struct tcp *tcp_new(struct loop *loop, enum tcp_state state, char *peer)
{
    struct tcp *t = NEW(struct tcp);
    t->stream.ops = &tcp_ops;
    t->loop = loop;
    t->peer = peer;
    t->refs = 1;
    t->io_task.run = tcp_on_io_task;
    list_init(&t->io_task.node);
    gathered_init(&t->gathered, &tcp_gathered_ops);
    sm_init(&t->sm, tcp_states, (int)state, t->peer, NULL);
    loop_ref(t->loop);
    return t;
}

static struct stream *tcp_dial(struct dialer *dialer, const char *host, uint16_t port,
                               struct stream_user *user)
{
    struct tcp_dialer *d = container_of(dialer, struct tcp_dialer, dialer);
    struct tcp *t = tcp_new(d->loop, TCP_CONNECTING, peer_name(host, port));
    t->stream.user = user;
    t->port = port;
    resolving_init(&t->resolving, &d->resolver);
    t->resolving.on_resolved = tcp_on_resolved;
    t->resolving.on_unresolved = tcp_on_unresolved;
    connector_init(&t->connector, t->loop);
    t->connector.on_connected = tcp_on_connected;
    t->connector.on_failed = tcp_on_failed;
    resolve_start(&t->resolving, host);
    return &t->stream;
}

void tcp_dialer_init(struct tcp_dialer *dialer, struct loop *loop)
{
    *dialer = (struct tcp_dialer){.dialer = {tcp_dial}, .loop = loop};
    resolver_init(&dialer->resolver, loop);
}

void tcp_dialer_close(struct tcp_dialer *dialer)
{
    resolver_close(&dialer->resolver);
}

/* ---- accepting ---- */

/* A handle of the listener's type. */
static uv_stream_t *tcp_new_handle(uv_loop_t *uv, const uv_stream_t *listener)
{
    uv_pipe_t *pipe;
    uv_tcp_t *tcp;
    if (uv_handle_get_type((const uv_handle_t *)listener) == UV_NAMED_PIPE) {
        pipe = NEW(uv_pipe_t);
        uv_pipe_init(uv, pipe, 0);
        return (uv_stream_t *)pipe;
    }
    tcp = NEW(uv_tcp_t);
    uv_tcp_init(uv, tcp);
    return (uv_stream_t *)tcp;
}

struct stream *tcp_accept(struct loop *loop, uv_stream_t *listener, struct tcp_parent *parent)
{
    uv_stream_t *handle = tcp_new_handle(loop->uv, listener);
    struct tcp *t;
    if (uv_accept(listener, handle) < 0) {
        loop_discard(loop, (uv_handle_t *)handle); /* UNTESTED: libuv has already accepted it */
        return NULL;
    }
    if (uv_handle_get_type((uv_handle_t *)handle) == UV_TCP)
        tcp_set_options((uv_tcp_t *)handle);
    t = tcp_new(loop, TCP_OPEN, xstrdup("client"));
    t->parent = parent;
    t->handle = handle;
    t->handle->data = t;
    loop_schedule(t->loop, &t->io_task);
    return &t->stream;
}

bool tcp_peer_credentials(struct stream *stream, struct peer_credentials *ret)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    int fd;
    return stream->ops == &tcp_ops && t->handle && uv_fileno((uv_handle_t *)t->handle, &fd) == 0 &&
           peer_credentials_read(fd, ret);
}

bool tcp_peer_is_local(struct stream *stream)
{
    struct tcp *t = container_of(stream, struct tcp, stream);
    int fd;
    return stream->ops != &tcp_ops || !t->handle || uv_fileno((uv_handle_t *)t->handle, &fd) != 0 ||
           peer_is_local(fd);
}
