/*
 * generation.h - one complete set of objects: a hash by key, a tree in key order, and the indexes.
 *
 * What the store is made of (core/store/store.h tells how). A generation knows nothing of events or of
 * time; all it does takes O(log n), and it is freed by slices.
 */
#ifndef CORE_STORE_GENERATION_H
#define CORE_STORE_GENERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/store.h"

#include "base/list.h"
#include "base/siphash.h"
#include "core/store/index.h"

struct generation {
    struct inf_store *store; /* whose next or current one it is, or was */
    struct list node;        /* among the given up */
    struct siphash_key key;
    struct hashmap by_key;
    struct tree in_order;
    struct index_set indexes;
    const struct inf_object *
        *kept; /* references; identities of what stays, see generation_keep() */
    size_t n_kept, kept_capacity;
    size_t unchanged; /* entries that hold the current generation's object, when they were added */
    size_t bytes;     /* the sum of inf_object_size() */
};

void generation_init(struct generation *g, struct inf_store *store, const struct siphash_key *key,
                     const struct index_def *defs, size_t n_defs);

/* Frees @g and its entries, at most *@budget of them, which it counts down; true when all is gone.
 * NULL is gone. An entry that is filed under many values counts for several. */
bool generation_free_some(struct generation *g, size_t *budget);

/* ---- entries ---- */

uint64_t generation_hash(const struct generation *g, struct str key);

struct entry *generation_find(const struct generation *g, struct str key);
struct entry *generation_find_hashed(const struct generation *g, struct str key, uint64_t hash);

/* Adds @object (a reference is taken), whose key is not there yet. */
void generation_add(struct generation *g, const struct inf_object *object, uint64_t hash);

/* Puts @object (a reference is taken) in the place of what @e holds, of the same key; the old
 * reference is the caller's. */
const struct inf_object *generation_swap(struct generation *g, struct entry *e,
                                         const struct inf_object *object);

/* Takes out an entry; its reference is the caller's. */
const struct inf_object *generation_remove(struct generation *g, struct entry *e);

/* Lets go of what generation_keep() took. */
void generation_forget_kept(struct generation *g);

/* ---- walks ---- */

/* The next entry of the walk, in @ns unless that is ""; NULL at the end. @version is the same as in
 * the last call exactly if @g is, and nothing was added to or removed from it. */
struct entry *generation_next(const struct generation *g, uint64_t version, const char *ns,
                              struct inf_cursor *cursor);

#endif
