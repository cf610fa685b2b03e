/*
 * store_pack.c - packs the objects of a store, and lends unpacked ones to readers.
 *
 * Changes pack what they add (store.c). store_repack_some() packs the rest in slices: all objects after
 * packing was switched on, those with an older dictionary later. A reader gets an ordinary object, which the
 * store keeps until store_take_back(). A restored object whose frame is damaged is reported to the owner,
 * and its reader gets what is known without it.
 */
#include "base/alloc.h"
#include "core/object/object.h"
#include "core/store/generation.h"
#include "core/store/store_internal.h"

void store_restart_repacking(struct inf_store *store)
{
    inf_cursor_end(&store->repack_at);
    store->repacking = true;
    store->repacked = store->packer.dictionaries;
}

void store_pack(struct inf_store *store, struct pack_context *context,
                const struct pack_limits *limits)
{
    if (context == store->packer.context)
        return;
    object_packer_free(&store->packer);
    object_packer_init(&store->packer, context, limits, store->key.k0);
    store_restart_repacking(store);
}

bool store_repack_some(struct inf_store *store, size_t budget)
{
    struct entry *e = NULL;
    if (object_packer_continue(&store->packer))
        return false;
    if (store->repacked != store->packer.dictionaries)
        store_restart_repacking(store);
    if (!store->repacking)
        return true;
    while (budget > 0 &&
           (e = generation_next(store->current, store->version, "", &store->repack_at))) {
        if (!object_repack_is_due(&store->packer, e->object)) {
            budget--;
            continue;
        }
        store_charge(&budget, e->object);
        generation_replace_form(store->current, e, object_repack(&store->packer, e->object));
    }
    if (e)
        return false;
    inf_cursor_end(&store->repack_at);
    store->repacking = false;
    if (store->packer.context)
        memory_trim(); /* of a first list and its events: a fifth of a cache of 10,000 pods */
    return true;
}

void store_set_events(struct inf_store *store, const struct store_events *events, void *ctx)
{
    store->lent->events = events;
    store->lent->ctx = ctx;
}

const struct inf_object *store_unpack(const struct inf_store *store, const struct inf_object *held)
{
    const struct inf_object *object = object_unpack(held);
    const struct lent *lent = store->lent;
    if (object_is_damaged(object) && lent->events && lent->events->on_damaged)
        lent->events->on_damaged(lent->ctx);
    return object;
}

const struct inf_object *store_lend(const struct inf_store *store, const struct inf_object *held)
{
    struct lent *lent = store->lent;
    const struct inf_object *object;
    if (!object_is_packed(held)) /* the store itself keeps it */
        return held;
    object = store_unpack(store, held);
    if (lent->count == lent->capacity) {
        lent->capacity = lent->capacity ? lent->capacity * 2 : 8;
        lent->objects = xrealloc(lent->objects, lent->capacity * sizeof(struct inf_object *));
    }
    lent->objects[lent->count++] = object;
    if (lent->count == 1 && lent->events)
        lent->events->on_lend(lent->ctx);
    return object;
}

void store_take_back(struct inf_store *store)
{
    for (size_t i = 0; i < store->lent->count; i++)
        inf_object_unref(store->lent->objects[i]);
    store->lent->count = 0;
}
