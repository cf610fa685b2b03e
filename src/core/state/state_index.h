/*
 * state_index.h - where the current record of each object of a stream is: a hash of its key ->
 * (file, offset, size).
 *
 * It holds no keys: two keys with the same 64-bit hash would be taken for one object. The hash is
 * keyed, so that no peer can choose such keys; by chance it happens among a million objects with a
 * probability of 3 in 10^8.
 *
 * While a stream is restored, the index also knows which of its loaded objects are listed, until they are taken
 * (state_loaded.h).
 */
#ifndef CORE_STATE_INDEX_H
#define CORE_STATE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/state/state_loaded.h"

struct page_region;
struct page_stock;

enum {
    INDEX_SHARDS = 32, /* each grows alone, so that no step takes long */
};

/* A record in a file. */
struct place {
    uint32_t segment; /* 0: none */
    uint32_t offset;
    uint32_t len;
};

struct index_slot {
    uint32_t hash[2];
    struct place place;
};

struct index_shard {
    struct index_slot *slots;
    uint32_t
        *loaded;  /* of each slot: its number in the list of loaded objects, from 1; NULL: none */
    uint32_t cap; /* a power of two, or 0 */
    uint32_t used;
    uint32_t block; /* that has `slots`, from 1; 0: malloc() */
};

/* Memory of several shards. It is freed with the last one that has left it. */
struct index_block {
    struct page_region *region; /* NULL: not used */
    size_t used;                /* bytes */
    unsigned shards;
};

/* A zeroed struct is empty. */
struct live_index {
    struct index_shard shards[INDEX_SHARDS];
    size_t count;
    uint32_t shard_min;       /* slots that a shard gets when it grows; 0: twice as many */
    struct page_stock *stock; /* of live_index_expect() */
    struct index_block blocks[INDEX_SHARDS];
    struct loaded_list loaded;
};

/* About @count places are expected: a shard that grows gets room for its part of them at once, in regions of
 * @stock, if there are any. @stock is borrowed until this is called with NULL. */
void live_index_expect(struct live_index *index, size_t count, struct page_stock *stock);

/* The place under @hash, or NULL; valid until the next change. */
struct place *live_index_find(struct live_index *index, uint64_t hash);

/* Sets the place under @hash. Returns the place it had before; segment 0: none. A listed object is
 * released. */
struct place live_index_put(struct live_index *index, uint64_t hash, struct place place);

/* Lists the loaded object whose place was put under its hash just now (takes over its references). */
void live_index_list(struct live_index *index, struct loaded_object object);

/* Fetches the memory that a put under @hash needs. */
void live_index_prefetch(struct live_index *index, uint64_t hash);

/* Removes it; returns the place it had. */
struct place live_index_remove(struct live_index *index, uint64_t hash);

/* Takes the next listed object, with its references, when all are sorted. Returns false if there are no
 * more; then their list was freed. */
bool live_index_take(struct live_index *index, struct loaded_object *ret_object);

/* Calls @visit for each place. */
void live_index_visit(const struct live_index *index,
                      void (*visit)(void *ctx, const struct place *place), void *ctx);

size_t live_index_memory(const struct live_index *index);

/* Frees everything but the listed objects, which it returns; it is empty afterwards. */
struct loaded_list live_index_clear(struct live_index *index);

#endif
