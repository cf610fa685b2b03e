/*
 * tcp.h - TCP streams, the lowest layer; also accepted Unix sockets.
 */
#ifndef LOOP_TCP_H
#define LOOP_TCP_H

#include <stdbool.h>

#include "loop/loop.h"
#include "loop/peer_credentials.h"
#include "loop/resolve.h"
#include "seam/stream.h"

/* A dialer for one cluster: its streams share name lookups. */
struct tcp_dialer {
    struct dialer dialer;
    struct loop *loop;
    struct resolver resolver;
};

void tcp_dialer_init(struct tcp_dialer *dialer, struct loop *loop);

/* All its streams must be closed. The owner may free the memory at once. */
void tcp_dialer_close(struct tcp_dialer *dialer);

/* The acceptor of a stream; on_close is called when the user closes the stream. Must outlive the
 * stream. */
struct tcp_parent {
    void (*on_close)(struct tcp_parent *parent);
};

/*
 * Accepts the connection that waits at @listener (libuv has called its connection_cb). The stream
 * is open: on_open is not called, and reading starts at the end of this tick's I/O phase. The
 * caller sets its user. Returns NULL if the client has disconnected.
 */
struct stream *tcp_accept(struct loop *loop, uv_stream_t *listener, struct tcp_parent *parent);

/* The user of the process at the other end of an accepted Unix socket: see peer_credentials.h. Returns
 * false if it is not known, as for TCP. */
bool tcp_peer_credentials(struct stream *stream, struct peer_credentials *ret);

/* Whether the other end of an accepted stream is on this host. Returns true also for streams of other kinds. */
bool tcp_peer_is_local(struct stream *stream);

#endif
