/*
 * event.h - what a handler receives: one change of one object.
 *
 * For each object a handler receives `add (update)* delete`. Events of different objects of one
 * informer are delivered in the order in which the server reported them. When a handler runs, the
 * store is at least as new as the event.
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
    INF_ADDED,    /* now in the cache; old_object is NULL */
    INF_MODIFIED, /* old_object and new_object are both set */
    INF_DELETED,  /* no longer in the cache; new_object is NULL */
};

/* How the change was detected. */
enum inf_origin {
    INF_LIVE,    /* reported by the server when it happened */
    INF_INITIAL, /* the object existed when the cache was first filled */
    INF_RELIST,  /* found by comparison with a new list; intermediate states are unknown */
    INF_RESYNC,  /* nothing changed: periodic redelivery, see resync_ms in struct inf_handler */
    INF_RESUMED, /* happened while no process watched: found by comparing the restored copy (state.h)
                    with a new list; intermediate states are unknown */
};

struct inf_event {
    enum inf_verb verb;
    enum inf_origin origin;

    /* Valid during the call; use inf_object_ref() to keep them. For INF_DELETED, old_object is the
     * last known state: if `final`, the state that the server sent with the deletion, otherwise the
     * state last seen. */
    const struct inf_object *old_object;
    const struct inf_object *new_object;

    bool final; /* INF_DELETED: whether old_object is the state at deletion; otherwise true */
    int64_t received_us; /* time of arrival: microseconds since 1970, UTC */
};

/* Why the event stream has, or may have, a gap. */
enum inf_gap_reason {
    /* The watch was interrupted and the objects were listed again: the differences follow,
     * intermediate states are unknown. */
    INF_GAP_RELIST,
    /* Like INF_GAP_RELIST, and the server returned to an older state (a restored backup). */
    INF_GAP_REWIND,
    /* An object could not be decoded (over a limit): it is missing, or an earlier state of it stays
     * in the cache, see `text`. Once per resource version. */
    INF_GAP_SKIPPED,
    /* This handler was too slow and has INF_DROP: events were dropped. */
    INF_GAP_DROPPED,
};

struct inf_gap {
    enum inf_gap_reason reason;
    const char *text; /* the cause, for people; valid during the call */
    uint64_t dropped; /* INF_GAP_DROPPED: number of events */
    int64_t received_us;
};

/* Whether the cache is up to date: see on_freshness. */
struct inf_freshness {
    bool stale;       /* true: the server has sent nothing for too long; false: it sends again */
    const char *text; /* for how long, and the cause if it is known; valid during the call */
    int64_t received_us;
};

/** The object of the event: the new state, or the old state of a deleted object. */
static inline const struct inf_object *inf_event_object(const struct inf_event *event)
{
    return event->new_object ? event->new_object : event->old_object;
}

/** "ADDED", "MODIFIED", "DELETED". */
INF_API const char *inf_verb_name(enum inf_verb verb);

/** "live", "initial", "relist", "resync", "resumed". */
INF_API const char *inf_origin_name(enum inf_origin origin);

/** "relist", "rewind", "skipped", "dropped". */
INF_API const char *inf_gap_reason_name(enum inf_gap_reason reason);

#ifdef __cplusplus
}
#endif

#endif
