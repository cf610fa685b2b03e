/*
 * hashmap.h - an intrusive hash map with chains that is resized incrementally.
 *
 * Moving a table of 100,000 entries at once would block the loop for milliseconds. A resize therefore
 * keeps both tables, and each add or remove moves a few chains; find looks in the one chain that can
 * hold the entry.
 */
#ifndef BASE_HASHMAP_H
#define BASE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_node {
    struct hash_node *next;
    uint64_t hash;
};

struct hash_table {
    struct hash_node **chains;
    size_t mask; /* number of chains - 1; the number is a power of two */
};

struct hashmap {
    struct hash_table now;
    struct hash_table before; /* chains is NULL unless a resize is in progress */
    size_t moved;             /* chains of `before` below this index were moved and are empty */
    size_t count;
    size_t expected; /* hashmap_expect(); 0: unknown */
    bool reserved;   /* nothing was removed since hashmap_reserve(): it is not made smaller */
};

typedef bool (*hash_same)(const void *key, const struct hash_node *node);

/* A zeroed struct is an empty map. Frees the tables only; the caller owns the nodes. */
void hashmap_free(struct hashmap *map);

/* Makes room for @count entries, in a map that is empty: they are added without a resize. It is made smaller
 * only after one was removed. */
void hashmap_reserve(struct hashmap *map, size_t count);

/* About @count entries are expected: when the map grows, it gets room for all of them at once. It is not made smaller
 * until none are expected: @count 0. */
void hashmap_expect(struct hashmap *map, size_t count);

struct hash_node *hashmap_find(const struct hashmap *map, uint64_t hash, hash_same same,
                               const void *key);

/* Fetches the memory that an addition under @hash needs. */
void hashmap_prefetch(const struct hashmap *map, uint64_t hash);

/* Adds @node under @hash. Its key must not be in the map. */
void hashmap_add(struct hashmap *map, struct hash_node *node, uint64_t hash);

/* Removes @node, which must be in the map. */
void hashmap_remove(struct hashmap *map, struct hash_node *node);

#endif
