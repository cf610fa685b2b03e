/*
 * store.h - read access to the cache of one informer.
 *
 * At any time the store equals the server's state at one resource version: a relist replaces all of
 * it between two calls, never object by object. Reading is a hash lookup or a walk; it never
 * contacts the server and never blocks.
 *
 * Order. Functions that return several objects return them in the server's own order: sorted by the
 * bytes of `namespace/name` (so `a-b/x` comes before `a/x`). The order depends only on the contents
 * of the store.
 *
 * Indexes are named functions that give zero or more values for an object. They are chosen when the
 * informer is opened; `namespace` always exists. An object is found under each of its current
 * values. Only the first 1000 values of one object in one index are used, and values that contain a
 * NUL are ignored.
 */
#ifndef INFORMER_STORE_H
#define INFORMER_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/event.h"
#include "informer/object.h"
#include "informer/selector.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_store;

/**
 * The object with that namespace and name, borrowed (see object.h), or NULL. @ns is "" for
 * cluster-scoped objects.
 *
 * A compact cache keeps the expanded object until control returns to the loop. To read many objects
 * at once, use a cursor or a function with a callback.
 */
INF_API const struct inf_object *inf_store_get(const struct inf_store *store, const char *ns,
                                               const char *name);

/** The number of objects. */
INF_API size_t inf_store_count(const struct inf_store *store);

/** The memory of all objects: the sum of inf_object_size(), or in a compact cache of what is held. */
INF_API size_t inf_store_bytes(const struct inf_store *store);

/** The resource version of the store; "" before the first sync. Valid until the next change. */
INF_API const char *inf_store_resource_version(const struct inf_store *store);

/*
 * A walk over the objects. It may be interrupted and continued at any time, also after the store
 * has changed: it continues after the last object it returned. An object that stays in the store is
 * returned exactly once. End every walk with inf_cursor_end(), also an incomplete one.
 *
 *     struct inf_cursor cursor = INF_CURSOR_START;
 *     while ((object = inf_store_next(store, &cursor)))
 *         ...
 *     inf_cursor_end(&cursor);
 */
struct inf_cursor {
    const struct inf_object *last; /* referenced by the cursor; the walk continues after it */
    const void *place;             /* a shortcut, valid while `version` is the store's */
    uint64_t version;
};

#define INF_CURSOR_START \
    {                    \
        0, 0, 0          \
    }

/** The next object, borrowed, or NULL at the end. */
INF_API const struct inf_object *inf_store_next(const struct inf_store *store,
                                                struct inf_cursor *cursor);

/**
 * Like inf_store_next(), for the objects of one namespace; "" is all. Use the same namespace from
 * the start to the end of a walk.
 */
INF_API const struct inf_object *inf_store_next_in(const struct inf_store *store, const char *ns,
                                                   struct inf_cursor *cursor);

/** Releases what the cursor holds. The cursor can then start another walk. */
INF_API void inf_cursor_end(struct inf_cursor *cursor);

/**
 * Receives one object, borrowed. Returns whether to continue. May call any function of this header.
 */
typedef bool inf_object_fn(void *ctx, const struct inf_object *object);

/**
 * Calls @each for every object that has @value in the index named @index, until @each returns
 * false.
 *
 * In the index "namespace", "" selects cluster-scoped objects. A value that no object has is not an
 * error. Returns 0, or -INF_EINVAL if there is no such index.
 */
INF_API int inf_store_by_index(const struct inf_store *store, const char *index, const char *value,
                               inf_object_fn *each, void *ctx);

/**
 * Calls @each for every object of namespace @ns ("": all) that @selector matches, in the server's
 * order, until @each returns false. A NULL selector matches everything.
 *
 * A label selector is evaluated once for each distinct set of labels, not for each object: the pods
 * of one ReplicaSet share their labels, those of a StatefulSet mostly do not. A field selector uses an
 * index by the path of one of its fields, if there is one; otherwise it is evaluated for every object,
 * which in a compact cache has to be expanded unless its name already differs.
 */
INF_API void inf_store_select(const struct inf_store *store, const char *ns,
                              const struct inf_selector *selector, inf_object_fn *each, void *ctx);

/**
 * The same in slices, for caches that are too large for one call: examines at most @budget objects
 * and continues after @cursor, which is at its start in the first call and is ended by the caller.
 *
 * Uses an index like inf_store_select(): then only its objects count. Returns true when all objects were
 * examined; false if the budget was used up, or @each returned false.
 */
INF_API bool inf_store_select_some(const struct inf_store *store, const char *ns,
                                   const struct inf_selector *selector, struct inf_cursor *cursor,
                                   size_t budget, inf_object_fn *each, void *ctx);

/**
 * Whether inf_store_select() and inf_store_select_some() now use an index for @selector. If both labels and
 * fields are selected, use the field selector for the call if it is indexed, else the label selector, and
 * compare the other one with inf_selector_matches().
 */
INF_API bool inf_store_is_indexed(const struct inf_store *store,
                                  const struct inf_selector *selector);

/**
 * Receives one value, valid until the next change, and the number of objects that have it. Returns
 * whether to continue.
 */
typedef bool inf_index_value_fn(void *ctx, const char *value, size_t count);

/**
 * Calls @each for every value that objects have in the index named @index, sorted by the bytes of
 * the value, until @each returns false. Values that no object has any more are not included.
 *
 * Returns 0, or -INF_EINVAL if there is no such index.
 */
INF_API int inf_store_index_values(const struct inf_store *store, const char *index,
                                   inf_index_value_fn *each, void *ctx);

/** The number of values in that index, without a walk; 0 if there is no such index. */
INF_API size_t inf_store_index_count(const struct inf_store *store, const char *index);

/* ---- changes of the store itself ---- */

/* One change of the store. Everything is valid during the call. */
struct inf_store_change {
    const struct inf_event *event;
    /* The object as the cache held it before and holds it now; NULL: not at all. Of these, only the
     * identity (kind to resource version) may be read; inf_object_expand() gives the rest. To keep a
     * state, keep a reference to these rather than to those of the event: in a compact cache they are
     * much smaller. */
    const struct inf_object *old_held;
    const struct inf_object *new_held;
};

/*
 * Observes a store: called inside each change, before any handler and before any reader sees the next
 * state, so that what it has seen and what readers see always agree. For views that must match the
 * store exactly; handlers (informer.h) are the normal way to receive events. The callbacks are called
 * in the middle of changes: they may read the store's resource version, keep references and remove the
 * observer, nothing else.
 */
struct inf_store_observer {
    void (*on_change)(struct inf_store_observer *observer, const struct inf_store_change *change);
    /* A new list replaced all objects. Readers see them from @begins on. The differences follow as
     * changes, in several iterations of the loop; then this is called with @begins false. */
    void (*on_replaced)(struct inf_store_observer *observer, bool begins);
    /* The store is freed, or is about to contain another selection of objects: nothing more is
     * observed. */
    void (*on_end)(struct inf_store_observer *observer);

    void *internal[2];
    void *reserved[2];
};

/** Starts to observe @store. The store keeps a pointer to @observer until its end or removal. */
INF_API void inf_store_observe(const struct inf_store *store, struct inf_store_observer *observer);

/** Removes @observer. Harmless after on_end. */
INF_API void inf_store_unobserve(struct inf_store_observer *observer);

/** The ordinary form of an object as the cache holds it, with one reference for the caller. */
INF_API const struct inf_object *inf_object_expand(const struct inf_object *held);

#ifdef __cplusplus
}
#endif

#endif
