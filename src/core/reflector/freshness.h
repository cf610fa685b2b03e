/*
 * freshness.h - tracks whether the cache is stale: no sign of life from the server for too long.
 *
 * A sign of life is something complete: an event, a bookmark, a list, the normal end of a stream
 * that delivered one of these, or a response that shows that the server is at our version. A stream
 * that ends without having delivered anything is not a sign, even if it ends normally: a proxy may
 * end all of them so. Bytes and open connections are not signs either: a proxy can keep those for
 * hours. Without a sign for stale_after the cache is *stale*, also while we reconnect; the next
 * sign makes it fresh again.
 *
 * Time does not count before the first sync, when there is nothing that could be stale, and while
 * the stream is held, when we do not read. It counts while the host sleeps: after a long sleep the
 * cache is old and is reported as stale before any request is made.
 */
#ifndef CORE_REFLECTOR_FRESHNESS_H
#define CORE_REFLECTOR_FRESHNESS_H

#include <stdbool.h>

#include "seam/clock.h"

enum freshness_state {
    FRESHNESS_UNSYNCED, /* before the first sync */
    FRESHNESS_FRESH,
    FRESHNESS_STALE,
};

struct freshness {
    struct clock *clock;
    uint64_t stale_after_ms;
    struct timer timer;  /* fires when the cache becomes stale */
    uint64_t sign_ms;    /* time of the last sign, by clock_elapsed_ms() */
    uint64_t due_ms;     /* when the cache becomes stale, by the same clock */
    uint64_t stopped_ms; /* how long this process did not run since that sign */
    enum freshness_state state;
    bool held; /* the time is stopped */
    /* Between fresh and stale; called from the function that changed it, or the timer. */
    void (*on_change)(struct freshness *f);
};

void freshness_init(struct freshness *f, struct clock *clock, uint64_t stale_after_ms,
                    void (*on_change)(struct freshness *f));

/* The first sync is complete: counts as a sign, and time counts from now on. */
void freshness_begin(struct freshness *f);

/* A sign of life. The next one is due within @limit_ms or stale_after, whichever is longer. */
void freshness_sign(struct freshness *f, uint64_t limit_ms);

/* The stream is lost: the next sign is due within stale_after, even if the stream had more time. */
void freshness_lost(struct freshness *f);

/* The host slept, or this process was stopped, for @ms: the stream was lost at the start of that
 * time. */
void freshness_slept(struct freshness *f, uint64_t ms);

/* Stops the time while @held. On release the full stale_after starts. */
void freshness_hold(struct freshness *f, bool held);

void freshness_close(struct freshness *f);

static inline bool freshness_is_stale(const struct freshness *f)
{
    return f->state == FRESHNESS_STALE;
}

#endif
