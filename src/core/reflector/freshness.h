/*
 * freshness.h - whether what we have may still be taken for true: did the server show a sign lately?
 *
 * A sign is something complete: an event, a bookmark, a list, the end of a stream that showed one of
 * these, an answer that the server is at our version. A stream that ends without having shown anything
 * is none, be it in good order: a proxy may end every one of them. Bytes and open connections are
 * none: a proxy can hold those for hours. Without a sign for too long the copy is *stale*, however busy we are reconnecting; the next sign makes it fresh again.
 *
 * Before the first sync there is nothing that could be stale, and while the stream is held it is we
 * who don't listen: the time does not run then. It does while the host sleeps: who wakes up late has
 * an old copy, and says so before it has asked.
 */
#ifndef CORE_REFLECTOR_FRESHNESS_H
#define CORE_REFLECTOR_FRESHNESS_H

#include <stdbool.h>

#include "seam/clock.h"

struct freshness {
    struct clock *clock;
    uint64_t stale_after_ms;
    struct timer timer;  /* fires when it becomes stale */
    uint64_t sign_ms;    /* when the last sign came, by clock_elapsed_ms() */
    uint64_t due_ms;     /* when it becomes stale, by the same */
    uint64_t stopped_ms; /* since that sign we did not run for so long */
    bool begun;          /* the first sync is done */
    bool held;
    bool stale;
    void (*on_change)(struct freshness *f); /* `stale` is another; from the call that made it so */
};

void freshness_init(struct freshness *f, struct clock *clock, uint64_t stale_after_ms,
                    void (*on_change)(struct freshness *f));

/* The first sync is done: a sign, and from now on the time runs. */
void freshness_begin(struct freshness *f);

/* A sign came. The next one may take @patience_ms, or so long as it usually may if that is more. */
void freshness_sign(struct freshness *f, uint64_t patience_ms);

/* The stream is lost: however long it would have been allowed to be silent, the usual time runs now. */
void freshness_lost(struct freshness *f);

/* The host slept, or this process was stopped, for @ms: with that the stream was lost, and the time ran
 * on. */
void freshness_slept(struct freshness *f, uint64_t ms);

/* Stops the time, and lets it run on. */
void freshness_hold(struct freshness *f, bool held);

void freshness_close(struct freshness *f);

#endif
