/*
 * api_walk.h - a walk over the objects of a store at one resource version, in slices, while the store
 * changes.
 *
 *     api_walk_start(&walk, feed, request);               walk.version is that of the store
 *     while (api_walk_some(&walk, 256, each, ctx) == API_WALK_MORE)
 *         ...                                             may return to the loop in between
 *     api_walk_stop(&walk);
 *
 * The feed reports each change to the walk before the walk continues. If the object comes later in the
 * walk, its state at the start is kept in the undo map.
 */
#ifndef DAEMON_API_WALK_H
#define DAEMON_API_WALK_H

#include "informer/store.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/tree.h"
#include "daemon/api/api_request.h"

struct api_feed;

enum {
    API_UNDO_MAX = 4096,                   /* LIMIT: objects in an undo map */
    API_UNDO_BYTES_MAX = 16 * 1024 * 1024, /* LIMIT: memory of their states */
};

enum api_walk_result {
    API_WALK_MORE,
    API_WALK_END,
    API_WALK_WAIT, /* the cache is being replaced: on_ready is called when its changes were reported */
    API_WALK_LOST, /* a limit was exceeded, or the store is gone: the walk can't be completed */
};

struct api_walk {
    struct list node; /* in the feed's walks */
    struct api_feed *feed;
    char *version;                     /* of the store at the start */
    const char *ns;                    /* borrowed; "": all */
    const struct inf_selector *labels; /* borrowed; NULL: any */
    const struct inf_selector *fields;
    size_t examined;       /* objects at once */
    unsigned replacements; /* of the feed at the start */

    struct inf_cursor cursor;
    bool walked;         /* the store has no further objects; only kept states remain */
    struct buf position; /* the key of the last object that was examined */
    struct tree undo;    /* of struct undo, by key */
    size_t n_undo;
    size_t undo_bytes;
    bool overflow;

    bool waits; /* for on_ready */
    void (*on_ready)(struct api_walk *walk);

    const struct inf_selector *other; /* that the store does not evaluate, during api_walk_some() */
    inf_object_fn *each;              /* the same */
    void *ctx;
};

/* Borrows the selectors and the namespace of @request. @on_ready is called in the pump phase when the
 * walk can continue after API_WALK_WAIT, or is lost. */
void api_walk_start(struct api_walk *walk, struct api_feed *feed, const struct api_request *request,
                    void (*on_ready)(struct api_walk *walk));

/* Calls @each for the next objects in key order, until it returns false or a number of them was examined
 * that takes well under a millisecond. */
enum api_walk_result api_walk_some(struct api_walk *walk, inf_object_fn *each, void *ctx);

/* Harmless if it was not started. */
void api_walk_stop(struct api_walk *walk);

/* For the feed: calls on_ready of the walks that wait, or of all if the feed has ended. */
void api_walk_wake_all(struct api_feed *feed);

/* For the feed: a change. @replaced: it was found by a new list. */
void api_walk_note(struct api_walk *walk, const struct inf_store_change *change, bool replaced);

#endif
