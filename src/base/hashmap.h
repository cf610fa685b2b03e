/*
 * hashmap.h - an intrusive hash map with chains, which grows and shrinks a little at a time.
 *
 * A table of 100,000 entries moved in one go would hold the loop for milliseconds. So a resize
 * keeps both tables and each add or remove moves a few chains over; find looks in the one place
 * where the entry can be.
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
    size_t mask; /* number of chains - 1; a power of two less one */
};

struct hashmap {
    struct hash_table now;
    struct hash_table before; /* chains is NULL unless a resize is under way */
    size_t moved;             /* chains of `before` below this one are empty: they were moved */
    size_t count;
};

typedef bool (*hash_same)(const void *key, const struct hash_node *node);

/* A zeroed struct is an empty map. Frees the tables only: the nodes are the caller's. */
void hashmap_free(struct hashmap *map);

struct hash_node *hashmap_find(const struct hashmap *map, uint64_t hash, hash_same same,
                               const void *key);

/* Adds @node under @hash; the caller knows that its key is not there yet. */
void hashmap_add(struct hashmap *map, struct hash_node *node, uint64_t hash);

/* Takes out @node, which is in the map. */
void hashmap_remove(struct hashmap *map, struct hash_node *node);

#endif
