/*
 * store.h - the cache: generations of objects, and the one place where a change becomes an event.
 *
 * A generation is a complete set of objects with its indexes (core/store/generation.h); each entry
 * holds a reference to an object. The store has one current generation, which readers see. A relist
 * fills a second one beside it, and replaces the first in one step:
 *
 *     readers ──> current ──> {a:1 b:2 c:3}
 *                 next ─────> {a:1 b:5}
 *
 * generation_put() adds to `next`; an item equal to the current object becomes a reference to it,
 * so that no object is stored twice. store_flip() is O(1); `former` is the previous generation:
 *
 *     readers ──> current ──> {a:1 b:5}
 *                 former ───> {a:1 b:2 c:3}
 *
 * store_emit_some() then emits the differences in slices: first objects that are only in `former`
 * (deleted, final: false), then objects that are new or changed in `current`, in key order (the
 * server's list order). At last `former` is discarded, and store_sweep() frees it in slices.
 *
 * Between the flip and the last of these events no other delta may be applied: the pipeline keeps
 * them in the FIFO.
 */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/event.h"
#include "informer/store.h"

#include "base/siphash.h"
#include "base/str.h"
#include "core/object/object_image.h"

struct generation;
struct index_def;
struct inf_path;
struct pack_context;
struct pack_limits;

/* Borrows @defs (core/store/index.h) until the store is freed. */
struct inf_store *store_new(const struct siphash_key *key, const struct index_def *defs,
                            size_t n_defs);

/* Frees at most @budget entries. Returns true when all is freed, including the store itself. */
bool store_free_some(struct inf_store *store, size_t budget);

/* ---- packing ---- */

/* Holds objects packed from now on (core/object/object_packer.h), or with NULL as they are. What the
 * store already holds is converted by store_repack_some(). @limits NULL: the default. */
void store_pack(struct inf_store *store, struct pack_context *context,
                const struct pack_limits *limits);

/* Converts at most @budget objects that are not in the form that the packer now gives them. Returns
 * true when none is left. */
bool store_repack_some(struct inf_store *store, size_t budget);

/* For the owner of a store. Both may come from within a read. */
struct store_events {
    void (*on_lend)(void *ctx);    /* store_take_back() is pending now and was not before */
    void (*on_damaged)(void *ctx); /* an object can't be read: only a list has it (may be NULL) */
};
void store_set_events(struct inf_store *store, const struct store_events *events, void *ctx);

/* The ordinary form of @held, with one reference for the caller: object_unpack(). */
const struct inf_object *store_unpack(const struct inf_store *store, const struct inf_object *held);

/* The same, borrowed until store_take_back(). */
const struct inf_object *store_lend(const struct inf_store *store, const struct inf_object *held);
void store_take_back(struct inf_store *store);

/* ---- single changes ---- */

/* Adds @object (takes a reference) or replaces the object of the same key, and advances the
 * resource version. Emits no event if nothing differs, DELETED and ADDED if the uid differs, else
 * one event. */
typedef void (*store_emit_fn)(void *ctx, const struct inf_event *event);
void store_put(struct inf_store *store, const struct inf_object *object, enum inf_origin origin,
               store_emit_fn emit, void *ctx);

/* Removes the object with the key of @object, which is the state at deletion. Emits one event; none
 * if the key is unknown. If the object known by that key has another uid (its end, and @object's
 * beginning, were coalesced), that one is reported as deleted, in its last known state and with
 * final: false; @object was never reported and is not mentioned. If @object is only an identity,
 * the last known state is reported, with final: false. */
void store_delete(struct inf_store *store, const struct inf_object *object, store_emit_fn emit,
                  void *ctx);

/* Advances the version; no object changed. */
void store_bookmark(struct inf_store *store, const char *resource_version);

/* ---- relists ---- */

struct generation *generation_new(struct inf_store *store);

/* Makes room for @objects, which are then added faster. @generation is empty. */
void generation_reserve(struct generation *generation, size_t objects);

/* Adds @object (takes a reference). The last one of a key wins. */
void generation_put(struct generation *next, const struct inf_object *object);

/* Removes the object with the key of @object, if it exists. */
void generation_delete(struct generation *next, const struct inf_object *object);

/* @identity is in the list but can't be decoded: the state in the current generation at the time of
 * the flip is kept. Takes a reference. */
void generation_keep(struct generation *next, const struct inf_object *identity);

/* Whether @next differs from the current generation as it was when the objects were added. */
bool generation_differs(const struct generation *next);

size_t generation_count(const struct generation *generation);

/* The memory of its objects, as in inf_store_bytes(). */
size_t generation_bytes(const struct generation *generation);

/* Discards a generation that will not become current: it is freed in slices. NULL is allowed. */
void store_discard(struct inf_store *store, struct generation *generation);

/* Frees at most @budget entries of discarded generations. Returns true when none are left. */
bool store_sweep(struct inf_store *store, size_t budget);

/* Makes @next current, at @resource_version. The store owns it from now on. */
void store_flip(struct inf_store *store, struct generation *next, const char *resource_version,
                enum inf_origin origin);

/* The next flip is to the objects of a redefined watch, perhaps with other fields dropped: objects
 * with the same uid and resource version then count as equal. */
void store_redefine(struct inf_store *store);

/* Sets the indexes of generations created from now on. Existing ones keep theirs: all definitions
 * must live as long as the store. */
void store_set_indexes(struct inf_store *store, const struct index_def *defs, size_t n_defs);

/* Adds the objects of @from in @ns ("": all) that @store lacks. Emits no events. */
void store_copy(struct inf_store *store, const struct inf_store *from, const char *ns);

/* An object of an earlier process, packed or ordinary. */
struct restored_object {
    const struct inf_object *object; /* borrowed */
    const struct str
        *labels;   /* the text of its metadata.labels, empty if it has none; NULL: not known */
    uint64_t hash; /* for generation_restore() */
};

/* Adds @n of them to @next; several at once are faster. A packed one in a compact store without index
 * definitions whose labels are known is not expanded. Returns the number of those that were expanded and are
 * damaged: they are added, but only a list has their contents. */
size_t generation_restore(struct generation *next, struct restored_object *objects, size_t n);

/*
 * Saved objects are collected while they are read, in a store of their own that packs with @context and whose hashes
 * have @key. A store of the same form then takes all of them over. Keys have to be loaded in their order:
 * store_is_last() says whether all others are before @key.
 */
struct inf_store *store_for_loading(const struct siphash_key *key, struct pack_context *context);
bool store_is_last(const struct inf_store *loading, struct str key);

/* About @count objects will be loaded. */
void store_expect(struct inf_store *loading, size_t count);

/* Fetches the memory that store_load() needs. */
void store_prefetch(const struct inf_store *loading, uint64_t hash);

/* Adds @object, or replaces the one with its key. Its hash is set: that of its key. @is_last: store_is_last(). */
void store_load(struct inf_store *loading, const struct restored_object *object, bool is_last);
void store_unload(struct inf_store *loading, struct str key, uint64_t hash);

/* Moves the objects of @loading, which is only to be freed then, to a generation for @store, which has no objects
 * yet and uses the key of @loading from now on. *@ret_damaged is as the result of generation_restore(). Returns NULL
 * and does nothing if @store does not pack with the same context, or has index definitions. */
struct generation *store_take_over(struct inf_store *store, struct inf_store *loading,
                                   size_t *ret_damaged);

/* Else: removes up to @n objects, the first ones, and passes them to @take. Their labels are valid until the next
 * call. Returns false if there were none. */
bool store_hand_out(struct inf_store *loading, size_t n, saved_object_fn *take, void *ctx);

/* Makes @next current, in a store without objects. Emits no events. The store owns it from now on. */
void store_restore(struct inf_store *store, struct generation *next, const char *resource_version);

/* Removes the objects in @ns. Emits no events. */
void store_forget(struct inf_store *store, const char *ns);

/* Emits the differences of up to @budget entries, of fewer if their objects are large (object_work()). Returns true
 * when all are emitted. */
bool store_emit_some(struct inf_store *store, size_t budget, store_emit_fn emit, void *ctx);

/* ---- reading; the rest is informer/store.h ---- */

/* The form in which the store holds @object, perhaps packed, borrowed; NULL if it does not hold this
 * version of it. */
const struct inf_object *store_form_of(const struct inf_store *store,
                                       const struct inf_object *object);

/* The same, with the text of its metadata.labels, borrowed; empty: it has none. */
const struct inf_object *store_form_labelled(const struct inf_store *store,
                                             const struct inf_object *object,
                                             struct str *ret_labels);

/* The generation that readers see. */
struct generation *store_current(const struct inf_store *store);

/* The object with the key of @object as the store holds it, perhaps packed, borrowed; NULL if there is
 * none. For state on disk: core/object/object_image.h. */
const struct inf_object *store_held(const struct inf_store *store, const struct inf_object *object);

/* Differs after every change. */
uint64_t store_version(const struct inf_store *store);

/* Calls @each for the objects in @ns ("": all), in key order, until it returns false. */
void store_each(const struct inf_store *store, const char *ns, inf_object_fn *each, void *ctx);

/*
 * The same for those that match. `may_match` gets the object as the store holds it, of which only the
 * names and versions are known; `matches` gets the ordinary one. Examines at most *@budget objects,
 * which it counts down, and continues from @cursor in the next call. Returns true at the end.
 */
struct object_query {
    const char *ns;
    bool (*may_match)(const void *selector, const struct inf_object *held);
    bool (*matches)(const void *selector, const struct inf_object *object);
    const void *selector;
};
bool store_by_query(const struct inf_store *store, const struct object_query *query,
                    struct inf_cursor *cursor, size_t *budget, inf_object_fn *each, void *ctx);

/* The same, examining only the objects that have @value in the index by @path, which must exist. A slice
 * of it may be followed by one of store_by_query(), and the reverse. */
bool store_by_indexed_path(const struct inf_store *store, const struct inf_path *path,
                           struct str value, const struct object_query *query,
                           struct inf_cursor *cursor, size_t *budget, inf_object_fn *each,
                           void *ctx);

/* Whether a complete index has that path. It may be gone after a change. */
bool store_has_indexed_path(const struct inf_store *store, const struct inf_path *path);

/*
 * Calls @each for the objects in @ns ("": all) whose labels match, in key order, until it returns
 * false.
 *
 * `matches` is called once per call for each distinct text of metadata.labels ("{}" if there are
 * none), or more often if @each itself queries by labels. Examines at most *@budget objects, which
 * it counts down, and continues from @cursor in the next call. Returns true at the end.
 */
struct label_query {
    const char *ns;
    bool (*matches)(const void *selector, struct str labels);
    const void *selector;
};
bool store_by_labels(const struct inf_store *store, const struct label_query *query,
                     struct inf_cursor *cursor, size_t *budget, inf_object_fn *each, void *ctx);

/*
 * The same in one call, examining only the objects that match. Returns false without calling @each
 * if so many match that a walk is cheaper.
 */
bool store_few_by_labels(const struct inf_store *store, const struct label_query *query,
                         inf_object_fn *each, void *ctx);

#endif
