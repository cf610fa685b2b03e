/*
 * test_tree.c - the tree compared with a sorted array: after every step it has the same order
 * and is balanced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/rng.h"
#include "base/tree.h"

enum {
    ITEMS = 300,
    KEYS = 60, /* fewer than items: many are equal */
    STEPS = 4000,
    SEEDS = 6,
};

struct item {
    struct tree_node node;
    int key;
    bool in;
};

/* The tree, and its expected content: pointers in order. */
struct world {
    struct tree tree;
    struct item items[ITEMS];
    struct item *sorted[ITEMS];
    size_t count;
};

static struct item *item_of(const struct tree_node *node)
{
    return node ? container_of(node, struct item, node) : NULL;
}

static int by_key(const struct tree_node *a, const struct tree_node *b)
{
    return item_of(a)->key - item_of(b)->key;
}

static int key_to_node(const void *key, const struct tree_node *node)
{
    return *(const int *)key - item_of(node)->key;
}

/* The search of the model: how many items are before @key (or also equal it). */
static size_t model_before(const struct world *w, int key, bool or_equal)
{
    size_t i = 0;
    while (i < w->count && (w->sorted[i]->key < key || (or_equal && w->sorted[i]->key == key)))
        i++;
    return i;
}

/* With a search of the tree for every other key. */
static void world_add(struct world *w, struct item *item, int key)
{
    size_t at = model_before(w, key, true); /* after equal items */
    item->key = key;
    item->in = true;
    memmove(w->sorted + at + 1, w->sorted + at, (w->count - at) * sizeof(w->sorted[0]));
    w->sorted[at] = item;
    w->count++;
    if (key % 2)
        tree_add(&w->tree, &item->node);
    else
        tree_add_before(&w->tree, tree_after(&w->tree, key_to_node, &key), &item->node);
}

static void world_remove(struct world *w, struct item *item)
{
    size_t at = 0;
    while (w->sorted[at] != item)
        at++;
    w->count--;
    memmove(w->sorted + at, w->sorted + at + 1, (w->count - at) * sizeof(w->sorted[0]));
    item->in = false;
    tree_remove(&w->tree, &item->node);
    memset(&item->node, 0xa5, sizeof(item->node)); /* makes the use of a stale pointer fail */
}

/* Measures the height of a subtree, and checks the stored heights, the balance and the parents. */
static int measured(const struct tree_node *n, const struct tree_node *parent)
{
    int left, right;
    if (!n)
        return 0;
    assert_ptr_equal(n->parent, parent);
    left = measured(n->left, n);
    right = measured(n->right, n);
    assert_in_range(left - right + 1, 0, 2);
    assert_int_equal(n->height, 1 + (left > right ? left : right));
    return n->height;
}

static void check_order(const struct world *w)
{
    size_t i = 0;
    for (struct tree_node *n = tree_first(&w->tree); n; n = tree_next(n), i++) {
        assert_true(i < w->count);
        assert_ptr_equal(item_of(n), w->sorted[i]);
    }
    assert_int_equal(i, w->count);
}

static struct item *model_at(const struct world *w, size_t i)
{
    return i < w->count ? w->sorted[i] : NULL;
}

static void check_search(const struct world *w, int key)
{
    assert_ptr_equal(item_of(tree_at_least(&w->tree, key_to_node, &key)),
                     model_at(w, model_before(w, key, false)));
    assert_ptr_equal(item_of(tree_after(&w->tree, key_to_node, &key)),
                     model_at(w, model_before(w, key, true)));
}

static void check(const struct world *w)
{
    measured(w->tree.root, NULL);
    check_order(w);
}

static void toggle(struct world *w, struct item *item, struct rng *rng)
{
    if (item->in)
        world_remove(w, item);
    else
        world_add(w, item, (int)rng_below(rng, KEYS));
}

static struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    tree_init(&w->tree, by_key);
    return w;
}

/* About half of the items are in the tree at any time; then all are removed, in the order of their
 * addresses. */
static void random_life(uint64_t seed)
{
    struct world *w = world_new();
    struct rng rng = {seed};
    for (int step = 0; step < STEPS; step++) {
        toggle(w, &w->items[rng_below(&rng, ITEMS)], &rng);
        check(w);
        check_search(w, (int)rng_below(&rng, KEYS + 2) - 1);
    }
    for (size_t i = 0; i < ITEMS; i++)
        if (w->items[i].in) {
            world_remove(w, &w->items[i]);
            check(w);
        }
    assert_null(w->tree.root);
    free(w);
}

static void equals_a_sorted_array_after_random_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        random_life(seed);
}

static void an_empty_tree_finds_nothing(void **state)
{
    struct world *w = world_new();
    (void)state;
    assert_null(tree_first(&w->tree));
    check_search(w, 0);
    free(w);
}

static void stays_balanced_for_sorted_input(void **state)
{
    struct world *up = world_new(), *down = world_new();
    (void)state;
    for (int i = 0; i < ITEMS; i++) {
        world_add(up, &up->items[i], i);
        world_add(down, &down->items[i], -i);
        check(up);
        check(down);
    }
    assert_in_range(up->tree.root->height, 9, 12); /* 1.44 log2(300) */
    while (up->count) {
        world_remove(up, up->sorted[0]);
        world_remove(down, down->sorted[down->count - 1]);
        check(up);
        check(down);
    }
    free(up);
    free(down);
}

static void equal_items_keep_the_order_of_adding(void **state)
{
    struct world *w = world_new();
    int key = 7;
    (void)state;
    for (size_t i = 0; i < 20; i++)
        world_add(w, &w->items[i], key);
    check(w);
    assert_ptr_equal(item_of(tree_first(&w->tree)), &w->items[0]);
    world_remove(w, &w->items[0]);
    world_add(w, &w->items[0], key); /* added again, as the last one */
    check(w);
    assert_ptr_equal(w->sorted[19], &w->items[0]);
    free(w);
}

static void finds_the_first_item_from_a_key_and_after_it(void **state)
{
    struct world *w = world_new();
    (void)state;
    world_add(w, &w->items[0], 10);
    world_add(w, &w->items[1], 20);
    world_add(w, &w->items[2], 20);
    world_add(w, &w->items[3], 30);
    for (int key = 9; key <= 31; key++)
        check_search(w, key);
    assert_ptr_equal(item_of(tree_at_least(&w->tree, key_to_node, &(int){20})), &w->items[1]);
    assert_ptr_equal(item_of(tree_after(&w->tree, key_to_node, &(int){20})), &w->items[3]);
    assert_null(tree_at_least(&w->tree, key_to_node, &(int){31}));
    assert_null(tree_after(&w->tree, key_to_node, &(int){30}));
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_a_sorted_array_after_random_changes),
        cmocka_unit_test(an_empty_tree_finds_nothing),
        cmocka_unit_test(stays_balanced_for_sorted_input),
        cmocka_unit_test(equal_items_keep_the_order_of_adding),
        cmocka_unit_test(finds_the_first_item_from_a_key_and_after_it),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
