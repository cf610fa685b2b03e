/*
 * tcp.h - streams by TCP: the lowest ones. Unix sockets too, once accepted.
 */
#ifndef LOOP_TCP_H
#define LOOP_TCP_H

#include "loop/loop.h"
#include "loop/resolve.h"
#include "seam/stream.h"

/* For one cluster: its streams share the lookups of its name. */
struct tcp_dialer {
    struct dialer dialer;
    struct loop *loop;
    struct resolver resolver;
};

void tcp_dialer_init(struct tcp_dialer *dialer, struct loop *loop);

/* When all its streams are closed. The memory is the owner's again at once. */
void tcp_dialer_close(struct tcp_dialer *dialer);

/* Who accepted a stream, and is told when its user closes it. It has to outlive the stream. */
struct tcp_parent {
    void (*on_close)(struct tcp_parent *parent);
};

/*
 * The connection that waits at @listener (libuv has called its connection_cb) as a stream. It is
 * open: on_open will not come, and reading begins at the end of this tick's I/O. The caller sets its
 * user. NULL if it has gone again.
 */
struct stream *tcp_accept(struct loop *loop, uv_stream_t *listener, struct tcp_parent *parent);

#endif
