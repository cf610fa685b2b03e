/*
 * fifo.h - the delta FIFO: what the stream said, in the order in which it said it, until the pump
 * takes it.
 *
 * It never looks at the store: what a delta means is worked out when it is taken, against the store
 * of that moment, so nothing queued before can be lost or come back. A whole relist is one delta.
 *
 * A FIFO may coalesce: then a key has one entry at most, which keeps its place and takes the newest
 * state. Only whoever asks for it gets that, because states in between are then not told. What
 * comes out is still true: an object that was replaced by another one of its name is told as
 * deleted and added, since the store knows it by its uid; if that other one is gone too, only the
 * first is told as deleted. core/dispatch/coalescer.h has the table.
 */
#ifndef CORE_DISPATCH_FIFO_H
#define CORE_DISPATCH_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/siphash.h"

struct generation;
struct inf_object;

enum delta_type {
    DELTA_ADDED,
    DELTA_UPDATED,
    DELTA_DELETED,
    DELTA_REPLACED, /* everything: `generation`, at `resource_version`; `text` says why */
    DELTA_BOOKMARK, /* nothing, up to `resource_version` */
    DELTA_SKIPPED,  /* an object that can't be read: `text`, and `about` if it is known which */
    DELTA_STALE,    /* nothing was heard for too long: `text` */
    DELTA_RECOVERED,
    DELTA_TYPES,
};

struct delta {
    enum delta_type type;
    const struct inf_object *object; /* a reference; ADDED, UPDATED, DELETED */
    const struct inf_object *about;  /* a reference; SKIPPED: its identity */
    struct generation *generation;   /* owned; REPLACED */
    char *resource_version;          /* owned; REPLACED, BOOKMARK */
    char *text;                      /* owned; REPLACED, SKIPPED, STALE, RECOVERED */
    bool rewound;                    /* REPLACED: the server's version went back */
    bool redefined;                  /* REPLACED: something else is watched than before */
    int64_t received_us;
};

struct fifo_slot;

/* A ring; a zeroed struct is an empty FIFO that does not coalesce. */
struct fifo {
    struct fifo_slot *ring;
    size_t capacity; /* a power of two */
    size_t first;
    size_t count;
    bool coalesce;
    struct siphash_key key; /* of `by_key` */
    struct hashmap by_key;  /* of struct pending: where a key's entry is; only if it coalesces */
    uint64_t merged;        /* deltas that took the place of an older one */
    size_t bytes;           /* of the objects in it, and of their entries */
};

/* Makes a FIFO coalesce what comes from now on; @key is for its hash. NULL: it does not any more. */
void fifo_coalesce(struct fifo *fifo, const struct siphash_key *key);

/* Takes over what @delta owns. */
void fifo_push(struct fifo *fifo, const struct delta *delta);

/* Gives the oldest delta, and what it owns, to the caller; false if there is none. */
bool fifo_pop(struct fifo *fifo, struct delta *ret_delta);

/* Lets go of what @delta owns, but for its generation: that is for the store to take or to discard.
 */
void delta_done(struct delta *delta);

/* Frees the FIFO and what is in it, again but for generations. */
void fifo_free(struct fifo *fifo);

#endif
