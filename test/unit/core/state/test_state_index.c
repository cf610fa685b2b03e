/* cmocka wants these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/page_pool.h"
#include "base/rng.h"
#include "builders.h"
#include "core/object/object.h"
#include "core/state/state_index.h"

enum {
    KEYS = 500,
    STEPS = 20000,
    MANY = 2203,
    PLACES = 80000,
};

/* Hashes that fall into few slots of few shards, so that runs are long. */
static uint64_t hash_of(unsigned key)
{
    return ((uint64_t)(key % 3) << 62) | ((uint64_t)key << 20) | (key % 4);
}

static void it_equals_a_plain_array_after_random_changes(void **state)
{
    struct live_index index = {0};
    struct place model[KEYS] = {{0}}, old;
    struct rng rng = {7};
    size_t count = 0;
    (void)state;
    for (unsigned step = 1; step <= STEPS; step++) {
        unsigned key = (unsigned)rng_below(&rng, KEYS);
        struct place place = {step, step * 3, step % 100};
        if (rng_below(&rng, 3)) {
            old = live_index_put(&index, hash_of(key), place);
            count += !model[key].segment;
        } else {
            old = live_index_remove(&index, hash_of(key));
            count -= model[key].segment != 0;
            place = (struct place){0};
        }
        assert_int_equal(old.segment, model[key].segment);
        model[key] = place;
        assert_int_equal(index.count, count);
    }
    for (unsigned key = 0; key < KEYS; key++) {
        struct place *found = live_index_find(&index, hash_of(key));
        assert_int_equal(found ? found->offset : 0, model[key].offset);
    }
    live_index_clear(&index);
}

static void list(struct live_index *index, unsigned key, const struct inf_object *object)
{
    live_index_put(index, hash_of(key), (struct place){1, key + 1, 1});
    live_index_list(index, (struct loaded_object){.object = object, .hash = hash_of(key)});
}

static void sort_all(struct live_index *index, size_t n)
{
    while (!loaded_list_sort_some(&index->loaded, n))
        continue;
}

/* Listed objects are taken once, also if others are put and removed meanwhile. */
static void listed_objects_are_taken_once(void **state)
{
    struct live_index index = {0};
    struct inf_object *object = pod("shop/a", "u", 1, 1);
    struct loaded_object taken;
    size_t expected = KEYS, n = 0;
    (void)state;
    for (unsigned key = 0; key < KEYS; key++)
        list(&index, key, inf_object_ref(object));
    for (unsigned key = 0; key < KEYS; key += 10, expected--)
        live_index_remove(&index, hash_of(key));
    for (unsigned key = 1; key < KEYS; key += 10, expected--) /* replaced by a change */
        live_index_put(&index, hash_of(key), (struct place){2, key, 1});
    sort_all(&index, KEYS);
    while (live_index_take(&index, &taken)) {
        size_t loaded = index.loaded.count;
        inf_object_unref(taken.object);
        n++;
        live_index_remove(&index, hash_of((unsigned)n * 10 + 2)); /* one that may be listed */
        expected -= loaded - index.loaded.count;
        live_index_put(&index, hash_of(KEYS + (unsigned)n), (struct place){3, 1, 1});
    }
    assert_int_equal(n, expected);
    assert_int_equal(index.loaded.count, 0);
    live_index_clear(&index);
    assert_int_equal(inf_object_size(object) > 0, 1);
    inf_object_unref(object);
}

/* Loads @n objects with keys in a random order; the keys of some differ late, those of others early. */
static void load_unordered(struct live_index *index, unsigned n)
{
    struct rng rng = {3};
    for (unsigned i = 0; i < n; i++) {
        unsigned number = (unsigned)(i * UINT64_C(7919) % n);
        char *key =
            xasprintf(rng_below(&rng, 2) ? "team/a-long-common-beginning-%u" : "team/%u", number);
        list(index, i, pod(key, "u", 1, 1));
        free(key);
    }
}

static void many_listed_objects_are_taken_in_the_order_of_their_keys(void **state)
{
    static const size_t slices[] = {1, 7, 100000};
    (void)state;
    for (size_t s = 0; s < ARRAY_LEN(slices); s++) {
        struct live_index index = {0};
        struct loaded_object taken, before = {0};
        size_t n = 0;
        load_unordered(&index, MANY);
        for (unsigned i = 0; i < MANY; i += 3)
            live_index_remove(&index, hash_of(i));
        sort_all(&index, slices[s]);
        for (; live_index_take(&index, &taken); n++) {
            if (before.object)
                assert_true(str_cmp(object_key(before.object), object_key(taken.object)) < 0);
            inf_object_unref(before.object);
            before = taken;
        }
        inf_object_unref(before.object);
        assert_int_equal(n, MANY - (MANY + 2) / 3);
        live_index_clear(&index);
    }
}

/* Objects may be replaced, removed and discarded between any two steps; the sanitizer detects leaks. */
static void objects_that_are_sorted_may_be_released_at_any_step(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 40 * MANY; steps += 4999) {
        struct live_index index = {0};
        struct loaded_object taken;
        struct loaded_list rest;
        load_unordered(&index, MANY);
        if (steps && loaded_list_sort_some(&index.loaded, steps))
            for (unsigned i = 0; i < 10 && live_index_take(&index, &taken); i++)
                inf_object_unref(taken.object);
        for (unsigned i = 0; i < MANY; i += 2)
            live_index_put(&index, hash_of(i), (struct place){2, i + 1, 1});
        if (steps % 2)
            sort_all(&index, 1000);
        rest = live_index_clear(&index);
        while (!loaded_list_free_some(&rest, 100))
            continue;
    }
}

static void a_million_objects_need_at_most_54_bytes_each(void **state)
{
    struct live_index index = {0};
    struct rng rng = {7};
    (void)state;
    for (unsigned n = 1; n <= 1000 * 1000; n++) {
        live_index_put(&index, rng_next(&rng), (struct place){1, n, 1});
        if (n % 100000 == 0)
            assert_true(live_index_memory(&index) <= (size_t)n * 54);
    }
    live_index_clear(&index);
    assert_int_equal(live_index_memory(&index), 0);
}

/* A shard grows once when enough places are expected, and as usual when they are too few. */
static void expected_places_take_no_more_memory_than_others(void **state)
{
    size_t usual = 0;
    (void)state;
    for (size_t expected = 0; expected <= PLACES; expected += PLACES / 2) {
        struct live_index index = {0};
        struct page_stock stock;
        struct rng rng = {7};
        page_stock_init(&stock);
        for (unsigned n = 0; n < 2; n++) /* not enough for all of them */
            page_stock_add(&stock, page_region_new());
        for (unsigned n = 1; n <= PLACES; n++) {
            if (n == 5000)
                live_index_expect(&index, expected, expected ? &stock : NULL);
            live_index_put(&index, rng_next(&rng), (struct place){1, n, 1});
        }
        if (!expected)
            usual = live_index_memory(&index);
        assert_int_equal(live_index_memory(&index), usual);
        assert_int_equal(index.count, PLACES);
        assert_int_equal(stock.count, expected ? 0 : 2);
        live_index_expect(&index, 0, NULL);
        for (unsigned n = 1; n <= PLACES * 2; n++) /* leave the regions */
            live_index_put(&index, rng_next(&rng), (struct place){1, n, 1});
        assert_int_equal(index.count, PLACES * 3);
        for (unsigned n = 0; n < INDEX_SHARDS; n++)
            assert_null(index.blocks[n].region);
        page_stock_clear(&stock);
        live_index_clear(&index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_equals_a_plain_array_after_random_changes),
        cmocka_unit_test(listed_objects_are_taken_once),
        cmocka_unit_test(many_listed_objects_are_taken_in_the_order_of_their_keys),
        cmocka_unit_test(objects_that_are_sorted_may_be_released_at_any_step),
        cmocka_unit_test(expected_places_take_no_more_memory_than_others),
        cmocka_unit_test(a_million_objects_need_at_most_54_bytes_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
