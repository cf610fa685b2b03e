/*
 * store.h - the cache: generations of objects, and the one place where a change becomes an event.
 *
 * A generation is a complete set of objects with its indexes (core/store/generation.h), each entry
 * holding a reference to an object. The store has one current generation, which readers see. A
 * relist fills a second one beside it, and replaces the first in one step:
 *
 *     readers ──> current ──> {a:1 b:2 c:3}
 *                 next ─────> {a:1 b:5}
 *
 * generation_put() adds to `next`; an item equal to the current object becomes a reference to it,
 * so nothing is held twice. store_flip() is O(1); `former` is what was current before:
 *
 *     readers ──> current ──> {a:1 b:5}
 *                 former ───> {a:1 b:2 c:3}
 *
 * store_tell_some() then walks the differences in slices: first what is only in `former` (deleted,
 * final: false), then what is new or changed in `current`, in key order (the server's list order);
 * at last `former` is given up, and store_sweep() frees it, in slices too.
 *
 * Between flip and the end of the telling no other delta may be applied: the pipeline keeps them in
 * the FIFO.
 */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/event.h"
#include "informer/store.h"

#include "base/siphash.h"
#include "base/str.h"

struct generation;
struct index_def;

/* Public only as an opaque type. Keeps @defs (not a copy; core/store/index.h) for its life. */
struct inf_store *store_new(const struct siphash_key *key, const struct index_def *defs,
                            size_t n_defs);

/* Frees at most @budget entries and returns true when all is gone, the store itself included. */
bool store_free_some(struct inf_store *store, size_t budget);

/* ---- one change, as the stream tells it ---- */

/* Puts @object (a reference is taken) in the place of what has its key, if anything, at its
 * resource version. Tells zero to two times: not at all if nothing differs, DELETED then ADDED if
 * the uid is another one. */
typedef void (*store_tell_fn)(void *ctx, const struct inf_event *event);
void store_put(struct inf_store *store, const struct inf_object *object, enum inf_origin origin,
               store_tell_fn tell, void *ctx);

/* Takes out what has @object's key; @object is the state at deletion. Told once; not at all if the
 * key is unknown. If the object known by that key has another uid (its end, and @object's beginning,
 * were coalesced), that one is reported as deleted, in its last known state and with final: false;
 * @object was never reported and is not mentioned. If @object is only an identity, the last known
 * state is reported, with final: false. */
void store_delete(struct inf_store *store, const struct inf_object *object, store_tell_fn tell,
                  void *ctx);

/* Nothing changed up to this version. */
void store_bookmark(struct inf_store *store, const char *resource_version);

/* ---- all at once ---- */

struct generation *generation_new(struct inf_store *store);

/* Adds @object (a reference is taken); the last one of a name wins. */
void generation_put(struct generation *next, const struct inf_object *object);

/* Takes out what has @object's key, if anything. */
void generation_delete(struct generation *next, const struct inf_object *object);

/* @identity is in @next, and can't be read: what the current generation has of it when that is replaced
 * stays as it is. A reference is taken. */
void generation_keep(struct generation *next, const struct inf_object *identity);

/* Whether @next is another set of objects than the current one, as that was when they were added. */
bool generation_differs(const struct generation *next);

size_t generation_count(const struct generation *generation);

/* Gives up a generation that will not be flipped to: it is freed in slices. NULL is fine. */
void store_discard(struct inf_store *store, struct generation *generation);

/* Frees at most @budget entries of what was given up; true when nothing is left of it. */
bool store_sweep(struct inf_store *store, size_t budget);

/* Readers see @next (now the store's) from here on, at @resource_version. */
void store_flip(struct inf_store *store, struct generation *next, const char *resource_version,
                enum inf_origin origin);

/* The next flip is to what another watch selects, in another shape perhaps: objects of one uid and resource version are the
 * same then, whatever was cut from them. */
void store_redefine(struct inf_store *store);

/* Generations made from now on have these indexes. Those of before keep theirs: their definitions must live as long as the
 * store. */
void store_set_indexes(struct inf_store *store, const struct index_def *defs, size_t n_defs);

/* Adds the objects that @from has in @ns ("": all) and @store has not. Nothing is told. */
void store_copy(struct inf_store *store, const struct inf_store *from, const char *ns);

/* Takes out the objects in @ns. Nothing is told. */
void store_forget(struct inf_store *store, const char *ns);

/* Tells up to @budget entries' worth of the differences; true when nothing is left to tell. */
bool store_tell_some(struct inf_store *store, size_t budget, store_tell_fn tell, void *ctx);

/* ---- reading; the rest is informer/store.h ---- */

/* What readers see. */
struct generation *store_current(const struct inf_store *store);

/* Another one after every change. */
uint64_t store_version(const struct inf_store *store);

/*
 * Gives @each the objects in @ns ("": in all) whose labels are selected, in key order, until it
 * returns false.
 *
 * @matches is asked once for each distinct text of metadata.labels and call ("{}" if there are
 * none), and may be asked again for one if @each itself reads by labels. Looks at no more than
 * *@budget objects, which it counts down, and goes on from @cursor in the next call. True when
 * there is no more.
 */
struct label_query {
    const char *ns;
    bool (*matches)(const void *selector, struct str labels);
    const void *selector;
};
bool store_by_labels(const struct inf_store *store, const struct label_query *query,
                     struct inf_cursor *cursor, size_t *budget, inf_each_fn *each, void *ctx);

/*
 * The same at once, and without a look at all that is not selected. False, and nothing was told, if
 * so much is selected that a walk is cheaper.
 */
bool store_few_by_labels(const struct inf_store *store, const struct label_query *query,
                         inf_each_fn *each, void *ctx);

#endif
