/*
 * state_index.c - open addressing with linear probing in 32 shards. A slot takes 20 bytes; shards
 * are between 3/8 and 3/4 full. Loaded objects are in an array beside the slots that exists only
 * while there are any.
 */
#include "core/state/state_index.h"

#include <stdlib.h>
#include <string.h>

#include "informer/object.h"

#include "base/alloc.h"

enum {
    FIRST_CAP = 8,
};

static struct index_shard *shard_of(struct live_index *index, uint64_t hash)
{
    return &index->shards[hash >> 59];
}

static uint64_t slot_hash(const struct index_slot *slot)
{
    return (uint64_t)slot->hash[1] << 32 | slot->hash[0];
}

/* The slot of @hash, or the empty one where it belongs. The shard has an empty slot. */
static uint32_t shard_seek(const struct index_shard *shard, uint64_t hash)
{
    uint32_t i = (uint32_t)hash & (shard->cap - 1);
    while (shard->slots[i].place.segment && slot_hash(&shard->slots[i]) != hash)
        i = (i + 1) & (shard->cap - 1);
    return i;
}

static void shard_grow(struct index_shard *shard)
{
    struct index_shard old = *shard;
    shard->cap = old.cap ? old.cap * 2 : FIRST_CAP;
    shard->slots = xcalloc(shard->cap, sizeof(*shard->slots));
    shard->objects = old.objects ? xcalloc(shard->cap, sizeof(*shard->objects)) : NULL;
    for (uint32_t i = 0; i < old.cap; i++) {
        uint32_t to;
        if (!old.slots[i].place.segment)
            continue;
        to = shard_seek(shard, slot_hash(&old.slots[i]));
        shard->slots[to] = old.slots[i];
        if (old.objects)
            shard->objects[to] = old.objects[i];
    }
    free(old.slots);
    free(old.objects);
}

/* Slots of @shard move: it is searched for loaded objects from its beginning again. */
static void restart_take(struct live_index *index, const struct index_shard *shard)
{
    if (index->take_shard < INDEX_SHARDS && shard == &index->shards[index->take_shard])
        index->take_slot = 0;
}

/* Replaces the loaded object of slot @i. */
static void set_object(struct live_index *index, struct index_shard *shard, uint32_t i,
                       const struct inf_object *object)
{
    if (!shard->objects && object)
        shard->objects = xcalloc(shard->cap, sizeof(*shard->objects));
    if (!shard->objects)
        return;
    if (shard->objects[i]) {
        inf_object_unref(shard->objects[i]);
        index->loaded--;
    }
    shard->objects[i] = object;
    index->loaded += object != NULL;
}

struct place *live_index_find(struct live_index *index, uint64_t hash)
{
    struct index_shard *shard = shard_of(index, hash);
    uint32_t i;
    if (!shard->cap)
        return NULL;
    i = shard_seek(shard, hash);
    return shard->slots[i].place.segment ? &shard->slots[i].place : NULL;
}

struct place live_index_put(struct live_index *index, uint64_t hash, struct place place,
                            const struct inf_object *object)
{
    struct index_shard *shard = shard_of(index, hash);
    struct place old;
    uint32_t i;
    if (shard->used + 1 > shard->cap / 4 * 3) {
        shard_grow(shard);
        restart_take(index, shard);
    }
    i = shard_seek(shard, hash);
    old = shard->slots[i].place;
    shard->slots[i] = (struct index_slot){{(uint32_t)hash, (uint32_t)(hash >> 32)}, place};
    set_object(index, shard, i, object);
    if (!old.segment) {
        shard->used++;
        index->count++;
    }
    return old;
}

/* Moves later slots of the run to the gap at @i, so that all of them are found. */
static void close_gap(struct index_shard *shard, uint32_t i)
{
    uint32_t mask = shard->cap - 1, next = (i + 1) & mask;
    for (; shard->slots[next].place.segment; next = (next + 1) & mask) {
        uint32_t home = shard->slots[next].hash[0] & mask;
        if (((next - home) & mask) < ((next - i) & mask))
            continue; /* it is between its home and the gap */
        shard->slots[i] = shard->slots[next];
        if (shard->objects)
            shard->objects[i] = shard->objects[next];
        i = next;
    }
    shard->slots[i].place.segment = 0;
    if (shard->objects)
        shard->objects[i] = NULL;
}

struct place live_index_remove(struct live_index *index, uint64_t hash)
{
    struct index_shard *shard = shard_of(index, hash);
    struct place old = {0};
    uint32_t i;
    if (!shard->cap)
        return old;
    i = shard_seek(shard, hash);
    old = shard->slots[i].place;
    if (!old.segment)
        return old;
    set_object(index, shard, i, NULL);
    close_gap(shard, i);
    restart_take(index, shard);
    shard->used--;
    index->count--;
    return old;
}

const struct inf_object *live_index_take(struct live_index *index)
{
    while (index->take_shard < INDEX_SHARDS) {
        struct index_shard *shard = &index->shards[index->take_shard];
        while (shard->objects && index->take_slot < shard->cap) {
            const struct inf_object *object = shard->objects[index->take_slot];
            shard->objects[index->take_slot++] = NULL;
            if (!object)
                continue;
            index->loaded--;
            return object;
        }
        free(shard->objects);
        shard->objects = NULL;
        index->take_slot = 0;
        index->take_shard++;
    }
    return NULL;
}

void live_index_visit(const struct live_index *index,
                      void (*visit)(void *ctx, const struct place *place), void *ctx)
{
    for (int s = 0; s < INDEX_SHARDS; s++)
        for (uint32_t i = 0; i < index->shards[s].cap; i++)
            if (index->shards[s].slots[i].place.segment)
                visit(ctx, &index->shards[s].slots[i].place);
}

size_t live_index_memory(const struct live_index *index)
{
    size_t bytes = 0;
    for (int s = 0; s < INDEX_SHARDS; s++) {
        const struct index_shard *shard = &index->shards[s];
        bytes += shard->cap * (sizeof(*shard->slots) + (shard->objects ? sizeof(void *) : 0));
    }
    return bytes;
}

void live_index_clear(struct live_index *index)
{
    for (int s = 0; s < INDEX_SHARDS; s++) {
        struct index_shard *shard = &index->shards[s];
        for (uint32_t i = 0; shard->objects && i < shard->cap; i++)
            if (shard->objects[i])
                inf_object_unref(shard->objects[i]);
        free(shard->objects);
        free(shard->slots);
    }
    *index = (struct live_index){0};
}
