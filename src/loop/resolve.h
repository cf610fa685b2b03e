/*
 * resolve.h - from a name to its addresses, waiting for a name server no longer than that is worth.
 *
 * libuv asks in its pool, where a lookup can't be interrupted: a name server that does not answer
 * holds one of its threads for half a minute. So a resolver, which belongs to the dialer of one cluster, has one lookup under way at most;
 * whoever wants the same name waits for the same answer, other names wait for their turn.
 *
 * The last good answer is kept. If a lookup fails, or has not come back after RESOLVE_MAX_MS, the
 * addresses of the last time are used, and from then on at once until it comes back: a cluster that
 * was reachable stays reachable while its name server is not. The late answer is not lost either, it
 * is the next last good one.
 *
 * Addresses ("10.0.0.1", "::1", "fe80::1%eth0") are resolved on the spot and ask nobody.
 */
#ifndef LOOP_RESOLVE_H
#define LOOP_RESOLVE_H

#include "loop/address.h"
#include "loop/loop.h"

enum {
    RESOLVE_MAX_MS = 5 * 1000,
};

struct resolver {
    struct loop *loop;
    struct lookup *lookup; /* under way; NULL: none */
    struct list waiting;   /* of struct resolving, in the order in which they came */
    struct addresses good; /* the last ones */
    char *good_name;       /* whose they are: a cluster has one name. NULL: nobody's yet */
};

/* One question. Embedded in its owner, who sets the two callbacks; exactly one of them is called,
 * perhaps before resolve_start() returns. */
struct resolving {
    struct list node;
    struct resolver *resolver;
    char *name; /* NULL: not waiting */
    struct timer deadline;
    void (*on_resolved)(struct resolving *resolving, const struct addresses *addresses); /* lent */
    void (*on_unresolved)(struct resolving *resolving, const char *why);
};

void resolver_init(struct resolver *resolver, struct loop *loop);

/* Nobody may be waiting any more. A lookup that can't be stopped keeps the loop, and nothing else,
 * until it comes back. */
void resolver_close(struct resolver *resolver);

void resolving_init(struct resolving *resolving, struct resolver *resolver);
void resolve_start(struct resolving *resolving, const char *name);

/* Nothing is called any more; harmless if that is so already. The lookup goes on, for the others and
 * for the next time. */
void resolve_stop(struct resolving *resolving);

#endif
