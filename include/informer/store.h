/*
 * store.h - the cache of one informer, as a reader sees it.
 *
 * At any instant it equals the server's state at one resource version: a relist replaces the whole
 * of it between two calls, never object by object. Reading is a hash look-up or a walk; it never
 * talks to the server and never blocks.
 *
 * Order. Everything that gives several objects gives them in the server's own order: by the bytes
 * of `namespace/name` (so `a-b/x` is before `a/x`). It depends on what is in the store, not on how
 * it came there.
 *
 * Indexes are named functions of an object that give zero or more values, chosen when the informer
 * is made; `namespace` is always one of them. An object is found under each of its values, as it is
 * now. Of more than 1000 values of one object in one index only the first 1000 count, and none that
 * contains a NUL.
 */
#ifndef INFORMER_STORE_H
#define INFORMER_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/object.h"
#include "informer/selector.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_store;

/** The object of that name, lent (see object.h), or NULL. @ns is "" for cluster-scoped objects. */
INF_API const struct inf_object *inf_store_get(const struct inf_store *store, const char *ns,
                                               const char *name);

INF_API size_t inf_store_count(const struct inf_store *store);

/** The sum of inf_object_size() over all objects. */
INF_API size_t inf_store_bytes(const struct inf_store *store);

/** The resource version the store is at; "" before the first sync. Lent until the next change. */
INF_API const char *inf_store_resource_version(const struct inf_store *store);

/*
 * A walk. It may be stopped and taken up again at any time, also after the store changed: it goes
 * on behind the last object it gave, so each object that stays is given exactly once, and none
 * twice. End each walk, also half-way.
 *
 *     struct inf_cursor cursor = INF_CURSOR_START;
 *     while ((object = inf_store_next(store, &cursor)))
 *         ...
 *     inf_cursor_end(&cursor);
 */
struct inf_cursor {
    const struct inf_object *last; /* kept by the cursor; its name is where to go on */
    const void *place;             /* a short cut, good while `version` is the store's */
    uint64_t version;
};

#define INF_CURSOR_START \
    {                    \
        0, 0, 0          \
    }

/** The next object, lent, or NULL at the end. */
INF_API const struct inf_object *inf_store_next(const struct inf_store *store,
                                                struct inf_cursor *cursor);

/** The same for the objects of one namespace; "" is all. A walk keeps to one namespace from start
 * to end. */
INF_API const struct inf_object *inf_store_next_in(const struct inf_store *store, const char *ns,
                                                   struct inf_cursor *cursor);

/** Lets go of what the cursor holds. It can start anew. */
INF_API void inf_cursor_end(struct inf_cursor *cursor);

/** Gets one object, lent. Returns whether to go on. It may call any function of this header. */
typedef bool inf_each_fn(void *ctx, const struct inf_object *object);

/**
 * Calls @each for every object that has @value in the index of that name, until it returns false.
 *
 * Under "namespace", "" is what has no namespace. A value that no object has is no error.
 * Returns 0, or -INF_EINVAL if there is no such index.
 */
INF_API int inf_store_by_index(const struct inf_store *store, const char *index, const char *value,
                               inf_each_fn *each, void *ctx);

/**
 * Calls @each for every object of namespace @ns ("": all) that @selector takes, in the server's order,
 * until it returns false. NULL selects everything.
 *
 * A selector by labels is evaluated once for each set of labels there is, not for each object: pods of
 * one ReplicaSet share theirs, those of a StatefulSet mostly don't. One by fields looks at every
 * object.
 */
INF_API void inf_store_select(const struct inf_store *store, const char *ns,
                              const struct inf_selector *selector, inf_each_fn *each, void *ctx);

/** Gets one value, lent until the next change, and how many objects have it. Returns whether to go
 * on. */
typedef bool inf_each_value_fn(void *ctx, const char *value, size_t count);

/**
 * Calls @each for every value that objects have in the index of that name, by the bytes of the
 * value, until it returns false. Values that no object has any more are not among them.
 *
 * Returns 0, or -INF_EINVAL if there is no such index.
 */
INF_API int inf_store_index_values(const struct inf_store *store, const char *index,
                                   inf_each_value_fn *each, void *ctx);

/** How many values that is, without a walk; 0 if there is no such index. */
INF_API size_t inf_store_index_count(const struct inf_store *store, const char *index);

#ifdef __cplusplus
}
#endif

#endif
