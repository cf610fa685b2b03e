/*
 * store_restore.c - adds and removes objects without events: copies of another store, and objects that an
 * earlier process has saved, one by one or all at once.
 *
 * Observers of the store end, because they would miss these changes. A saved object that can't be unpacked
 * is added as a damaged one; nothing else fails.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "core/mutant.h"
#include "core/object/object.h"
#include "core/store/generation.h"
#include "core/store/observers.h"
#include "core/store/store_internal.h"

void store_copy(struct inf_store *store, const struct inf_store *from, const char *ns)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    observers_end(store->observers);
    while ((object = inf_store_next_in(from, ns, &cursor))) {
        uint64_t hash = generation_hash(store->current, object_key(object));
        size_t objects = generation_count(store->current);
        if (!generation_find_hashed(store->current, object_key(object), hash))
            generation_add(store->current, object_pack(&store->packer, object, objects), object,
                           hash);
    }
    inf_cursor_end(&cursor);
    store_advance(store, from->resource_version);
}

/* Adds @restored, whose text is needed. If it is damaged, its names are: a list finds out whether it has
 * changed. */
static bool restore_expanded(struct generation *next, const struct inf_object *restored,
                             struct entry *e, uint64_t hash)
{
    const struct inf_object *object = object_unpack(restored), *held;
    bool damaged = object_is_damaged(object);
    held = damaged ? inf_object_ref(restored)
                   : object_pack_restored(&next->store->packer, restored, object,
                                          generation_count(next));
    if (e)
        inf_object_unref(generation_swap(next, e, held, object));
    else
        generation_add(next, held, object, hash);
    inf_object_unref(object);
    return !damaged;
}

/* The last one of a key wins, as in generation_put(). Objects mostly come in the order of their keys: then no
 * lookup is needed to see that a key is new. Returns false if it is damaged. */
static bool restore_one(struct generation *next, const struct restored_object *restored,
                        bool is_last)
{
    struct object_packer *packer = &next->store->packer;
    const struct inf_object *object = restored->object;
    struct str key = object_key(object);
    struct entry *e = is_last ? NULL : generation_find_hashed(next, key, restored->hash);
    if (MUTANT("restore-loses-one") && generation_count(next) == 3)
        return true;
    if (!restored->labels || next->indexes.n_defs || !packer->context || !object_is_packed(object))
        return restore_expanded(next, object, e, restored->hash);
    object_packer_adopt(packer, object, generation_count(next));
    if (e)
        inf_object_unref(
            generation_swap_labelled(next, e, inf_object_ref(object), *restored->labels));
    else if (is_last)
        generation_append_labelled(next, inf_object_ref(object), *restored->labels, restored->hash);
    else
        generation_add_labelled(next, inf_object_ref(object), *restored->labels, restored->hash);
    return true;
}

/* The memory that each one needs is fetched before the first one is added: it is in no cache of the
 * processor. */
size_t generation_restore(struct generation *next, struct restored_object *objects, size_t n)
{
    size_t damaged = 0;
    for (size_t i = 0; i < n; i++) {
        objects[i].hash = generation_hash(next, object_key(objects[i].object));
        hashmap_prefetch(&next->by_key, objects[i].hash);
        object_packer_prefetch(objects[i].object);
    }
    for (size_t i = 0; i < n; i++)
        damaged += !restore_one(next, &objects[i],
                                generation_is_before(next, object_key(objects[i].object)));
    return damaged;
}

/* ---- loading ---- */

struct inf_store *store_for_loading(const struct siphash_key *key, struct pack_context *context)
{
    struct inf_store *store = store_new(key, NULL, 0);
    store_pack(store, context, NULL);
    return store;
}

bool store_is_last(const struct inf_store *loading, struct str key)
{
    return generation_is_before(loading->current, key);
}

void store_expect(struct inf_store *loading, size_t count)
{
    struct index_set *indexes = &loading->current->indexes;
    hashmap_expect(&loading->current->by_key, count);
    if (count * indexes->entries.size >= REGION_SIZE)
        indexes->pages.stock = pack_memory_stock(loading->packer.context);
}

void store_prefetch(const struct inf_store *loading, uint64_t hash)
{
    hashmap_prefetch(&loading->current->by_key, hash);
}

void store_load(struct inf_store *loading, const struct restored_object *object, bool is_last)
{
    loading->n_damaged += !restore_one(loading->current, object, is_last);
}

void store_unload(struct inf_store *loading, struct str key, uint64_t hash)
{
    struct entry *e = generation_find_hashed(loading->current, key, hash);
    if (e)
        inf_object_unref(generation_remove(loading->current, e));
}

/* The packer knows the objects, too: which dictionary most of them have, and samples. */
struct generation *store_take_over(struct inf_store *store, struct inf_store *loading,
                                   size_t *ret_damaged)
{
    struct generation *moved = loading->current;
    struct pack_limits limits = store->packer.limits;
    if (!store->packer.context || store->packer.context != loading->packer.context || store->n_defs)
        return NULL;
    assert(!generation_count(store->current));
    loading->current = NULL;
    moved->store = store;
    hashmap_expect(&moved->by_key, 0);
    moved->indexes.pages.stock = NULL; /* it is cleared after all were loaded */
    store->key = loading->key;
    object_packer_free(&store->packer);
    store->packer = loading->packer;
    store->packer.limits = limits;
    object_packer_init(&loading->packer, NULL, NULL, 0);
    *ret_damaged = loading->n_damaged;
    return moved;
}

void store_free_handed(struct inf_store *store)
{
    for (size_t at = 0; at < store->handed.len; at += sizeof(struct entry *)) {
        const struct inf_object *object;
        struct entry *e;
        memcpy(&e, store->handed.bytes + at, sizeof(struct entry *));
        object = e->object;
        index_entry_free(&store->current->indexes, e);
        inf_object_unref(object);
    }
    buf_clear(&store->handed);
}

/* The labels of a damaged object are not known: its receiver has to find out that it is damaged. */
bool store_hand_out(struct inf_store *loading, size_t n, saved_object_fn *take, void *ctx)
{
    struct generation *g = loading->current;
    store_free_handed(loading);
    hashmap_expect(&g->by_key, 0);
    for (; n > 0 && generation_count(g); n--) {
        struct entry *e = generation_detach_first(g);
        struct str labels = index_entry_labels(e);
        buf_put(&loading->handed, (const char *)&e, sizeof(struct entry *));
        take(ctx, inf_object_ref(e->object), object_is_damaged(e->object) ? NULL : &labels);
    }
    return loading->handed.len;
}

void store_restore(struct inf_store *store, struct generation *next, const char *resource_version)
{
    assert(store->phase == FLIP_DONE && !generation_count(store->current));
    store_discard(store, store->current);
    store->current = next;
    store->version++;
    store_restart_repacking(store);
    str_replace(&store->resource_version, resource_version);
}

void store_forget(struct inf_store *store, const char *ns)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    observers_end(store->observers);
    while ((object = inf_store_next_in(store, ns, &cursor))) {
        struct entry *e = generation_find(store->current, object_key(object));
        store->version++; /* before it is removed: the cursor must not continue from it */
        inf_object_unref(generation_remove(store->current, e));
    }
    inf_cursor_end(&cursor);
}
