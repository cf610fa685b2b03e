/*
 * fifo.c - a growing ring of deltas; with coalescing, also a hash table from key to entry.
 *
 * fifo.h has the contract. Nothing here fails; the pipeline limits the number of entries.
 */
#include "core/dispatch/fifo.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "core/mutant.h"
#include "core/object/object.h"

enum {
    RING_FIRST = 8, /* capacity of an idle informer */
};

/* The entry of a key, if the FIFO coalesces. */
struct pending {
    struct hash_node node;
    struct fifo_slot *slot;
};

struct fifo_slot {
    struct delta delta;
    struct pending *pending; /* NULL: later deltas of its key don't replace it */
};

static struct fifo_slot *slot_at(const struct fifo *fifo, size_t i)
{
    return &fifo->ring[(fifo->first + i) & (fifo->capacity - 1)];
}

static size_t delta_bytes(const struct delta *delta)
{
    return sizeof(struct fifo_slot) + (delta->object ? inf_object_size(delta->object) : 0);
}

/* ---- coalescing ---- */

static bool is_pending_of(const void *key, const struct hash_node *node)
{
    const struct pending *p = container_of(node, struct pending, node);
    return str_eq(*(const struct str *)key, object_key(p->slot->delta.object));
}

static void forget_pending(struct fifo *fifo, struct fifo_slot *slot)
{
    if (!slot->pending)
        return;
    hashmap_remove(&fifo->by_key, &slot->pending->node);
    free(slot->pending);
    slot->pending = NULL;
}

/* A new generation is compared with the store when it is applied: no later delta may move before
 * it. */
static void forget_all_pending(struct fifo *fifo)
{
    for (size_t i = 0; i < fifo->count && fifo->by_key.count; i++)
        forget_pending(fifo, slot_at(fifo, i));
}

void fifo_coalesce(struct fifo *fifo, const struct siphash_key *key)
{
    forget_all_pending(fifo);
    fifo->coalesce = key != NULL;
    if (key)
        fifo->key = *key;
}

/* ---- in and out ---- */

static struct fifo_slot *fifo_append(struct fifo *fifo, const struct delta *delta)
{
    struct fifo_slot *slot;
    if (fifo->count == fifo->capacity) {
        size_t capacity = fifo->capacity ? fifo->capacity * 2 : RING_FIRST;
        struct fifo_slot *ring = xcalloc(capacity, sizeof(*ring));
        for (size_t i = 0; i < fifo->count; i++) {
            ring[i] = *slot_at(fifo, i);
            if (ring[i].pending)
                ring[i].pending->slot = &ring[i];
        }
        free(fifo->ring);
        fifo->ring = ring;
        fifo->capacity = capacity;
        fifo->first = 0;
    }
    slot = slot_at(fifo, fifo->count++);
    *slot = (struct fifo_slot){.delta = *delta};
    fifo->lists += delta->type == DELTA_REPLACED;
    fifo->bytes += delta_bytes(delta);
    return slot;
}

/* Replaces the entry of the same key, or appends one. */
static void push_coalesced(struct fifo *fifo, const struct delta *delta)
{
    struct str key = object_key(delta->object);
    uint64_t hash = siphash13(&fifo->key, key.at, key.len);
    struct hash_node *node = hashmap_find(&fifo->by_key, hash, is_pending_of, &key);
    struct fifo_slot *slot;
    if (node) {
        slot = container_of(node, struct pending, node)->slot;
        fifo->bytes += delta_bytes(delta) - delta_bytes(&slot->delta);
        delta_done(&slot->delta);
        slot->delta = *delta;
        fifo->merged++;
        return;
    }
    slot = fifo_append(fifo, delta);
    slot->pending = NEW(struct pending);
    slot->pending->slot = slot;
    hashmap_add(&fifo->by_key, &slot->pending->node, hash);
}

void fifo_push(struct fifo *fifo, const struct delta *delta)
{
    if (fifo->coalesce && delta->type == DELTA_REPLACED)
        forget_all_pending(fifo);
    if (fifo->coalesce && delta->object)
        push_coalesced(fifo, delta);
    else
        fifo_append(fifo, delta);
}

bool fifo_pop(struct fifo *fifo, struct delta *ret_delta)
{
    struct fifo_slot *slot;
    if (!fifo->count)
        return false;
    slot = slot_at(fifo, 0);
    if (MUTANT("fifo-reorders") && fifo->count > 1) {
        struct fifo_slot first = *slot;
        *slot = *slot_at(fifo, 1);
        *slot_at(fifo, 1) = first;
    }
    forget_pending(fifo, slot);
    *ret_delta = slot->delta;
    fifo->bytes -= delta_bytes(ret_delta);
    fifo->lists -= ret_delta->type == DELTA_REPLACED;
    fifo->first = (fifo->first + 1) & (fifo->capacity - 1);
    fifo->count--;
    if (!fifo->count && fifo->capacity > RING_FIRST) { /* free a ring that grew */
        free(fifo->ring);
        fifo->ring = NULL;
        fifo->capacity = fifo->first = 0;
    }
    return true;
}

void delta_done(struct delta *delta)
{
    inf_object_unref(delta->object);
    inf_object_unref(delta->about);
    free(delta->resource_version);
    free(delta->text);
    *delta = (struct delta){0};
}

void fifo_free(struct fifo *fifo)
{
    struct delta delta;
    while (fifo_pop(fifo, &delta))
        delta_done(&delta);
    hashmap_free(&fifo->by_key);
    free(fifo->ring);
    *fifo = (struct fifo){0};
}
