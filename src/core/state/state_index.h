/*
 * state_index.h - where the current record of each object of a stream is: a hash of its key ->
 * (file, offset, size).
 *
 * It holds no keys: two keys with the same 64-bit hash would be taken for one object. The hash is
 * keyed, so that no peer can choose such keys; by chance it happens among a million objects with a
 * probability of 3 in 10^8.
 *
 * While a stream is restored, the index also holds its loaded objects, until they are taken.
 */
#ifndef CORE_STATE_INDEX_H
#define CORE_STATE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inf_object;

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
    const struct inf_object **objects; /* references; NULL: no loaded objects */
    uint32_t cap;                      /* a power of two, or 0 */
    uint32_t used;
};

/* A zeroed struct is empty. */
struct live_index {
    struct index_shard shards[INDEX_SHARDS];
    size_t count;
    size_t loaded;                  /* objects that were not taken */
    uint32_t take_shard, take_slot; /* all before it were taken */
};

/* The place under @hash, or NULL; valid until the next change. */
struct place *live_index_find(struct live_index *index, uint64_t hash);

/* Sets the place under @hash, and the loaded object (takes over the reference; NULL: none). Returns
 * the place it had before; segment 0: none. */
struct place live_index_put(struct live_index *index, uint64_t hash, struct place place,
                            const struct inf_object *object);

/* Removes it; returns the place it had. */
struct place live_index_remove(struct live_index *index, uint64_t hash);

/* The next loaded object, with its reference; NULL: there are no more. */
const struct inf_object *live_index_take(struct live_index *index);

/* Calls @visit for each place. */
void live_index_visit(const struct live_index *index,
                      void (*visit)(void *ctx, const struct place *place), void *ctx);

size_t live_index_memory(const struct live_index *index);

/* Frees everything; it is empty afterwards. */
void live_index_clear(struct live_index *index);

#endif
