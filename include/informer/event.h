/*
 * event.h - what a handler is told: one change of one object.
 *
 * For each object a handler sees `add (update)* delete`, and across the objects of one informer the
 * order in which the server told them. When a handler runs, the store is at least as new as the
 * event.
 */
#ifndef INFORMER_EVENT_H
#define INFORMER_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/object.h"

#ifdef __cplusplus
extern "C" {
#endif

enum inf_verb {
    INF_ADDED,    /* now in the cache; old is NULL */
    INF_MODIFIED, /* old and new are both there and differ */
    INF_DELETED,  /* no longer in the cache; new is NULL */
};

/* How the change came to be known. */
enum inf_origin {
    INF_LIVE,    /* the server told it when it happened */
    INF_INITIAL, /* it was there when the cache was first filled */
    INF_RELIST,  /* found by comparing with a new list; states in between are unknown */
    INF_RESYNC,  /* nothing changed: told again because the handler asked to be, now and then */
};

struct inf_event {
    enum inf_verb verb;
    enum inf_origin origin;

    /* Lent for the call; inf_object_ref() what you keep. For INF_DELETED `old` is the last state
     * that is known: as the server sent it with the deletion if `final`, else as it was last seen.
     */
    const struct inf_object *old_object;
    const struct inf_object *new_object;

    bool final; /* INF_DELETED: whether old_object is the state at deletion; true otherwise */
    int64_t received_us; /* when it arrived here: microseconds since 1970, UTC */
};

/* Where what is told has a hole, or may have. */
enum inf_gap_reason {
    INF_GAP_RELIST, /* the stream was interrupted and listed anew: the differences follow, states in
                       between are unknown */
    INF_GAP_REWIND, /* the same, and the server itself went back to an older state (a restored
                       backup) */
    INF_GAP_SKIPPED, /* an object could not be read (over a limit): it is missing, or an earlier state
                        of it stays in the cache, as `text` says; once per version */
    INF_GAP_DROPPED, /* this handler was too slow: events were dropped, as it asked (INF_DROP) */
};

struct inf_gap {
    enum inf_gap_reason reason;
    const char *text; /* why, for people; lent for the call */
    uint64_t dropped; /* INF_GAP_DROPPED: how many events */
    int64_t received_us;
};

/* Whether the copy may still be taken for true: see on_freshness. */
struct inf_freshness {
    bool stale;       /* nothing was heard from the server for too long; false: it was again */
    const char *text; /* for how long, and why if that is known; lent for the call */
    int64_t received_us;
};

/** The object the event is about: the new one, or the old one if it was deleted. */
static inline const struct inf_object *inf_event_object(const struct inf_event *event)
{
    return event->new_object ? event->new_object : event->old_object;
}

/** "ADDED", "MODIFIED", "DELETED". */
INF_API const char *inf_verb_name(enum inf_verb verb);

/** "live", "initial", "relist", "resync". */
INF_API const char *inf_origin_name(enum inf_origin origin);

/** "relist", "rewind", "skipped", "dropped". */
INF_API const char *inf_gap_reason_name(enum inf_gap_reason reason);

#ifdef __cplusplus
}
#endif

#endif
