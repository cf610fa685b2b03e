/*
 * tcp.h - streams by TCP: the lowest ones.
 */
#ifndef LOOP_TCP_H
#define LOOP_TCP_H

#include "loop/loop.h"
#include "seam/stream.h"

struct tcp_dialer {
    struct dialer dialer;
    struct loop *loop;
};

void tcp_dialer_init(struct tcp_dialer *dialer, struct loop *loop);

#endif
