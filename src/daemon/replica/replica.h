/*
 * replica.h - this daemon as one of a group of replicas of which one delivers (replica: {mode: leader}).
 *
 *     elector.c ── role ──> replica.c ──> handlers: runs are started only while this one leads
 *        │                      ^   └──── positions (positions.c) ──┐
 *        └── requests ──> lib/lease ── Lease with an annotation <───┘
 *
 * Guarantees, as long as clocks run at about the same speed:
 *
 *  - No run is started unless the Lease was renewed less than renew_deadline ago, so never after another replica
 *    may have taken it. Runs in progress then may end by themselves for half of the time that is left until the
 *    Lease expires, and are ended after that. A process that was stopped or suspended does this as soon
 *    as it continues; what its programs, or bytes in its sockets, have done meanwhile can't be undone.
 *  - The position of each handler and stream is written with the Lease, at most once a second and when the
 *    Lease is released. A new leader continues there: nothing is lost, and what the last one delivered after its last
 *    write is delivered again.
 *  - Where a position is below what the new leader has seen, a GAP is reported.
 */
#ifndef DAEMON_REPLICA_REPLICA_H
#define DAEMON_REPLICA_REPLICA_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/replica/elector.h"
#include "daemon/replica/positions.h"

struct cluster;
struct conf;
struct daemon;
struct lease_call;

struct replica {
    struct daemon *daemon;
    bool running; /* there is a Lease */
    struct elector elector;
    struct rng rng;
    char *identity;
    struct cluster
        *cluster; /* its client has its own connection: long lists do not delay renewals */
    struct lease_call *call; /* in progress; NULL: none */
    char *json;              /* the last text of the Lease; NULL: none */
    struct positions positions;
    struct buf note;    /* of the last write */
    char *seen;         /* the note that handlers have; NULL: none */
    int logged_error;   /* code of the last failure that was logged; 0: it works again */
    bool oversized;     /* the positions do not fit; it was logged */
    struct timer grace; /* ends the runs of a former leader */
    void (*on_stopped)(struct replica *replica);
};

struct replica_status {
    bool exists;
    const char *group, *identity;
    const char *role;   /* "leader", "standby" or "releasing" */
    const char *holder; /* "": none, or not known */
    const char *reason; /* of the last failure; NULL: none */
    bool leads;
    uint64_t acquisitions;
    uint64_t renewed_ago_ms; /* while it leads */
};

/* Before the handlers of @conf exist. */
void replica_prepare(struct daemon *d, const struct conf *conf);

/* Begins to read the Lease. Returns 0, or a negative error if the cluster can't be used. */
int replica_start(struct replica *replica, struct inf_error *err);

/* The configuration was replaced; its section `replica` is the same. */
void replica_reloaded(struct replica *replica);

/* The daemon stops: before its handlers do. The Lease is still renewed. */
void replica_stopping(struct replica *replica);

/* Releases the Lease, frees everything and calls @on_stopped, possibly before it returns. */
void replica_stop(struct replica *replica, void (*on_stopped)(struct replica *replica));

void replica_status(const struct replica *replica, struct replica_status *ret);

#endif
