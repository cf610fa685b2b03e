/*
 * test_hostile_keys.c - names that a tenant chose to collide, or that arrive in the worst order,
 * cost no more than others: hash keys are random (lib/shared.c chooses one for each cache), and
 * trees are balanced for any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "builders.h"
#include "core/store/generation.h"
#include "core/store/store.h"

enum {
    NAMES = 1000,
    TABLE = 1024, /* minimum number of chains of a table of this size */
    CHAIN_MAX =
        10, /* longest of a good hash at that load; 1 in 10 million tables has a longer one */
    HEIGHT_MAX = 15, /* 1.44 log2(1000) */
    COMMON = 220,    /* bytes at the beginning of each name that are the same */
};

static const struct siphash_key guessed = {1, 2}; /* the key that the attacker assumes */

static void ignore_event(void *ctx, const struct inf_event *event)
{
    (void)ctx;
    (void)event;
}

static void add(struct inf_store *store, const char *key, uint64_t version)
{
    struct inf_object *object = pod(key, "u", version, 0);
    store_put(store, object, INF_LIVE, ignore_event, NULL);
    inf_object_unref(object);
}

/* The next name whose hash is in the first chain if the key is the assumed one. */
static void next_colliding(char key[32], uint64_t *number)
{
    do
        snprintf(key, 32, "n/x%llu", (unsigned long long)(*number)++);
    while (siphash13(&guessed, key, strlen(key)) % TABLE != 0);
}

static size_t longest_chain(const struct hashmap *map)
{
    size_t longest = 0;
    assert_true(map->now.mask + 1 >= TABLE);
    for (size_t i = 0; i <= map->now.mask; i++) {
        size_t n = 0;
        for (const struct hash_node *node = map->now.chains[i]; node; node = node->next)
            n++;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static size_t longest_with_key(const struct siphash_key *key)
{
    struct inf_store *store = store_new(key, NULL, 0);
    uint64_t number = 0;
    size_t longest;
    for (uint64_t i = 0; i < NAMES; i++) {
        char name[32];
        next_colliding(name, &number);
        add(store, name, i + 1);
    }
    longest = longest_chain(&store_current(store)->by_key);
    while (!store_free_some(store, NAMES))
        continue;
    return longest;
}

static void names_that_collide_under_one_key_do_not_under_another(void **state)
{
    struct rng rng;
    struct siphash_key key;
    (void)state;
    rng_init(&rng); /* as a client does */
    key = (struct siphash_key){rng_next(&rng), rng_next(&rng)};
    assert_true(longest_with_key(&guessed) > NAMES / 4); /* the names collide under that key */
    assert_true(longest_with_key(&key) <= CHAIN_MAX);
}

static void names_in_any_order_with_a_long_common_part_keep_trees_flat(void **state)
{
    (void)state;
    for (int falling = 0; falling < 2; falling++) {
        struct inf_store *store = store_new(&guessed, NULL, 0);
        for (int i = 0; i < NAMES; i++) {
            char key[COMMON + 16];
            snprintf(key, sizeof(key), "n/%0*d", COMMON, falling ? NAMES - i : i);
            add(store, key, (uint64_t)i + 1);
        }
        assert_true(store_current(store)->in_order.root->height <= HEIGHT_MAX);
        assert_true(store_current(store)->indexes.trees[INDEX_LABELS].count <= NAMES);
        while (!store_free_some(store, NAMES))
            continue;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_collide_under_one_key_do_not_under_another),
        cmocka_unit_test(names_in_any_order_with_a_long_common_part_keep_trees_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
