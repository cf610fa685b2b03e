/*
 * race.h - connects to whichever of several addresses answers first.
 *
 * An address that swallows what it is sent must not cost seconds when the next one would have
 * answered. So the next one is tried as soon as the one before has failed, or has not answered for
 * a quarter of a second; all go on side by side, the first to connect wins, and the others are
 * closed.
 *
 *      0 ms    [2001:db8::1]  ──── no answer ──────────────────── given up
 *      250 ms      192.0.2.1       ──── refused
 *      251 ms          [2001:db8::2]    ──── connected: the winner
 */
#ifndef LOOP_RACE_H
#define LOOP_RACE_H

#include "loop/address.h"
#include "loop/loop.h"

enum {
    RACE_STAGGER_MS = 250,   /* an address has so long for itself: RFC 8305, section 5 */
    RACE_MAX_MS = 10 * 1000, /* so long may it take in all: also the last of ADDRESSES_MAX, started
                                after 3.75 s, has time to answer */
};

struct race {
    struct loop *loop;
    struct addresses addresses;
    size_t next;          /* the address that has its turn */
    struct list attempts; /* under way */
    struct timer stagger;
    struct timer deadline;
    /* The winner: the callee's from now on, to be given up by loop_discard(). */
    void (*on_won)(struct race *race, uv_tcp_t *handle);
    /* Nobody answered: @why the last one failed. May come before race_start() returns. */
    void (*on_lost)(struct race *race, const char *why);
};

/* Embedded in its owner, who sets the two callbacks. */
void race_init(struct race *race, struct loop *loop);

/* One of the callbacks comes, once, unless race_stop() is called before. */
void race_start(struct race *race, const struct addresses *addresses, uint16_t port);

/* Gives up whatever is under way; harmless if nothing is. The memory is the owner's again at once.
 */
void race_stop(struct race *race);

#endif
