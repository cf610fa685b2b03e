/*
 * store.c - applies changes to the current generation, switches to a new one, and emits events.
 *
 * Every event is created here, by comparing the old state with the new. See store.h for the life of
 * a generation, store_pack.c for packed objects, store_restore.c for contents that are not reported.
 * Nothing here fails.
 */
#include "core/store/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/list.h"
#include "core/mutant.h"
#include "core/object/object.h"
#include "core/object/object_packer.h"
#include "core/object/version.h"
#include "core/store/generation.h"
#include "core/store/observers.h"
#include "core/store/store_internal.h"
/* ---- generations ---- */

struct generation *generation_new(struct inf_store *store)
{
    struct generation *g = NEW(struct generation);
    generation_init(g, store, &store->key, store->defs, store->n_defs);
    return g;
}

void generation_reserve(struct generation *generation, size_t objects)
{
    struct index_set *indexes = &generation->indexes;
    hashmap_reserve(&generation->by_key, objects);
    if (generation->store->packer.context)
        page_pool_supply(&indexes->pages, pack_memory_stock(generation->store->packer.context),
                         objects * indexes->entries.size);
}

size_t generation_count(const struct generation *generation)
{
    return generation->by_key.count;
}

size_t generation_bytes(const struct generation *generation)
{
    return generation->bytes;
}

/* Whether @e holds the object that readers see; either may be NULL. */
static bool holds_current(const struct entry *e, const struct entry *known)
{
    return e && known && e->object == known->object;
}

void generation_put(struct generation *next, const struct inf_object *object)
{
    uint64_t hash = generation_hash(next, object_key(object));
    struct entry *e = generation_find_hashed(next, object_key(object), hash);
    struct entry *known = generation_find_hashed(next->store->current, object_key(object), hash);
    const struct inf_object *held;
    next->unchanged -= holds_current(e, known);
    if (known && object_equal(known->object, object)) {
        held = inf_object_ref(known->object); /* no object is stored twice */
        next->unchanged++;
    } else {
        held = object_pack(&next->store->packer, object, generation_count(next));
    }
    if (e)
        inf_object_unref(generation_swap(next, e, held, object));
    else
        generation_add(next, held, object, hash);
}

void generation_delete(struct generation *next, const struct inf_object *object)
{
    struct entry *e = generation_find(next, object_key(object));
    if (!e)
        return;
    next->unchanged -= holds_current(e, generation_find(next->store->current, object_key(object)));
    inf_object_unref(generation_remove(next, e));
}

void generation_keep(struct generation *next, const struct inf_object *identity)
{
    if (next->n_kept == next->kept_capacity) {
        next->kept_capacity = next->kept_capacity ? next->kept_capacity * 2 : 8;
        next->kept = xrealloc(next->kept, next->kept_capacity * sizeof(*next->kept));
    }
    next->kept[next->n_kept++] = inf_object_ref(identity);
}

/* Kept objects count as unchanged, because their new state is unknown. */
bool generation_differs(const struct generation *next)
{
    size_t current = generation_count(next->store->current), count = generation_count(next);
    return next->unchanged != count || count > current || count + next->n_kept < current;
}

void store_discard(struct inf_store *store, struct generation *generation)
{
    if (generation)
        list_push(&store->discarded, &generation->node);
}

static bool free_discarded(struct inf_store *store, size_t *budget)
{
    struct list *node;
    while ((node = list_pop(&store->discarded))) {
        struct generation *g = container_of(node, struct generation, node);
        if (!generation_free_some(g, budget)) {
            list_push(&store->discarded, &g->node);
            return false;
        }
    }
    return true;
}

bool store_sweep(struct inf_store *store, size_t budget)
{
    return free_discarded(store, &budget);
}

/* ---- the store ---- */

struct inf_store *store_new(const struct siphash_key *key, const struct index_def *defs,
                            size_t n_defs)
{
    struct inf_store *store = NEW(struct inf_store);
    store->key = *key;
    store->defs = defs;
    store->n_defs = n_defs;
    list_init(&store->discarded);
    store->resource_version = xstrdup("");
    store->current = generation_new(store);
    store->lent = NEW(struct lent);
    store->observers = NEW(struct list);
    list_init(store->observers);
    object_packer_init(&store->packer, NULL, NULL, key->k0);
    return store;
}

bool store_free_some(struct inf_store *store, size_t budget)
{
    observers_end(store->observers);
    inf_cursor_end(&store->cursor);
    store_free_handed(store);
    store_discard(store, store->former);
    store_discard(store, store->current);
    store->former = store->current = NULL;
    if (!free_discarded(store, &budget))
        return false;
    inf_cursor_end(&store->repack_at);
    object_packer_free(&store->packer);
    store_take_back(store);
    buf_free(&store->handed);
    free(store->lent->objects);
    free(store->lent);
    free(store->observers);
    free(store->resource_version);
    free(store);
    return true;
}

/* Only a flip may move the version back: in a coalesced stream an older change can follow a newer
 * one. */
void store_advance(struct inf_store *store, const char *resource_version)
{
    store->version++;
    if (!version_is_older(resource_version, store->resource_version) &&
        strcmp(store->resource_version, resource_version) != 0)
        str_replace(&store->resource_version, resource_version);
}

void store_bookmark(struct inf_store *store, const char *resource_version)
{
    store_advance(store, resource_version);
}

/* Where the events of a change go: to the observers, then to the caller. */
struct emitter {
    struct inf_store *store;
    store_emit_fn emit;
    void *ctx;
};

/* @old_held and @new_held are the forms that the store held and holds, NULL: none. */
static void emit_event(const struct emitter *to, const struct inf_event *event,
                       const struct inf_object *old_held, const struct inf_object *new_held)
{
    struct inf_store_change change = {event, old_held, new_held};
    observers_change(to->store->observers, &change);
    to->emit(to->ctx, event);
}

static void emit_deleted(const struct emitter *to, const struct inf_object *object,
                         const struct inf_object *held, enum inf_origin origin, bool final)
{
    struct inf_event event = {
        .verb = INF_DELETED, .origin = origin, .old_object = object, .final = final};
    emit_event(to, &event, held, NULL);
}

static void emit_added(const struct emitter *to, const struct inf_object *object,
                       const struct inf_object *held, enum inf_origin origin)
{
    struct inf_event event = {
        .verb = INF_ADDED, .origin = origin, .new_object = object, .final = true};
    emit_event(to, &event, NULL, held);
}

/* Whether the server has not changed the object. We may store it with other fields than before. */
static bool is_same_state(const struct inf_object *a, const struct inf_object *b)
{
    return strcmp(inf_object_uid(a), inf_object_uid(b)) == 0 &&
           strcmp(inf_object_resource_version(a), inf_object_resource_version(b)) == 0;
}

/* A uid that changed under the same name is another object. The first one was deleted, and its last
 * state is unknown. */
static bool is_another(const struct inf_object *old, const struct inf_object *new)
{
    return strcmp(inf_object_uid(old), inf_object_uid(new)) != 0;
}

static bool is_unchanged(const struct inf_object *old, const struct inf_object *new)
{
    return object_equal(old, new) && !MUTANT("relist-emits-equal");
}

/* The ordinary form of @held, the previous state of @new. A damaged one of the same version was the same
 * as @new: nothing has changed, but the event makes its receivers save it again. */
static const struct inf_object *unpack_former(const struct inf_store *store,
                                              const struct inf_object *held,
                                              const struct inf_object *new)
{
    const struct inf_object *old = store_unpack(store, held);
    if (!object_is_damaged(old) || !is_same_state(old, new))
        return old;
    inf_object_unref(old);
    return inf_object_ref(new);
}

/* @held is the previous state, perhaps packed, and @new_held the form of @new in the store. */
static void emit_change(const struct emitter *to, const struct inf_object *held,
                        const struct inf_object *new, const struct inf_object *new_held,
                        enum inf_origin origin)
{
    const struct inf_object *old =
        MUTANT("old-state-packed") ? inf_object_ref(held) : unpack_former(to->store, held, new);
    struct inf_event event = {.verb = INF_MODIFIED,
                              .origin = origin,
                              .old_object = old,
                              .new_object = new,
                              .final = true};
    if (MUTANT("ignore-uid") || !is_another(old, new)) {
        emit_event(to, &event, held, new_held);
    } else {
        emit_deleted(to, old, held, origin, /* final= */ false);
        emit_added(to, new, new_held, origin);
    }
    inf_object_unref(old);
}

/* Reports @held as deleted in its last known state. */
static void emit_lost(const struct emitter *to, const struct inf_object *held,
                      enum inf_origin origin)
{
    const struct inf_object *old = store_unpack(to->store, held);
    emit_deleted(to, old, held, origin, /* final= */ false);
    inf_object_unref(old);
}

void store_put(struct inf_store *store, const struct inf_object *object, enum inf_origin origin,
               store_emit_fn emit, void *ctx)
{
    struct emitter to = {store, emit, ctx};
    uint64_t hash = generation_hash(store->current, object_key(object));
    struct entry *e = generation_find_hashed(store->current, object_key(object), hash);
    const struct inf_object *held, *old = NULL;
    store_advance(store, inf_object_resource_version(object));
    if (e && is_unchanged(e->object, object))
        return;
    held = object_pack(&store->packer, object, generation_count(store->current));
    if (e)
        old = generation_swap(store->current, e, held, object);
    else
        generation_add(store->current, held, object, hash);
    if (old)
        emit_change(&to, old, object, held, origin);
    else
        emit_added(&to, object, held, origin);
    inf_object_unref(old);
}

void store_delete(struct inf_store *store, const struct inf_object *object, store_emit_fn emit,
                  void *ctx)
{
    struct emitter to = {store, emit, ctx};
    struct entry *e = generation_find(store->current, object_key(object));
    const struct inf_object *old = e ? generation_remove(store->current, e) : NULL;
    store_advance(store, inf_object_resource_version(object));
    if (old && (object_is_identity(object) || is_another(old, object)))
        emit_lost(&to, old, INF_LIVE);
    else if (old || MUTANT("delete-unknown-emitted"))
        emit_deleted(&to, object, old, INF_LIVE, /* final= */ true);
    inf_object_unref(old);
}

/* ---- other definitions ---- */

void store_redefine(struct inf_store *store)
{
    store->redefined = true;
    observers_end(store->observers);
}

void store_set_indexes(struct inf_store *store, const struct index_def *defs, size_t n_defs)
{
    store->defs = defs;
    store->n_defs = n_defs;
}

/* ---- flip ---- */

/* @next is complete: it takes over the state that @former has of objects that can't be decoded. */
static void take_over_kept(struct generation *next, const struct generation *former)
{
    for (size_t i = 0; i < next->n_kept && !MUTANT("skipped-not-kept"); i++) {
        const struct inf_object *identity = next->kept[i];
        struct entry *e = generation_find(former, object_key(identity));
        if (e && object_may_be(e->object, identity) &&
            !generation_find(next, object_key(identity))) {
            const struct inf_object *object = object_unpack(e->object); /* or what is known of it */
            generation_put(next, object);
            inf_object_unref(object);
        }
    }
    generation_forget_kept(next);
}

void store_flip(struct inf_store *store, struct generation *next, const char *resource_version,
                enum inf_origin origin)
{
    assert(store->phase == FLIP_DONE);
    take_over_kept(next, store->current);
    store->former = store->current;
    store->current = next;
    store->phase = FLIP_DELETED;
    store->origin = origin;
    store->version++;
    object_packer_list_ended(&store->packer, generation_count(next));
    store_restart_repacking(store);
    str_replace(&store->resource_version, resource_version);
    observers_replaced(store->observers, /* begins= */ true);
}

static const struct inf_object *next_flip_object(struct inf_store *store,
                                                 const struct generation *g)
{
    struct entry *e = generation_next(g, store->version, "", &store->cursor);
    return e ? e->object : NULL;
}

/* Emits what is in `former` and not in `current`. Returns false if the budget ran out. */
static bool emit_all_deleted(const struct emitter *to, size_t *budget)
{
    struct inf_store *store = to->store;
    const struct inf_object *old;
    while (*budget && (old = next_flip_object(store, store->former))) {
        if (generation_find(store->current, object_key(old)) || MUTANT("no-tombstones")) {
            --*budget;
            continue;
        }
        store_charge(budget, old);
        emit_lost(to, old, store->origin);
    }
    return *budget > 0;
}

static bool emit_all_present(const struct emitter *to, size_t *budget)
{
    struct inf_store *store = to->store;
    const struct inf_object *held, *new;
    while (*budget && (held = next_flip_object(store, store->current))) {
        struct entry *was = generation_find(store->former, object_key(held));
        if (was && (is_unchanged(was->object, held) ||
                    (store->redefined && is_same_state(was->object, held) &&
                     !object_is_damaged(was->object)))) {
            --*budget;
            continue;
        }
        store_charge(budget, held);
        new = store_unpack(store, held);
        if (was)
            emit_change(to, was->object, new, held, store->origin);
        else
            emit_added(to, new, held, store->origin);
        inf_object_unref(new);
    }
    return *budget > 0;
}

typedef bool (*emit_all_fn)(const struct emitter *to, size_t *budget);

bool store_emit_some(struct inf_store *store, size_t budget, store_emit_fn emit, void *ctx)
{
    struct emitter to = {store, emit, ctx};
    bool swapped = MUTANT("deletes-after-adds");
    emit_all_fn first = swapped ? emit_all_present : emit_all_deleted;
    emit_all_fn second = swapped ? emit_all_deleted : emit_all_present;
    switch (store->phase) {
    case FLIP_DONE: return true;
    case FLIP_DELETED:
        if (!first(&to, &budget))
            return false;
        inf_cursor_end(&store->cursor);
        store->phase = FLIP_PRESENT;
        __attribute__((fallthrough));
    case FLIP_PRESENT:
        if (!second(&to, &budget))
            return false;
        inf_cursor_end(&store->cursor);
        store_discard(store, store->former); /* freed in slices */
        store->former = NULL;
        store->phase = FLIP_DONE;
        store->redefined = false;
        observers_replaced(store->observers, /* begins= */ false);
        return true;
    }
    return true;
}

/* ---- reading ---- */

const struct inf_object *store_form_of(const struct inf_store *store,
                                       const struct inf_object *object)
{
    struct str labels;
    return store_form_labelled(store, object, &labels);
}

const struct inf_object *store_form_labelled(const struct inf_store *store,
                                             const struct inf_object *object,
                                             struct str *ret_labels)
{
    struct entry *e = generation_find(store->current, object_key(object));
    if (!e || !is_same_state(e->object, object))
        return NULL;
    *ret_labels = index_entry_labels(e);
    return e->object;
}

struct generation *store_current(const struct inf_store *store)
{
    return store->current;
}

const struct inf_object *store_held(const struct inf_store *store, const struct inf_object *object)
{
    struct entry *e = generation_find(store->current, object_key(object));
    return e ? e->object : NULL;
}

uint64_t store_version(const struct inf_store *store)
{
    return store->version;
}

const char *inf_store_resource_version(const struct inf_store *store)
{
    return store->resource_version;
}

void inf_store_observe(const struct inf_store *store, struct inf_store_observer *observer)
{
    observers_add(store->observers, observer);
}
