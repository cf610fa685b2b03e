/*
 * tcp.h - streams by TCP: the lowest ones.
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

#endif
