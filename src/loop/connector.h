/*
 * connector.h - connects to several addresses in parallel and uses the first that responds.
 *
 * An unresponsive address must not delay the connection by seconds if another one responds. The
 * next address is therefore tried as soon as the previous one has failed, or has not responded for
 * 250 ms. All attempts continue in parallel; the first to connect wins, and the others are closed.
 *
 *      0 ms    [2001:db8::1]  ──── no response ────────────────── given up
 *      250 ms      192.0.2.1       ──── refused
 *      251 ms          [2001:db8::2]    ──── connected: the winner
 */
#ifndef LOOP_CONNECTOR_H
#define LOOP_CONNECTOR_H

#include "loop/loop.h"
#include "loop/resolve.h"

enum {
    CONNECTOR_STAGGER_MS = 250,   /* delay before the next attempt: RFC 8305, section 5 */
    CONNECTOR_MAX_MS = 10 * 1000, /* limit of all attempts: the last of ADDRESSES_MAX, started after
                                     3.75 s, still has time to connect */
};

struct connector {
    struct loop *loop;
    struct addresses addresses;
    size_t next;          /* index of the next address */
    struct list attempts; /* in progress */
    struct timer stagger; /* starts the next attempt */
    struct timer deadline;
    /* Connected. The callee owns @handle and releases it with loop_discard(). */
    void (*on_connected)(struct connector *connector, uv_tcp_t *handle);
    /* All attempts failed; @why is the last error. May be called before connector_start() returns. */
    void (*on_failed)(struct connector *connector, const char *why);
};

/* Embedded in its owner, which sets the two callbacks. */
void connector_init(struct connector *connector, struct loop *loop);

/* Calls one of the callbacks once, unless connector_stop() is called before. */
void connector_start(struct connector *connector, const struct addresses *addresses, uint16_t port);

/* Stops all attempts; harmless if there are none. The owner may free the memory at once. */
void connector_stop(struct connector *connector);

#endif
