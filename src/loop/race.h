/*
 * race.h - connects to several addresses in parallel and uses the first that responds.
 *
 * An unresponsive address must not delay the connection by seconds if another one responds. The
 * next address is therefore tried as soon as the previous one has failed, or has not responded for
 * 250 ms. All attempts continue in parallel; the first to connect wins, and the others are closed.
 *
 *      0 ms    [2001:db8::1]  ──── no response ────────────────── given up
 *      250 ms      192.0.2.1       ──── refused
 *      251 ms          [2001:db8::2]    ──── connected: the winner
 */
#ifndef LOOP_RACE_H
#define LOOP_RACE_H

#include "loop/address.h"
#include "loop/loop.h"

enum {
    RACE_STAGGER_MS = 250,   /* delay before the next attempt: RFC 8305, section 5 */
    RACE_MAX_MS = 10 * 1000, /* limit of the whole race: the last of ADDRESSES_MAX attempts, started
                                after 3.75 s, still has time to connect */
};

struct race {
    struct loop *loop;
    struct addresses addresses;
    size_t next;          /* index of the next address */
    struct list attempts; /* in progress */
    struct timer stagger;
    struct timer deadline;
    /* Connected. The callee owns @handle and releases it with loop_discard(). */
    void (*on_won)(struct race *race, uv_tcp_t *handle);
    /* All attempts failed; @why is the last error. May be called before race_start() returns. */
    void (*on_lost)(struct race *race, const char *why);
};

/* Embedded in its owner, which sets the two callbacks. */
void race_init(struct race *race, struct loop *loop);

/* Calls one of the callbacks once, unless race_stop() is called before. */
void race_start(struct race *race, const struct addresses *addresses, uint16_t port);

/* Stops all attempts; harmless if there are none. The owner may free the memory at once. */
void race_stop(struct race *race);

#endif
