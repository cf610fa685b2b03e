/*
 * generation.h - one complete set of objects: a hash by key, a tree in key order, and the indexes.
 *
 * The store consists of generations (core/store/store.h). A generation knows nothing of events or
 * time. All operations take O(log n); it is freed in slices.
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
    struct inf_store *store; /* the store that it was made for */
    struct list node;        /* in the store's list of discarded generations */
    struct siphash_key key;
    struct hashmap by_key;
    struct tree in_order;
    struct index_set indexes;
    const struct inf_object **kept; /* references; see generation_keep() */
    size_t n_kept, kept_capacity;
    size_t unchanged; /* entries that shared the object of the current generation when added */
    size_t bytes;     /* the sum of inf_object_size() */
};

void generation_init(struct generation *g, struct inf_store *store, const struct siphash_key *key,
                     const struct index_def *defs, size_t n_defs);

/* Frees at most *@budget entries of @g, which it counts down, and at last @g itself. Returns true
 * when all is freed; NULL is allowed. An entry with many index values counts for several. */
bool generation_free_some(struct generation *g, size_t *budget);

/* ---- entries ---- */

uint64_t generation_hash(const struct generation *g, struct str key);

struct entry *generation_find(const struct generation *g, struct str key);
struct entry *generation_find_hashed(const struct generation *g, struct str key, uint64_t hash);

/* Whether all keys are before @key. */
bool generation_is_before(const struct generation *g, struct str key);

/* Adds @held (takes over the reference), whose ordinary form is @object. Its key must not exist yet.
 * See core/object/object_packer.h. */
void generation_add(struct generation *g, const struct inf_object *held,
                    const struct inf_object *object, uint64_t hash);

/* The same for an object whose text is not needed: index_entry_new_labelled(). */
void generation_add_labelled(struct generation *g, const struct inf_object *held, struct str labels,
                             uint64_t hash);

/* The same for one that is after all others: generation_is_before(). */
void generation_append_labelled(struct generation *g, const struct inf_object *held,
                                struct str labels, uint64_t hash);

/* Replaces the object of @e by @held (takes over the reference) of the same key, whose ordinary form
 * is @object. The old reference goes to the caller. */
const struct inf_object *generation_swap(struct generation *g, struct entry *e,
                                         const struct inf_object *held,
                                         const struct inf_object *object);

/* The same without the text: index_update_labelled(). */
const struct inf_object *generation_swap_labelled(struct generation *g, struct entry *e,
                                                  const struct inf_object *held, struct str labels);

/* Replaces the object of @e by another form of the same object (takes over the reference). */
void generation_replace_form(struct generation *g, struct entry *e, const struct inf_object *held);

/* Removes an entry. Its reference goes to the caller. */
const struct inf_object *generation_remove(struct generation *g, struct entry *e);

/* Removes the first entry, but not from the indexes: index_entry_free() is left to the caller, and its
 * reference. */
struct entry *generation_detach_first(struct generation *g);

/* Releases the references of generation_keep(). */
void generation_forget_kept(struct generation *g);

/* ---- walks ---- */

/* The entries of a namespace ("": all) in key order, to be used while nothing changes. Reading objects
 * costs most of a walk (a list of 5,000 of 100,000 pods took 3.8 instead of 1.9 ms, test/bench/reads.c):
 * this one does not. */
struct entry_range {
    struct tree_node *next, *end;
};
struct entry_range generation_range(const struct generation *g, const char *ns);
struct entry *entry_range_next(struct entry_range *range);

/* The part of it after the last object of @cursor. */
struct entry_range generation_range_after(const struct generation *g, const char *ns,
                                          const struct inf_cursor *cursor);

/* The next entry of the walk, in namespace @ns ("": all); NULL at the end. The cursor holds its
 * object, perhaps packed. @version must change between two calls if @g changed or an entry was added
 * or removed. */
struct entry *generation_next(const struct generation *g, uint64_t version, const char *ns,
                              struct inf_cursor *cursor);

#endif
