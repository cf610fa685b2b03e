/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "core/object/object.h"
#include "core/store/generation.h"
#include "core/store/store.h"
#include "index_world.h"

/* ---- indexes ---- */

static void objects_are_found_by_their_values(void **state)
{
    struct index_world *f = *state;
    put(f, "n/c", "", "n1", "");
    put(f, "n/a", "", "n1", "");
    put(f, "n/b", "", "n2", "");
    put(f, "n/d", "", "", "");
    assert_indexed(f, "node", "n1", "n/a n/c ");
    assert_indexed(f, "node", "n2", "n/b ");
    assert_indexed(f, "node", "n3", "");
    assert_indexed(f, "node", "", "");
    put(f, "n/a", "", "n2", ""); /* moves */
    assert_indexed(f, "node", "n1", "n/c ");
    assert_indexed(f, "node", "n2", "n/a n/b ");
}

/* 92: here a function can't fail; only a name can be unknown. */
static void an_unknown_index_is_an_error(void **state)
{
    struct index_world *f = *state;
    assert_int_equal(inf_store_by_index(f->store, "zone", "a", print_key, f), -INF_EINVAL);
    assert_int_equal(inf_store_index_values(f->store, "zone", print_value, f), -INF_EINVAL);
    assert_int_equal(inf_store_by_index(f->store, "labels", "{}", print_key, f), -INF_EINVAL);
}

/* 88: TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex */
static void a_value_is_removed_with_its_last_object(void **state)
{
    struct index_world *f = *state;
    put(f, "n/a", "{\"app\":\"web\"}", "n1", "x,y");
    put(f, "n/b", "", "n1", "y");
    assert_values(f, "tag", "x:1 y:2 ");
    take_out(f, "n/a");
    assert_values(f, "tag", "y:1 ");
    assert_values(f, "node", "n1:1 ");
    assert_null(tree_first(&store_current(f->store)->indexes.trees[INDEX_LABELS]));
    take_out(f, "n/b");
    assert_values(f, "tag", "");
    assert_values(f, "node", "");
    assert_values(f, "namespace", "");
}

/* 89: TestThreadSafeStoreIndexingFunctionsWithMultipleValues */
static void an_object_can_have_many_values(void **state)
{
    struct index_world *f = *state;
    put(f, "n/a", "", "n1", "foo");
    put(f, "n/a", "", "n1", "foo,bar"); /* one more */
    assert_values(f, "tag", "bar:1 foo:1 ");
    put(f, "n/a", "", "n1", "bar,foo"); /* in another order */
    assert_values(f, "tag", "bar:1 foo:1 ");
    put(f, "n/a", "", "n1", "bar"); /* one less */
    assert_values(f, "tag", "bar:1 ");
    put(f, "n/a", "", "n1", "baz,foo,qux"); /* all others */
    put(f, "n/b", "", "n1", "foo");
    assert_values(f, "tag", "baz:1 foo:2 qux:1 ");
    assert_indexed(f, "tag", "foo", "n/a n/b ");
    assert_values(f, "node", "n1:2 "); /* other values were not touched */
    put(f, "n/a", "", "n1", "");
    assert_values(f, "tag", "foo:1 ");
}

static void a_repeated_value_counts_once(void **state)
{
    struct index_world *f = *state;
    put(f, "n/a", "", "", "x,x,y,x,y");
    assert_values(f, "tag", "x:1 y:1 ");
    assert_indexed(f, "tag", "x", "n/a ");
    put(f, "n/a", "", "", "y,y,y");
    assert_values(f, "tag", "y:1 ");
}

/* 91: TestMultiIndexKeys, TestGetIndexFuncValues */
static void values_are_listed_in_order_with_counts(void **state)
{
    struct index_world *f = *state;
    put(f, "n/tom", "", "ernie", "bert,oscar");
    put(f, "n/ann", "", "ernie", "oscar");
    put(f, "m/joe", "", "big", "elmo,bert");
    assert_values(f, "tag", "bert:2 elmo:1 oscar:2 ");
    assert_values(f, "node", "big:1 ernie:2 ");
    assert_values(f, "namespace", "m:1 n:2 ");
    assert_indexed(f, "tag", "oscar", "n/ann n/tom ");
}

static bool first_only(void *ctx, const struct inf_object *object)
{
    print_key(ctx, object);
    return false;
}

static bool first_value(void *ctx, const char *value, size_t count)
{
    print_value(ctx, value, count);
    return false;
}

static void a_reader_can_stop(void **state)
{
    struct index_world *f = *state;
    put(f, "n/a", "", "n1", "x,y");
    put(f, "n/b", "", "n1", "x,y");
    assert_int_equal(inf_store_by_index(f->store, "node", "n1", first_only, f), 0);
    assert_int_equal(inf_store_by_index(f->store, "namespace", "n", first_only, f), 0);
    assert_int_equal(inf_store_index_values(f->store, "tag", first_value, f), 0);
    assert_out(f, "n/a n/a x:2 ");
}

static void values_have_a_limit(void **state)
{
    struct index_world *f = *state;
    struct buf tags = {0};
    for (int i = 0; i < INDEX_VALUES_MAX; i++)
        buf_printf(&tags, "%st%d", i ? "," : "", i);
    buf_puts(&tags, ",over");
    buf_putc(&tags, '\0');
    put(f, "n/a", "", "", tags.bytes);
    assert_indexed(f, "tag", "t999", "n/a ");
    assert_indexed(f, "tag", "over", "");
    buf_free(&tags);
}

static void nul_in_a_value(const struct index_def *def, const struct inf_object *object,
                           index_value_fn each, void *ctx)
{
    (void)def;
    (void)object;
    each(ctx, (struct str){"a\0b", 3});
    each(ctx, (struct str){NULL, 0});
}

static void ignores_a_value_with_nul_but_not_an_empty_one(void **state)
{
    const struct index_def def = {"odd", nul_in_a_value, NULL};
    struct index_world *f = *state;
    struct inf_store *with_defs = f->store;
    f->store = store_new(&(struct siphash_key){3, 4}, &def, 1);
    put(f, "n/a", "", "", "");
    assert_values(f, "odd", ":1 ");
    assert_indexed(f, "odd", "", "n/a ");
    assert_true(store_free_some(f->store, 10));
    f->store = with_defs;
}

/* The list of an entry's positions, of which there are three. */
static void *more_of(const struct entry *e)
{
    void *more;
    memcpy(&more, &e->members[3], sizeof(more));
    return more;
}

/* The positions of the entry keep their addresses: nothing was allocated or moved. */
static void unchanged_values_stay_where_they_are(void **state)
{
    struct index_world *f = *state;
    struct entry *e;
    struct member before[3];
    void *more;
    put(f, "n/a", "{\"app\":\"web\"}", "n1", "x,x,y");
    e = generation_find(store_current(f->store), STR("n/a"));
    memcpy(before, e->members, sizeof(before));
    more = more_of(e);
    assert_non_null(more);
    put(f, "n/a", "{\"app\":\"web\"}", "n1", "x,x,y");
    put(f, "n/a", "{\"app\":\"web\"}", "n1", "y,x");
    assert_ptr_equal(generation_find(store_current(f->store), STR("n/a")), e);
    assert_memory_equal(before, e->members, sizeof(before));
    assert_ptr_equal(more_of(e), more);
    put(f, "n/a", "{\"app\":\"web\"}", "n2", "x,y"); /* a single value moves with its position */
    assert_ptr_equal(more_of(e), more);
}

/* Entries with many values are freed in smaller slices. */
static void many_values_cost_more_budget(void **state)
{
    struct index_world *f = *state;
    struct generation *next = generation_new(f->store);
    struct buf tags = {0};
    struct inf_object *object;
    for (int i = 0; i < 100; i++)
        buf_printf(&tags, "%st%d", i ? "," : "", i);
    buf_putc(&tags, '\0');
    for (int i = 0; i < 3; i++) {
        char key[] = "n/0";
        key[2] = (char)('0' + i);
        object = thing(key, 1, "", "n1", tags.bytes);
        generation_put(next, object);
        inf_object_unref(object);
    }
    store_discard(f->store, next);
    assert_false(store_sweep(f->store, 4));
    assert_false(store_sweep(f->store, 4));
    assert_true(store_sweep(f->store, 8));
    buf_free(&tags);
}

/* ---- relists ---- */

static void a_relist_replaces_indexes_at_once(void **state)
{
    struct index_world *f = *state;
    struct generation *next = generation_new(f->store);
    struct inf_object *object = thing("n/b", 9, "{\"app\":\"db\"}", "n2", "y");
    put(f, "n/a", "{\"app\":\"web\"}", "n1", "x");
    generation_put(next, object);
    inf_object_unref(object);
    assert_values(f, "node", "n1:1 ");
    assert_selected(f, "", "app", "n/a ");
    store_flip(f->store, next, "10", INF_RELIST);
    assert_values(f, "node", "n2:1 ");
    assert_values(f, "tag", "y:1 ");
    assert_selected(f, "", "app", "n/b ");
    while (!store_emit_some(f->store, 1, silent, NULL))
        continue;
    assert_values(f, "node", "n2:1 ");
}

#define IN_STORE(test) \
    cmocka_unit_test_setup_teardown(test, index_world_set_up, index_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_STORE(objects_are_found_by_their_values),
        IN_STORE(an_unknown_index_is_an_error),
        IN_STORE(a_value_is_removed_with_its_last_object),
        IN_STORE(an_object_can_have_many_values),
        IN_STORE(a_repeated_value_counts_once),
        IN_STORE(values_are_listed_in_order_with_counts),
        IN_STORE(a_reader_can_stop),
        IN_STORE(values_have_a_limit),
        IN_STORE(ignores_a_value_with_nul_but_not_an_empty_one),
        IN_STORE(unchanged_values_stay_where_they_are),
        IN_STORE(many_values_cost_more_budget),
        IN_STORE(a_relist_replaces_indexes_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
