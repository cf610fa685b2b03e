/*
 * listen.h - where others connect to us: a TCP address or a Unix socket.
 *
 *     l = listener_open(loop, &(struct listen_options){.address = "127.0.0.1:9470"}, &user, &err);
 *     l = listener_open(loop, &(struct listen_options){.path = "/run/informerd/informerd.sock",
 *                                                      .mode = 0660, .group = "informerd"}, ...);
 *
 * Each connection is a stream that is open already (on_open will not come). When `max` of them are
 * open the next one waits in the kernel's queue until one is closed, or the user can spare one.
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
    LISTEN_MAX = 64, /* LIMIT: connections open at a time, unless the options say otherwise */
};

struct listener;

struct listener_user {
    /* Somebody came: @stream is the user's now, to close too. Sets stream->user before it returns,
     * or closes. From the loop's I/O phase. */
    void (*on_accept)(struct listener_user *user, struct stream *stream);

    /* As many are open as may be, and another one waits. Closes one that can be spared and returns true,
     * or returns false: then it waits until one is closed. NULL: none can be spared. */
    bool (*on_full)(struct listener_user *user);
};

/* One of `address` and `path`. Copied. */
struct listen_options {
    const char *address; /* "127.0.0.1:9470", "[::1]:9470", "localhost:9470"; port 0: any */
    const char *path;    /* of a Unix socket */
    mode_t mode;         /* of the socket; 0: 0600 */
    const char *group;   /* it belongs to; NULL: as it comes */
    size_t max;          /* 0: LISTEN_MAX */
};

/*
 * Listens at once. NULL and @err: INF_ECONF for an address that can't be meant, a path that is too
 * long or an unknown group; INF_EIO for what the system refuses, among it an address in use.
 *
 * A socket file that a dead process left is replaced. One with a living process behind it is
 * refused, and what is no socket is never touched. @user is kept until listener_close().
 */
struct listener *listener_open(struct loop *loop, const struct listen_options *options,
                               struct listener_user *user, struct inf_error *err);

/* Another mode and group for a Unix socket that is in use; NULL is our own group. 0, or as
 * listener_open() fails. */
int listener_permit(struct listener *listener, mode_t mode, const char *group,
                    struct inf_error *err);

/* The port of a TCP listener; the one it got, if any would do. 0 for a Unix socket. */
uint16_t listener_port(const struct listener *listener);

/* Connections that are open now. */
size_t listener_count(const struct listener *listener);

/* Accepts no more, and removes the socket file if it is still the one we made. Streams it gave away
 * live on. NULL is fine. */
void listener_close(struct listener *listener);

#endif
