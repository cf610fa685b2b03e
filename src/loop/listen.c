/*
 * listen.c - accepts connections.
 *
 * Normal path: the socket is bound (listen_socket.c), libuv listens on it, each connection becomes
 * a stream (tcp.c) and is passed to the user.
 *
 * Limit: libuv stops watching the socket while a connection is not accepted, so `max` only needs to
 * postpone accepting. The user may close another connection first. When a stream closes, a waiting
 * connection is accepted at the end of the I/O phase.
 *
 * The listener counts its streams; its memory stays until the last of them is closed. Errors while
 * accepting are handled by libuv.
 */
#include "loop/listen.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "loop/listen_socket.h"
#include "loop/tcp.h"

enum {
    BACKLOG = 1024, /* LIMIT: connections that wait in the kernel; more than a server accepts */
};

struct listener {
    struct loop *loop;
    struct listener_user *user; /* NULL once closed */
    struct tcp_parent parent;   /* of every stream */
    union {
        uv_tcp_t tcp;
        uv_pipe_t pipe;
        uv_stream_t stream;
        uv_handle_t handle; /* `data` is set while it must be closed */
    };
    struct io_task io_task; /* accepts a waiting connection */
    struct deferred_free deferred_free;
    char *path; /* of a Unix socket */
    struct stat file;
    bool is_inherited; /* the file belongs to the service manager */
    size_t max;
    size_t open;  /* streams */
    bool waiting; /* a connection waits for room */
    int refs;     /* the user, the handle, each stream */
};

static void listener_free_deferred(struct deferred_free *deferred_free)
{
    struct listener *l = container_of(deferred_free, struct listener, deferred_free);
    loop_unref(l->loop);
    free(l->path);
    free(l);
}

static void listener_unref(struct listener *l)
{
    if (--l->refs == 0)
        clock_free_later(&l->loop->clock, &l->deferred_free, listener_free_deferred);
}

static void listener_on_handle_closed(uv_handle_t *handle)
{
    listener_unref(container_of(handle, struct listener, handle));
}

/* ---- accepting ---- */

static void listener_accept(struct listener *l)
{
    struct stream *stream = tcp_accept(l->loop, &l->stream, &l->parent);
    if (!stream)
        return; /* UNTESTED: as in tcp_accept() */
    l->open++;
    l->refs++;
    l->user->on_accept(l->user, stream);
}

/* Errors (out of descriptors, a client that disconnected) are ignored: libuv recovers from them. */
static void listener_on_connection(uv_stream_t *stream, int status)
{
    struct listener *l = container_of(stream, struct listener, stream);
    loop_busy(l->loop);
    if (status < 0)
        return;
    while (l->open >= l->max && l->user->on_full && l->user->on_full(l->user))
        continue; /* the user has closed a connection */
    if (l->open < l->max)
        listener_accept(l);
    else
        l->waiting = true;
}

static void listener_on_room(struct io_task *task)
{
    struct listener *l = container_of(task, struct listener, io_task);
    if (!l->waiting || l->open >= l->max)
        return;
    l->waiting = false;
    listener_accept(l);
}

static void listener_on_stream_closed(struct tcp_parent *parent)
{
    struct listener *l = container_of(parent, struct listener, parent);
    l->open--;
    if (l->user && l->waiting)
        loop_schedule(l->loop, &l->io_task);
    listener_unref(l);
}

/* ---- opening and closing ---- */

/* Binds a socket, opens it as libuv's handle and listens. */
static int listener_start(struct listener *l, const struct listen_options *o, struct inf_error *err)
{
    const char *kind = o->path ? "socket" : "listen address";
    int rc, fd = o->path ? listen_socket_unix(o, &l->file, &l->is_inherited, err)
                         : listen_socket_tcp(o->address, err);
    if (fd < 0)
        return fd;
    if (o->path) {
        l->path = xstrdup(o->path); /* the file must be removed from now on */
        uv_pipe_init(l->loop->uv, &l->pipe, 0);
        rc = uv_pipe_open(&l->pipe, fd);
    } else {
        uv_tcp_init(l->loop->uv, &l->tcp);
        rc = uv_tcp_open(&l->tcp, fd);
    }
    l->handle.data = l;
    l->refs++;
    if (rc == 0)
        rc = uv_listen(&l->stream, BACKLOG, listener_on_connection);
    else
        close(fd); /* UNTESTED: a new socket can always be opened */
    if (rc == 0)
        return 0;
    return err_set(err, INF_EIO, "%s '%s': %s", kind, o->path ? o->path : o->address,
                   uv_strerror(rc));
}

struct listener *listener_open(struct loop *loop, const struct listen_options *o,
                               struct listener_user *user, struct inf_error *err)
{
    struct listener *l = NEW(struct listener);
    assert(!o->address != !o->path);
    l->loop = loop;
    l->user = user;
    l->parent.on_close = listener_on_stream_closed;
    l->io_task.run = listener_on_room;
    list_init(&l->io_task.node);
    l->max = o->max ? o->max : LISTEN_MAX;
    l->refs = 1;
    loop_ref(loop);
    if (listener_start(l, o, err) == 0)
        return l;
    listener_close(l);
    return NULL;
}

int listener_permit(struct listener *l, mode_t mode, const char *group, struct inf_error *err)
{
    assert(l->path);
    return listen_socket_permit(l->path, &l->file, mode, group, err);
}

uint16_t listener_port(const struct listener *l)
{
    struct sockaddr_storage name = {0};
    int len = sizeof(name);
    if (l->path || uv_tcp_getsockname(&l->tcp, (struct sockaddr *)&name, &len) < 0)
        return 0;
    return ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
                                            : ((struct sockaddr_in *)&name)->sin_port);
}

void listener_address(const struct listener *l, char ret[LISTEN_ADDRESS_SIZE])
{
    struct sockaddr_storage name = {0};
    char ip[INET6_ADDRSTRLEN] = "";
    int len = sizeof(name);
    (void)uv_tcp_getsockname(&l->tcp, (struct sockaddr *)&name, &len);
    (void)uv_ip_name((struct sockaddr *)&name, ip, sizeof(ip));
    snprintf(ret, LISTEN_ADDRESS_SIZE, strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip, listener_port(l));
}

size_t listener_count(const struct listener *l)
{
    return l->open;
}

void listener_close(struct listener *l)
{
    if (!l)
        return;
    l->user = NULL;
    list_remove(&l->io_task.node);
    if (l->path && !l->is_inherited)
        listen_socket_remove(l->path, &l->file);
    if (l->handle.data)
        uv_close(&l->handle, listener_on_handle_closed);
    listener_unref(l);
}
