/*
 * listen.h - listens on a TCP address or a Unix socket.
 *
 *     l = listener_open(loop, &(struct listen_options){.address = "127.0.0.1:9470"}, &user, &err);
 *     l = listener_open(loop, &(struct listen_options){.path = "/run/informerd/informerd.sock",
 *                                                      .mode = 0660, .group = "informerd"}, ...);
 *
 * Each connection is a stream that is already open (on_open is not called). When `max` of them are
 * open, the next one waits in the kernel's queue until one is closed, or until the user closes one
 * in on_full.
 */
#ifndef LOOP_LISTEN_H
#define LOOP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "informer/error.h"

#include "loop/loop.h"
#include "seam/stream.h"

enum {
    LISTEN_MAX = 64, /* LIMIT: open connections; the default of listen_options.max */
};

struct listener;

struct listener_user {
    /* A client connected. The user owns @stream and must set stream->user before it returns, or
     * close it. Called in the loop's I/O phase. */
    void (*on_accept)(struct listener_user *user, struct stream *stream);

    /* The limit is reached and another client waits. Either closes a connection and returns true,
     * or returns false: then the client waits until one is closed. May be NULL. */
    bool (*on_full)(struct listener_user *user);
};

/* Either `address` or `path`. Copied. */
struct listen_options {
    const char *address; /* "127.0.0.1:9470", "[::1]:9470", "localhost:9470"; port 0: any */
    const char *path;    /* of a Unix socket */
    mode_t mode;         /* of the socket; 0: 0600 */
    const char *group;   /* of the socket; NULL: the default */
    size_t max;          /* 0: LISTEN_MAX */
};

/*
 * Starts to listen. Returns NULL and @err on failure: INF_ECONF for an invalid address, a path that
 * is too long or an unknown group; INF_EIO for errors of the system, such as an address in use.
 *
 * A stale socket file is replaced. A socket on which another process listens is an error, and a
 * file that is not a socket is never touched. A socket that the service manager has opened at `path`
 * ($LISTEN_FDS) is used as it is, and its file is not removed. @user is kept until listener_close().
 */
struct listener *listener_open(struct loop *loop, const struct listen_options *options,
                               struct listener_user *user, struct inf_error *err);

/* Changes mode and group of an open Unix socket; NULL is our own group. Returns 0, or fails as
 * listener_open() does. */
int listener_permit(struct listener *listener, mode_t mode, const char *group,
                    struct inf_error *err);

/* The port of a TCP listener; the assigned one, if port 0 was given. 0 for a Unix socket. */
uint16_t listener_port(const struct listener *listener);

enum {
    LISTEN_ADDRESS_SIZE = 56, /* "[", an IPv6 address, "]:65535" and a NUL */
};

/* The address of a TCP listener with its port: "127.0.0.1:9470", "[::1]:9470". */
void listener_address(const struct listener *listener, char ret[LISTEN_ADDRESS_SIZE]);

/* The number of open connections. */
size_t listener_count(const struct listener *listener);

/* Stops listening, and removes the socket file if it is still ours. Accepted streams stay open.
 * NULL is allowed. */
void listener_close(struct listener *listener);

#endif
