/*
 * state_index.c - open addressing with linear probing in 32 shards. A slot takes 20 bytes; shards
 * are between 3/8 and 3/4 full. The numbers of listed objects are in an array beside the slots that
 * exists only while there are any. Slots are in memory of malloc(), or while a state is loaded in regions of
 * base/page_pool.h.
 */
#include "core/state/state_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page_pool.h"

enum {
    FIRST_CAP = 8,
    SHARD_EXPECTED_MAX = 1 << 16, /* LIMIT: slots that are allocated for what is only expected */
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

/* Zeroed by writing. Memory of calloc() would be read first, which maps a page of zeros, and then written: two page
 * faults, and an interrupt of the processors that run the pool. */
static void *zeroed(size_t count, size_t size)
{
    return memset(xmalloc(count * size), 0, count * size);
}

/* A block with room for @bytes, from 1; 0: there is none. */
static uint32_t find_block(struct live_index *index, size_t bytes)
{
    for (uint32_t i = 0; index->stock && bytes <= REGION_SIZE && i < INDEX_SHARDS; i++) {
        struct index_block *block = &index->blocks[i];
        if (!block->region) {
            block->region = page_stock_take(index->stock);
            block->used = 0;
        }
        if (!block->region)
            break;
        if (REGION_SIZE - block->used >= bytes)
            return i + 1;
    }
    return 0;
}

/* Huge pages of regions have their memory already, and one entry in the cache of address translations instead of
 * 512. Gain: 6 of 67 ms of the loop's CPU time for 100,000 objects (bench_state start). */
static void take_slots(struct live_index *index, struct index_shard *shard)
{
    size_t bytes = shard->cap * sizeof(*shard->slots);
    struct index_block *block;
    shard->block = find_block(index, bytes);
    if (!shard->block) {
        shard->slots = zeroed(shard->cap, sizeof(*shard->slots));
        return;
    }
    block = &index->blocks[shard->block - 1];
    shard->slots = (void *)((char *)page_region_memory(block->region) + block->used);
    block->used += bytes;
    block->shards++;
}

static void give_slots(struct live_index *index, struct index_shard *shard)
{
    struct index_block *block;
    if (!shard->block) {
        free(shard->slots);
        return;
    }
    block = &index->blocks[shard->block - 1];
    if (--block->shards)
        return;
    page_region_free(block->region);
    block->region = NULL;
}

static void shard_grow(struct live_index *index, struct index_shard *shard)
{
    struct index_shard old = *shard;
    shard->cap = old.cap ? old.cap * 2 : FIRST_CAP;
    if (shard->cap < index->shard_min)
        shard->cap = index->shard_min;
    take_slots(index, shard);
    shard->loaded = old.loaded ? zeroed(shard->cap, sizeof(*shard->loaded)) : NULL;
    for (uint32_t i = 0; i < old.cap; i++) {
        uint32_t to;
        if (!old.slots[i].place.segment)
            continue;
        to = shard_seek(shard, slot_hash(&old.slots[i]));
        shard->slots[to] = old.slots[i];
        if (old.loaded)
            shard->loaded[to] = old.loaded[i];
    }
    give_slots(index, &old);
    free(old.loaded);
}

/* ---- listed objects ---- */

/* Releases the listed object of slot @i, if it was not taken. */
static void drop_loaded(struct live_index *index, struct index_shard *shard, uint32_t i)
{
    if (!shard->loaded || !shard->loaded[i])
        return;
    loaded_list_release(&index->loaded, shard->loaded[i]);
    shard->loaded[i] = 0;
}

bool live_index_take(struct live_index *index, struct loaded_object *ret_object)
{
    if (loaded_list_take(&index->loaded, ret_object))
        return true;
    for (int s = 0; s < INDEX_SHARDS; s++) {
        free(index->shards[s].loaded);
        index->shards[s].loaded = NULL;
    }
    loaded_list_free_some(&index->loaded, SIZE_MAX);
    return false;
}

/* ---- places ---- */

/* Shards are of about the same size: an eighth more is enough. A small index needs no region. */
void live_index_expect(struct live_index *index, size_t count, struct page_stock *stock)
{
    size_t used = count / INDEX_SHARDS / 8 * 9, cap = FIRST_CAP;
    while (cap / 4 * 3 < used && cap < SHARD_EXPECTED_MAX)
        cap *= 2;
    index->shard_min = stock ? (uint32_t)cap : 0;
    index->stock = cap * INDEX_SHARDS * sizeof(struct index_slot) >= REGION_SIZE / 2 ? stock : NULL;
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

struct place live_index_put(struct live_index *index, uint64_t hash, struct place place)
{
    struct index_shard *shard = shard_of(index, hash);
    struct place old;
    uint32_t i;
    if (shard->used + 1 > shard->cap / 4 * 3)
        shard_grow(index, shard);
    i = shard_seek(shard, hash);
    old = shard->slots[i].place;
    shard->slots[i] = (struct index_slot){{(uint32_t)hash, (uint32_t)(hash >> 32)}, place};
    drop_loaded(index, shard, i);
    if (!old.segment) {
        shard->used++;
        index->count++;
    }
    return old;
}

void live_index_list(struct live_index *index, struct loaded_object object)
{
    struct index_shard *shard = shard_of(index, object.hash);
    if (!shard->loaded)
        shard->loaded = zeroed(shard->cap, sizeof(*shard->loaded));
    shard->loaded[shard_seek(shard, object.hash)] = loaded_list_add(&index->loaded, object);
}

void live_index_prefetch(struct live_index *index, uint64_t hash)
{
    const struct index_shard *shard = shard_of(index, hash);
    uint32_t i = (uint32_t)hash & (shard->cap - 1);
    if (!shard->cap)
        return;
    __builtin_prefetch(&shard->slots[i], /* for writing */ 1);
    if (shard->loaded)
        __builtin_prefetch(&shard->loaded[i], 1);
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
        if (shard->loaded)
            shard->loaded[i] = shard->loaded[next];
        i = next;
    }
    shard->slots[i].place.segment = 0;
    if (shard->loaded)
        shard->loaded[i] = 0;
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
    drop_loaded(index, shard, i);
    close_gap(shard, i);
    shard->used--;
    index->count--;
    return old;
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
    size_t bytes = index->loaded.cap * sizeof(*index->loaded.objects);
    for (int s = 0; s < INDEX_SHARDS; s++) {
        const struct index_shard *shard = &index->shards[s];
        bytes += shard->cap * (sizeof(*shard->slots) + (shard->loaded ? sizeof(uint32_t) : 0));
    }
    return bytes;
}

struct loaded_list live_index_clear(struct live_index *index)
{
    struct loaded_list loaded = index->loaded;
    for (int s = 0; s < INDEX_SHARDS; s++) {
        free(index->shards[s].loaded);
        give_slots(index, &index->shards[s]);
    }
    *index = (struct live_index){0};
    return loaded;
}
