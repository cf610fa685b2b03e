/*
 * handler_track.h - up to which resource version a handler has delivered each stream of changes: what a replica
 * publishes for the others of its group, and what they need to continue there.
 *
 * `seq` is local to a process, so replicas agree on versions of the server instead. A track is a stream
 * (cluster, watch, namespace, selection) as one handler sees it. Versions of one stream are ordered:
 *
 *     base ······ covered ······ after, version of records that wait ······ reached
 *       │            └ the leader has delivered everything up to here            └ of the watch
 *       └ the queue has had all changes after this version
 *
 *  - A record of a live change has the version of the object; everything before is older.
 *  - A record that a list found lies somewhere between the version that was reached before and that of the list.
 *    An object that exists has its own version; for a deletion only the version of the list is certain, and for a
 *    stream that began later (a namespace that is selected, perhaps again): its objects may be older.
 *  - The position is the version before the first record that is not delivered, or what was reached if there
 *    is none. Parked records do not hold it: they stay where they were parked.
 *  - A record is covered, and not delivered here, if its version is not above the published position.
 *  - If the position is below `base` when this process begins to deliver, changes between the two are unknown: a
 *    GAP. It is the same after records were dropped because the queue was full.
 *  - After a rewind of the server (a restored backup) versions of before mean nothing. Records that wait
 *    have no track any more, and published positions are ignored until a lower one is seen, here or before.
 *
 * Tracks are saved in a queue of the state on disk of their own: `base` must survive a restart.
 */
#ifndef DAEMON_HANDLER_TRACK_H
#define DAEMON_HANDLER_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/state.h"

#include "base/hashmap.h"
#include "base/list.h"
#include "base/siphash.h"

struct handler_record;

struct handler_track {
    struct hash_node by_key;
    struct list node;
    uint64_t number; /* in the state on disk */
    bool based;      /* `base` is known */
    bool mixed;      /* the differences of a list are being reported */
    bool published;  /* a position was published, `covered` */
    bool gap;        /* it was reported that changes before `base` are unknown */
    uint64_t base, reached, covered;
    uint64_t stale;        /* published positions from here on are from before a rewind; 0: none */
    uint64_t lowered_from; /* before a lower position: the leader has seen a rewind; 0: none */
    uint64_t used_ms;      /* when the watch, or another replica, has last shown that it exists */
    struct list records;   /* of struct handler_record, by `after` */
    char key[];            /* cluster, watch and stream, separated by tabs */
};

struct handler_tracks {
    struct siphash_key hash_key;
    struct hashmap by_key;
    struct list list;
    uint64_t next_number;
    bool changed;                    /* since they were saved */
    struct inf_state_queue *on_disk; /* NULL: none */
};

/* What a record of a track has. */
struct handler_span {
    struct handler_track *track; /* NULL: none */
    struct list node;            /* in the track; in no list if it is parked */
    uint64_t after, version;
};

/* A change, as far as it matters for its span. */
struct handler_track_change {
    uint64_t version; /* of the object; 0: not comparable */
    uint64_t listed;  /* of the cache */
    bool live;
    bool deleted;
    bool relist; /* found by a list, but not by the first one of this process */
};

/* Restores tracks of an earlier run; @on_disk NULL: no state on disk. */
void handler_tracks_init(struct handler_tracks *tracks, const struct siphash_key *hash_key,
                         struct inf_state_queue *on_disk);

/* Their records must have been removed. */
void handler_tracks_free(struct handler_tracks *tracks);

/* Adds those that have changed to the current batch of the state; all of them with @again, after the state was lost. */
void handler_tracks_save(struct handler_tracks *tracks, bool again);

/* The version @text as a number; 0: it is none, and can't be compared. */
uint64_t handler_track_version(const char *text);

/* @key is one line of text: cluster, watch and stream, separated by tabs. */
struct handler_track *handler_tracks_get(struct handler_tracks *tracks, const char *key);
struct handler_track *handler_tracks_numbered(struct handler_tracks *tracks, uint64_t number);
void handler_tracks_drop(struct handler_tracks *tracks, struct handler_track *track);

/* The span of a record of @change; its node is in no list. Returns false if the change is covered. */
bool handler_track_place(struct handler_track *track, const struct handler_track_change *change,
                         struct handler_span *ret);

/* The record waits; in the order of handler_track_place(). */
void handler_track_add(struct handler_span *span);

/* The record does not hold the position any more. Does nothing if it has no track. */
void handler_track_remove(struct handler_span *span);

/* The watch has reported everything up to @version. */
void handler_track_reach(struct handler_tracks *tracks, struct handler_track *track,
                         uint64_t version);

/* A record that was not delivered was dropped: its change is unknown here. */
void handler_track_lose(struct handler_tracks *tracks, const struct handler_span *span);

/* The server has returned to an older state. Records that wait have no track any more, also those on disk. */
void handler_track_rewind(struct handler_tracks *tracks, struct handler_track *track);

/* The leader has published this position. Records may be covered now: see handler_track_each_covered(). */
void handler_track_publish(struct handler_track *track, uint64_t version);

/* Calls @each for each record that is covered; it may remove that record. */
void handler_track_each_covered(struct handler_track *track,
                                void (*each)(void *ctx, struct handler_span *span), void *ctx);

/* What this process would publish; 0: nothing. */
uint64_t handler_track_position(const struct handler_track *track);

/* Whether changes are unknown here that the leader had not delivered. */
bool handler_track_has_gap(const struct handler_track *track);

#endif
