/*
 * nats_greeting.h - the INFO that a NATS server sends before TLS, as a filter: it reads one line and hands its stream
 * over.
 *
 *      wire/tls            sends its first message when the stream opens
 *      wire/nats           opens when INFO has arrived
 *      loop/tcp
 */
#ifndef WIRE_NATS_GREETING_H
#define WIRE_NATS_GREETING_H

#include "base/buf.h"
#include "seam/clock.h"
#include "seam/stream.h"

/* Dials one stream with @lower. */
struct nats_greeting_dialer {
    struct dialer dialer;
    struct dialer *lower;
    struct clock *clock;
    struct buf info; /* the object of INFO, when the stream is open; its owner frees it */
};

/* The dialer must outlive its stream. */
void nats_greeting_dialer_init(struct nats_greeting_dialer *d, struct dialer *lower,
                               struct clock *clock);

#endif
