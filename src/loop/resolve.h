/*
 * resolve.h - resolves host names, with a bounded wait for the name server.
 *
 * libuv runs lookups in its thread pool, where they can't be interrupted: a name server that does
 * not respond occupies a thread for half a minute. A resolver, which belongs to the dialer of one
 * cluster, therefore has at most one lookup in progress; requests for the same name share its
 * result, other names wait.
 *
 * The last good result is kept. If a lookup fails, or takes longer than RESOLVE_MAX_MS, the
 * previous addresses are used; until that lookup completes they are used at once. A cluster that
 * was reachable thus stays reachable while its name server is not. A late result becomes the new
 * last good result.
 *
 * Literal addresses ("10.0.0.1", "::1", "fe80::1%eth0") need no lookup.
 */
#ifndef LOOP_RESOLVE_H
#define LOOP_RESOLVE_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "loop/loop.h"

struct addrinfo;

enum {
    RESOLVE_MAX_MS = 5 * 1000,
    ADDRESSES_MAX = 16, /* LIMIT: per name; further addresses are ignored */
};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* The addresses of one name, in the order in which they are tried. */
struct addresses {
    size_t count;
    union address list[ADDRESSES_MAX];
};

struct resolver {
    struct loop *loop;
    struct lookup *lookup; /* in progress; NULL: none */
    struct list waiting;   /* of struct resolving, oldest first */
    struct addresses good; /* the last good result */
    char *good_name;       /* its name: a cluster has one name; NULL: no result yet */
};

/* One request. Embedded in its owner, which sets the two callbacks; exactly one of them is called,
 * possibly before resolve_start() returns. */
struct resolving {
    struct list node;
    struct resolver *resolver;
    char *name; /* NULL: not waiting */
    struct timer deadline;
    void (*on_resolved)(struct resolving *resolving,
                        const struct addresses *addresses); /* borrowed */
    void (*on_unresolved)(struct resolving *resolving, const char *why);
};

void resolver_init(struct resolver *resolver, struct loop *loop);

/* No request may be waiting. A lookup that can't be cancelled keeps only the loop until it
 * completes. */
void resolver_close(struct resolver *resolver);

void resolving_init(struct resolving *resolving, struct resolver *resolver);
void resolve_start(struct resolving *resolving, const char *name);

/* Cancels the request: no callback is made afterwards. Harmless if it has ended. The lookup
 * continues for other requests and for the next time. */
void resolve_stop(struct resolving *resolving);

/*
 * Copies a result of getaddrinfo(): IPv6 and IPv4 addresses alternate, starting with the family of
 * the first one, and each family keeps its order. The second address to be tried is thus of the
 * other family, which often works if the first does not.
 */
void addresses_from_addrinfo(struct addresses *ret, const struct addrinfo *found);

#endif
