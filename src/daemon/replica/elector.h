/*
 * elector.h - decides whether this process leads a group of replicas: the state machine of a Lease.
 *
 *                 Lease is free or expired, write accepted            stop
 *      standby ────────────────────────────────────────> leading ──────────> releasing ──> stopped
 *         ^ │                                              │                                 ^
 *         │ └───────────────────── stop ───────────────────┼─────────────────────────────────┘
 *         └── not renewed for renew_deadline, or taken ────┘
 *
 * It follows client-go's leaderelection. The holder renews the Lease every `retry`; the others read it about
 * as often, with jitter, and take it when it has not changed for its duration. Times of the Lease are
 * written for people and never compared with our clock: a standby measures how long ago it has itself
 * seen the last change, so clocks of hosts may differ by any amount. What counts is that clocks
 * run at about the same speed: the leader stops at renew_deadline, measured from the moment when it
 * has sent the last successful write, and duration - renew_deadline is the margin.
 *
 * Each write replaces the version that was read last, so of two processes only one succeeds. A write
 * whose result is unknown is followed by a read.
 *
 * The owner sends the requests (struct elector_ops) and passes results to elector_result(). Time comes
 * from a clock: see test_elector.c for all transitions in virtual time.
 */
#ifndef DAEMON_REPLICA_ELECTOR_H
#define DAEMON_REPLICA_ELECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/lease.h"

#include "base/rng.h"
#include "base/sm.h"
#include "seam/clock.h"

struct elector;

enum elector_state {
    ELECTOR_STANDBY,
    ELECTOR_LEADING,
    ELECTOR_RELEASING,
    ELECTOR_STOPPED,
};

enum elector_request {
    ELECTOR_NONE,
    ELECTOR_GET,
    ELECTOR_CREATE,
    ELECTOR_UPDATE,
};

enum {
    ELECTOR_PUBLISH_MS = 1000, /* between two writes, unless the first one has failed */
};

/* Borrowed strings. duration > renew_deadline > retry. */
struct elector_settings {
    const char *identity; /* of this process; no other one has it */
    uint64_t duration_ms; /* whole seconds */
    uint64_t renew_deadline_ms;
    uint64_t retry_ms;
};

struct elector_ops {
    /* Starts a request; elector_result() follows, not before this function returns. @lease is NULL for
     * ELECTOR_GET. For ELECTOR_UPDATE it replaces the Lease of the last result. */
    void (*send)(struct elector *elector, enum elector_request request,
                 const struct inf_lease *lease);
    /* The result of the request in progress does not matter any more and is not passed. */
    void (*cancel)(struct elector *elector);
    /* The note to write while leading; borrowed. NULL: the one that is there. */
    const char *(*note)(struct elector *elector);
    /* The Lease was read while this process did not lead. */
    void (*on_seen)(struct elector *elector, const struct inf_lease *lease);
    /* Leading, or no longer leading, @why. Further writes may be sent only after it returns. */
    void (*on_role)(struct elector *elector, bool leading, const char *why);
    /* elector_stop() is complete. */
    void (*on_stopped)(struct elector *elector);
};

/* What is known of the Lease; its times are ours. */
struct elector_seen {
    bool exists;
    char *version, *holder; /* owned; "": none */
    uint64_t duration_ms;
    uint32_t transitions;
    int64_t acquired_us;
    uint64_t changed_ms; /* when another version was seen than before */
};

struct elector {
    const struct elector_ops *ops;
    struct elector_settings settings;
    struct clock *clock;
    struct rng *rng;
    struct sm sm;                 /* enum elector_state */
    enum elector_request request; /* in progress */
    uint64_t sent_ms;             /* when it was sent */
    bool doubtful;                /* our last write may have succeeded or not, or was refused */
    bool refused;                 /* our last write, while leading, because of another one */
    bool unpublished;             /* the note has changed since the last write */
    struct elector_seen seen;
    uint64_t renewed_ms; /* when the last successful write was sent; while leading */
    uint64_t written_ms; /* when the last write was sent */
    struct timer retry, deadline, timeout;
    struct sleep_watch sleep;
    uint64_t acquisitions;  /* how often it became the leader */
    struct inf_error error; /* of the last request; code 0: none */
};

/* @settings are copied, its strings borrowed, as are @clock and @rng. Sends the first request. */
void elector_start(struct elector *elector, const struct elector_ops *ops,
                   const struct elector_settings *settings, struct clock *clock, struct rng *rng);

/* The result of the request in progress: @lease, or NULL and @err. */
void elector_result(struct elector *elector, const struct inf_lease *lease,
                    const struct inf_error *err);

/* Whether this process leads at this moment: checked by the clock, not by a timer that may be late. */
bool elector_leads(const struct elector *elector);

/* There is a new note: it is written soon, ELECTOR_PUBLISH_MS after the last write. */
void elector_publish(struct elector *elector);

/* Releases the Lease if it leads; then calls on_stopped(), possibly before it returns. Gives up after
 * three seconds, or renew_deadline if that is shorter. */
void elector_stop(struct elector *elector);

/* Frees what it knows; also without elector_stop(), then the Lease is not released. */
void elector_close(struct elector *elector);

#endif
