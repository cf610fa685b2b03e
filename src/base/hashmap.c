/*
 * hashmap.c - chained hashing with incremental resizing: each add or remove moves a few chains.
 *
 * Gain over a table that is moved at once: the longest tick of a first sync of 100,000 objects is
 * 1.2 instead of 4.3 ms (test/bench/bench_engine), the longest add to 1,000,000 entries takes 0.2
 * instead of 90 ms.
 */
#include "base/hashmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    CHAINS_MIN = 16,
    MOVED_A_CALL = 8,             /* enough to finish long before the next resize is due */
    ZEROED_MAX = 4 * 1024 * 1024, /* bytes; more would hold the loop for a millisecond */
    MOVED_A_SHRINK = 64,          /* at most one chain in eight has an entry: as much work */
};

void hashmap_free(struct hashmap *map)
{
    free(map->now.chains);
    free(map->before.chains);
    *map = (struct hashmap){0};
}

static struct hash_node **chain_of(const struct hashmap *map, uint64_t hash)
{
    if (map->before.chains && (hash & map->before.mask) >= map->moved)
        return &map->before.chains[hash & map->before.mask];
    return &map->now.chains[hash & map->now.mask];
}

static void move_some(struct hashmap *map)
{
    int some = map->now.mask < map->before.mask ? MOVED_A_SHRINK : MOVED_A_CALL;
    if (!map->before.chains)
        return;
    for (int i = 0; i < some && map->moved <= map->before.mask; i++) {
        struct hash_node *node = map->before.chains[map->moved], *next;
        map->before.chains[map->moved++] = NULL;
        for (; node; node = next) {
            struct hash_node **chain = &map->now.chains[node->hash & map->now.mask];
            next = node->next;
            node->next = *chain;
            *chain = node;
        }
    }
    if (map->moved > map->before.mask) {
        free(map->before.chains);
        map->before = (struct hash_table){0};
    }
}

/* A table that is filled soon is zeroed by writing: memory of calloc() would be read first, which maps a page of zeros,
 * and then written, which is another page fault, and an interrupt of the other processors. */
static struct hash_node **new_chains(size_t chains, bool soon)
{
    size_t bytes = chains * sizeof(struct hash_node *);
    if (!soon || bytes > ZEROED_MAX)
        return xcalloc(chains, sizeof(struct hash_node *));
    return memset(xmalloc(bytes), 0, bytes);
}

static void start_resize(struct hashmap *map, size_t chains)
{
    map->before = map->now;
    map->moved = 0;
    map->now.chains = new_chains(chains, map->expected > 0);
    map->now.mask = chains - 1;
}

/* Enough for @count entries. */
static size_t chains_for(size_t count)
{
    size_t chains = CHAINS_MIN;
    while (chains <= count)
        chains *= 2;
    return chains;
}

static void grow(struct hashmap *map, size_t chains)
{
    size_t expected = chains_for(map->expected);
    start_resize(map, expected > chains ? expected : chains);
}

/* Grows at one entry per chain; shrinks to a quarter when an eighth is used. Never while a resize is in progress: it ends
 * before the next one is due, also if nearly all entries go at once, so that the memory goes with them. */
static void resize_if_due(struct hashmap *map)
{
    size_t chains = map->now.chains ? map->now.mask + 1 : 0;
    if (map->before.chains)
        return;
    if (map->count >= chains)
        grow(map, chains ? chains * 2 : CHAINS_MIN);
    else if (chains > CHAINS_MIN && map->count < chains / 8 && !map->reserved && !map->expected)
        start_resize(map, chains / 4 > CHAINS_MIN ? chains / 4 : CHAINS_MIN);
}

void hashmap_reserve(struct hashmap *map, size_t count)
{
    size_t chains = chains_for(count);
    if (map->count || chains == CHAINS_MIN)
        return;
    hashmap_free(map);
    map->now.chains = xcalloc(chains, sizeof(struct hash_node *));
    map->now.mask = chains - 1;
    map->reserved = true;
}

void hashmap_expect(struct hashmap *map, size_t count)
{
    map->expected = count;
}

struct hash_node *hashmap_find(const struct hashmap *map, uint64_t hash, hash_same same,
                               const void *key)
{
    if (!map->count)
        return NULL;
    for (struct hash_node *node = *chain_of(map, hash); node; node = node->next)
        if (node->hash == hash && same(key, node))
            return node;
    return NULL;
}

void hashmap_prefetch(const struct hashmap *map, uint64_t hash)
{
    if (map->now.chains)
        __builtin_prefetch(chain_of(map, hash), /* for writing */ 1);
}

void hashmap_add(struct hashmap *map, struct hash_node *node, uint64_t hash)
{
    struct hash_node **chain;
    move_some(map);
    resize_if_due(map);
    chain = chain_of(map, hash);
    node->hash = hash;
    node->next = *chain;
    *chain = node;
    map->count++;
}

void hashmap_remove(struct hashmap *map, struct hash_node *node)
{
    struct hash_node **link = chain_of(map, node->hash);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    node->next = NULL;
    map->count--;
    map->reserved = false;
    move_some(map);
    resize_if_due(map);
}
