/*
 * test_hashmap.c - the map compared with a plain array while it grows and shrinks, which each
 * call does for a few chains only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/hashmap.h"
#include "base/rng.h"

enum {
    ITEMS = 3000,
    CYCLES = 4,
    SEEDS = 3,
};

struct item {
    struct hash_node node;
    unsigned key;
    bool in; /* the model */
};

struct world {
    struct hashmap map;
    struct item items[ITEMS];
    size_t count;
    uint64_t collide;  /* mask of the bits of a hash that are used */
    bool grew, shrank; /* a resize was in progress */
};

static bool same_key(const void *key, const struct hash_node *node)
{
    return *(const unsigned *)key == container_of(node, struct item, node)->key;
}

static uint64_t hash_of(const struct world *w, unsigned key)
{
    struct rng mix = {key};
    return rng_next(&mix) & w->collide;
}

static struct world *world_new(uint64_t collide)
{
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    w->collide = collide;
    for (unsigned i = 0; i < ITEMS; i++)
        w->items[i].key = i;
    return w;
}

static void world_free(struct world *w)
{
    hashmap_free(&w->map);
    free(w);
}

static void note_resize(struct world *w)
{
    if (!w->map.before.chains)
        return;
    w->grew |= w->map.now.mask > w->map.before.mask;
    w->shrank |= w->map.now.mask < w->map.before.mask;
}

static void set_in(struct world *w, unsigned i, bool in)
{
    struct item *item = &w->items[i];
    if (item->in == in)
        return;
    if (in)
        hashmap_add(&w->map, &item->node, hash_of(w, i));
    else
        hashmap_remove(&w->map, &item->node);
    item->in = in;
    w->count += in ? 1 : (size_t)-1;
    assert_int_equal(w->map.count, w->count);
    note_resize(w);
}

static void check_one(const struct world *w, unsigned i)
{
    struct hash_node *found = hashmap_find(&w->map, hash_of(w, i), same_key, &i);
    assert_ptr_equal(found, w->items[i].in ? &w->items[i].node : NULL);
}

static void check_all(const struct world *w)
{
    for (unsigned i = 0; i < ITEMS; i++)
        check_one(w, i);
}

/* Random steps towards a full map or an empty one: three in four have that direction. */
static void drift(struct world *w, struct rng *rng, bool up)
{
    for (int step = 0; step < 3 * ITEMS; step++) {
        unsigned i = (unsigned)rng_below(rng, ITEMS);
        set_in(w, i, (rng_below(rng, 4) > 0) == up);
        check_one(w, i);
        check_one(w, (unsigned)rng_below(rng, ITEMS));
        if (step % 500 == 0)
            check_all(w);
    }
}

static void random_life(uint64_t seed, uint64_t collide)
{
    struct world *w = world_new(collide);
    struct rng rng = {seed};
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        drift(w, &rng, true);
        for (unsigned i = 0; i < ITEMS; i++)
            set_in(w, i, true);
        check_all(w);
        drift(w, &rng, false);
        for (unsigned i = 0; i < ITEMS; i++)
            set_in(w, i, false);
        check_all(w);
    }
    assert_true(w->grew && w->shrank);
    world_free(w);
}

static void equals_an_array_after_random_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        random_life(seed, UINT64_MAX);
}

/* Only 64 different hashes for 3000 keys: chains are long, and many nodes have equal hashes. */
static void equals_an_array_with_many_collisions(void **state)
{
    (void)state;
    random_life(7, 63);
}

static void an_empty_map_finds_nothing(void **state)
{
    struct world *w = world_new(UINT64_MAX);
    (void)state;
    check_all(w);
    world_free(w);
}

/* Every entry is found after each add, also while only some chains have been moved. */
static void finds_all_entries_while_growing(void **state)
{
    struct world *w = world_new(UINT64_MAX);
    size_t under_way = 0;
    (void)state;
    for (unsigned i = 0; i < 700; i++) {
        set_in(w, i, true);
        under_way += w->map.before.chains != NULL;
        for (unsigned k = 0; k <= i + 5; k++)
            check_one(w, k);
    }
    assert_true(w->grew);
    assert_true(under_way > 100); /* not in one call: 512 chains take 64 calls */
    world_free(w);
}

static void finds_all_entries_while_shrinking(void **state)
{
    struct world *w = world_new(UINT64_MAX);
    (void)state;
    for (unsigned i = 0; i < 700; i++)
        set_in(w, i, true);
    for (unsigned i = 0; i < 700; i++) {
        set_in(w, i, false);
        for (unsigned k = i > 5 ? i - 5 : 0; k < 700; k++)
            check_one(w, k);
    }
    assert_true(w->shrank);
    world_free(w);
}

/* The memory of an emptied map is released gradually: each call moves a few chains of the large
 * table. */
static void an_emptied_map_shrinks(void **state)
{
    struct world *w = world_new(UINT64_MAX);
    (void)state;
    for (unsigned i = 0; i < ITEMS; i++)
        set_in(w, i, true);
    assert_true(w->map.now.mask + 1 >= ITEMS);
    for (unsigned i = 0; i < ITEMS; i++)
        set_in(w, i, false);
    assert_true(w->map.now.mask + 1 < ITEMS);
    for (unsigned i = 0; i < ITEMS; i++) {
        set_in(w, i, true);
        set_in(w, i, false);
    }
    assert_int_equal(w->map.now.mask + 1, 16);
    world_free(w);
}

/* The map grows once, stays as large while entries are removed and added, and shrinks when none are expected. */
static void a_map_whose_entries_are_expected_grows_once(void **state)
{
    struct world *w = world_new(UINT64_MAX);
    size_t mask;
    (void)state;
    set_in(w, 0, true);
    hashmap_expect(&w->map, ITEMS);
    for (unsigned i = 1; i < 20; i++)
        set_in(w, i, true);
    mask = w->map.now.mask;
    assert_true(mask + 1 >= ITEMS);
    for (unsigned i = 0; i < ITEMS; i++) {
        set_in(w, i / 2, false);
        set_in(w, i / 2, true);
        set_in(w, i, true);
        assert_int_equal(w->map.now.mask, mask);
    }
    check_all(w);
    hashmap_expect(&w->map, 0);
    for (unsigned i = 20; i < ITEMS; i++)
        set_in(w, i, false);
    assert_true(w->map.now.mask + 1 <= 256);
    check_all(w);
    world_free(w);
}

/* Without further calls: after a mass deletion there may be none for a long time. */
static void releases_tables_while_entries_are_removed(void **state)
{
    struct world *w = world_new(UINT64_MAX);
    (void)state;
    for (unsigned i = 0; i < ITEMS; i++)
        set_in(w, i, true);
    for (unsigned i = 10; i < ITEMS; i++)
        set_in(w, i, false);
    assert_true(w->map.now.mask + 1 <= 128);
    assert_null(w->map.before.chains);
    check_all(w);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_an_array_after_random_changes),
        cmocka_unit_test(equals_an_array_with_many_collisions),
        cmocka_unit_test(an_empty_map_finds_nothing),
        cmocka_unit_test(finds_all_entries_while_growing),
        cmocka_unit_test(finds_all_entries_while_shrinking),
        cmocka_unit_test(an_emptied_map_shrinks),
        cmocka_unit_test(a_map_whose_entries_are_expected_grows_once),
        cmocka_unit_test(releases_tables_while_entries_are_removed),
    };
    return cmocka_run_group_tests_name("hashmap", tests, NULL, NULL);
}
