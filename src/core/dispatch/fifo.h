/*
 * fifo.h - the delta FIFO: what the reflector received, in order, until the pump takes it.
 *
 * It never looks at the store: a delta is compared with the store only when it is taken, so no
 * queued delta can be lost or applied twice. A whole relist is one delta.
 *
 * A FIFO may coalesce: a key then has at most one entry, which keeps its position and has the
 * newest state. This is optional because intermediate states are lost. The events are still
 * correct: the store compares uids, so an object that was replaced by another of the same name is
 * reported as deleted and added; if the second one is deleted too, only the first is reported as
 * deleted. core/dispatch/coalescer.h has the table.
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
    DELTA_REPLACED,  /* a full list: `generation`, at `resource_version`; `text` is the reason */
    DELTA_BOOKMARK,  /* no change up to `resource_version` */
    DELTA_SKIPPED,   /* an object that can't be decoded: `text`, and `about` if its name is known */
    DELTA_CONFIRMED, /* the server continues from the version of the restored copy */
    DELTA_STALE,     /* the cache became stale: `text` */
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
    bool rewound;                    /* REPLACED: the server's version is older than before */
    bool redefined;                  /* REPLACED: the watch was redefined */
    bool resumed;                    /* REPLACED: the copy before was that of an earlier process */
    int64_t received_us;
};

struct fifo_slot;

/* A ring; a zeroed struct is an empty FIFO that does not coalesce. */
struct fifo {
    struct fifo_slot *ring;
    size_t capacity; /* a power of two */
    size_t first;
    size_t count;
    size_t lists; /* deltas of type REPLACED among them */
    bool coalesce;
    struct siphash_key key; /* of `by_key` */
    struct hashmap by_key;  /* of struct pending: the entry of each key; only if it coalesces */
    uint64_t merged;        /* deltas that replaced an older one */
    size_t bytes;           /* of its objects and entries */
};

/* Starts to coalesce later deltas; @key is for the hash table. NULL: stops coalescing. */
void fifo_coalesce(struct fifo *fifo, const struct siphash_key *key);

/* Appends @delta and takes ownership of what it owns. */
void fifo_push(struct fifo *fifo, const struct delta *delta);

/* Takes the oldest delta; the caller owns its contents. Returns false if the FIFO is empty. */
bool fifo_pop(struct fifo *fifo, struct delta *ret_delta);

/* Frees what @delta owns, except its generation, which goes to the store or to store_discard(). */
void delta_done(struct delta *delta);

/* Frees the FIFO and its deltas, except their generations. */
void fifo_free(struct fifo *fifo);

#endif
