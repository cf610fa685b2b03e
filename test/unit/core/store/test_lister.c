/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "builders.h"
#include "core/object/object.h"
#include "core/store/index_path.h"
#include "core/store/store.h"
#include "index_world.h"

/* ---- namespaces ---- */

static void print_namespace(struct index_world *f, const char *ns)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    while ((object = inf_store_next_in(f->store, ns, &cursor)))
        print_key(f, object);
    inf_cursor_end(&cursor);
}

static void a_namespace_is_a_range(void **state)
{
    struct index_world *f = *state;
    char longest[2000];
    put(f, "a/b", "", "", "");
    put(f, "a-b/z", "", "", "");
    put(f, "a0/a", "", "", "");
    put(f, "a/a", "", "", "");
    print_namespace(f, "a");
    assert_out(f, "a/a a/b ");
    print_namespace(f, "a-b");
    assert_out(f, "a-b/z ");
    print_namespace(f, "b");
    print_namespace(f, "0");
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    print_namespace(f, longest);
    assert_out(f, "");
    print_namespace(f, "");
    assert_out(f, "a-b/z a/a a/b a0/a ");
    assert_indexed(f, "namespace", "a", "a/a a/b ");
    assert_indexed(f, "namespace", "", "");
    assert_values(f, "namespace", "a:2 a-b:1 a0:1 ");
}

/* 95: TestObjectNames: the key of an object without namespace is its name. */
static void a_cluster_scoped_object_has_an_empty_namespace(void **state)
{
    struct index_world *f = *state;
    put(f, "node-b", "", "", "");
    put(f, "node-a", "", "", "");
    assert_indexed(f, "namespace", "", "node-a node-b ");
    assert_values(f, "namespace", ":2 ");
    assert_non_null(inf_store_get(f->store, "", "node-a"));
}

static void a_walk_in_a_namespace_survives_changes(void **state)
{
    struct index_world *f = *state;
    struct inf_cursor cursor = INF_CURSOR_START;
    put(f, "m/z", "", "", "");
    put(f, "n/b", "", "", "");
    put(f, "o/a", "", "", "");
    print_key(f, inf_store_next_in(f->store, "n", &cursor));
    take_out(f, "n/b");
    put(f, "n/a", "", "", "");
    assert_null(inf_store_next_in(f->store, "n", &cursor));
    put(f, "n/c", "", "", "");
    print_key(f, inf_store_next_in(f->store, "n", &cursor));
    assert_null(inf_store_next_in(f->store, "n", &cursor));
    assert_out(f, "n/b n/c ");
    inf_cursor_end(&cursor);
}

/* ---- label sets ---- */

/* 93: TestListAll; selectors for everything and nothing are those of selector.c. */
static void evaluates_a_selector_once_for_each_label_set(void **state)
{
    struct index_world *f = *state;
    put(f, "m/a", "{\"app\":\"web\"}", "", "");
    put(f, "n/a", "{\"app\":\"web\"}", "", "");
    put(f, "n/b", "{\"app\":\"db\"}", "", "");
    put(f, "n/c", "{\"app\":\"web\"}", "", "");
    put(f, "n/d", "", "", "");
    put(f, "n/e", "{}", "", "");
    put(f, "n/f", "null", "", "");
    assert_selected(f, "", "web", "m/a n/a n/c ");
    assert_int_equal(f->evaluated, 3); /* two sets, and none at all */
    assert_selected(f, "n", "web", "n/a n/c ");
    assert_selected(f, "n", "", "n/a n/b n/c n/d n/e n/f ");
    assert_selected(f, "", "{}", "n/d n/e n/f ");
    assert_selected(f, "x", "web", "");
    put(f, "n/a", "{\"app\":\"db\"}", "", "");
    assert_selected(f, "", "db", "n/a n/b ");
}

static void a_selection_can_be_read_in_slices(void **state)
{
    struct index_world *f = *state;
    for (int i = 0; i < 7; i++) {
        char key[] = "n/0";
        key[2] = (char)('0' + i);
        put(f, key, i % 2 ? "{\"app\":\"web\"}" : "{\"app\":\"db\"}", "", "");
    }
    for (size_t slice = 1; slice < 9; slice++) {
        select_some(f, "n", "db", slice);
        assert_out(f, "n/0 n/2 n/4 n/6 ");
    }
}

static void everything_can_be_read_in_slices(void **state)
{
    struct index_world *f = *state;
    struct inf_cursor cursor = INF_CURSOR_START;
    put(f, "n/a", "", "", "");
    put(f, "n/b", "{\"app\":\"web\"}", "", "");
    while (!inf_store_select_some(f->store, "", NULL, &cursor, 1, print_key, f))
        buf_puts(&f->out, "| ");
    inf_cursor_end(&cursor);
    assert_out(f, "n/a | n/b | ");
}

static bool few_selected(struct index_world *f, const char *ns, const char *word)
{
    struct selector s = {word, 0};
    struct label_query query = {ns, contains, &s};
    bool few = store_few_by_labels(f->store, &query, print_key, f);
    f->evaluated = s.evaluated;
    return few;
}

/* Two of thirty-two, in two sets. */
static void a_selective_query_examines_few_objects(void **state)
{
    struct index_world *f = *state;
    for (int i = 31; i >= 0; i--) {
        char key[8];
        snprintf(key, sizeof(key), "%s/%02d", i % 2 ? "n" : "m", i);
        put(f, key,
            i == 9   ? "{\"app\":\"web\",\"x\":\"1\"}"
            : i == 4 ? "{\"app\":\"web\"}"
                     : "{\"app\":\"db\"}",
            "", "");
    }
    assert_true(few_selected(f, "", "web"));
    assert_out(f, "m/04 n/09 ");
    assert_int_equal(f->evaluated, 4); /* three sets, and none at all */
    assert_true(few_selected(f, "n", "web"));
    assert_out(f, "n/09 ");
    assert_true(few_selected(f, "", "no-such-app"));
    assert_out(f, "");
    put(f, "n/31", "{\"app\":\"web\"}", "", "");
    assert_true(few_selected(f, "", "web"));
    assert_out(f, "m/04 n/09 n/31 ");
}

static void a_query_that_selects_much_walks_all_objects(void **state)
{
    struct index_world *f = *state;
    put(f, "n/a", "{\"app\":\"web\"}", "", "");
    put(f, "n/b", "", "", "");
    assert_false(few_selected(f, "", "web"));
    assert_false(few_selected(f, "", "{}")); /* which is in no bucket */
    assert_out(f, "");
}

struct nested {
    struct index_world *f;
    struct label_query *inner;
};

static bool read_again(void *ctx, const struct inf_object *object)
{
    struct nested *n = ctx;
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t budget = SIZE_MAX;
    print_key(n->f, object);
    buf_puts(&n->f->out, "( ");
    assert_true(store_by_labels(n->f->store, n->inner, &cursor, &budget, print_key, n->f));
    inf_cursor_end(&cursor);
    inf_store_by_index(n->f->store, "node", "n1", print_key, n->f);
    buf_puts(&n->f->out, ") ");
    return true;
}

static void a_callback_may_read(void **state)
{
    struct index_world *f = *state;
    struct selector web = {"web", 0}, db = {"db", 0};
    struct label_query outer = {"", contains, &web}, inner = {"", contains, &db};
    struct nested nested = {f, &inner};
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t budget = SIZE_MAX;
    put(f, "n/a", "{\"app\":\"web\"}", "n1", "");
    put(f, "n/b", "{\"app\":\"db\"}", "", "");
    put(f, "n/c", "{\"app\":\"web\"}", "", "");
    assert_true(store_by_labels(f->store, &outer, &cursor, &budget, read_again, &nested));
    inf_cursor_end(&cursor);
    assert_out(f, "n/a ( n/b n/a ) n/c ( n/b n/a ) ");
}

/* ---- fields ---- */

enum {
    THINGS = 9000,
};

/* Not in key order. One of 8 has the node `eighth`, one of 100 `few`, the others `most`. */
static void fill(struct inf_store *store)
{
    for (int i = 0; i < THINGS; i++) {
        int n = i * 7919 % THINGS;
        struct inf_object *object;
        char key[16];
        snprintf(key, sizeof(key), "n%d/%04d", n % 3, n);
        object = thing(key, (uint64_t)i + 1, "",
                       n % 8 == 0     ? "eighth"
                       : n % 100 == 1 ? "few"
                                      : "most",
                       n % 2 ? "odd" : "even");
        store_put(store, object, INF_LIVE, silent, NULL);
        inf_object_unref(object);
    }
}

/* Prints the objects, and returns the number of slices. */
static size_t print_slices(struct index_world *f, const struct inf_store *store, const char *ns,
                           const struct inf_selector *selector, size_t slice)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t slices = 1;
    buf_clear(&f->out);
    while (!inf_store_select_some(store, ns, selector, &cursor, slice, print_key, f))
        slices++;
    inf_cursor_end(&cursor);
    buf_putc(&f->out, '\0');
    return slices;
}

static void assert_same_slices(struct index_world *f, const struct inf_store *indexed,
                               const struct inf_store *plain, const char *ns, const char *fields)
{
    static const size_t sizes[] = {1, 7, 64, 1000, SIZE_MAX};
    struct inf_selector *selector = selector_from(inf_selector_parse_fields, fields);
    struct buf expected;
    assert_true(inf_store_is_indexed(indexed, selector));
    assert_false(inf_store_is_indexed(plain, selector));
    print_slices(f, plain, ns, selector, SIZE_MAX);
    expected = f->out;
    f->out = (struct buf){0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        size_t slices = print_slices(f, indexed, ns, selector, sizes[i]);
        assert_string_equal(f->out.bytes, expected.bytes);
        assert_true(slices <= 1 + THINGS / sizes[i]);
    }
    buf_free(&expected);
    inf_selector_free(selector);
}

static void a_walk_by_index_equals_one_over_all_objects(void **state)
{
    static const char *const fields[] = {"spec.node=few",
                                         "spec.node=eighth",
                                         "spec.node=most",
                                         "spec.node=none",
                                         "spec.node=few,spec.tags=odd",
                                         "spec.tags!=odd,spec.node=eighth"};
    struct index_world *f = *state;
    struct inf_path *path = path_from("spec.node");
    struct index_def def = index_by_path("by-node", path);
    struct inf_store *indexed = store_new(&(struct siphash_key){1, 2}, &def, 1);
    struct inf_store *plain = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    fill(indexed);
    fill(plain);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        assert_same_slices(f, indexed, plain, "", fields[i]);
        assert_same_slices(f, indexed, plain, "n1", fields[i]);
    }
    while (!store_free_some(indexed, 1000))
        continue;
    while (!store_free_some(plain, 1000))
        continue;
    inf_path_free(path);
}

static void only_equal_values_are_found_by_index(void **state)
{
    static const char *const fields[] = {"spec.node!=a", "spec.node=", "spec.tags=a", ""};
    struct inf_path *path = path_from("spec.node");
    struct index_def def = index_by_path("by-node", path);
    struct inf_store *store = store_new(&(struct siphash_key){1, 2}, &def, 1);
    (void)state;
    assert_false(inf_store_is_indexed(store, NULL));
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        struct inf_selector *selector = selector_from(inf_selector_parse_fields, fields[i]);
        assert_false(inf_store_is_indexed(store, selector));
        inf_selector_free(selector);
    }
    while (!store_free_some(store, 1))
        continue;
    inf_path_free(path);
}

#define IN_STORE(test) \
    cmocka_unit_test_setup_teardown(test, index_world_set_up, index_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_STORE(a_namespace_is_a_range),
        IN_STORE(a_cluster_scoped_object_has_an_empty_namespace),
        IN_STORE(a_walk_in_a_namespace_survives_changes),
        IN_STORE(evaluates_a_selector_once_for_each_label_set),
        IN_STORE(a_selection_can_be_read_in_slices),
        IN_STORE(everything_can_be_read_in_slices),
        IN_STORE(a_selective_query_examines_few_objects),
        IN_STORE(a_query_that_selects_much_walks_all_objects),
        IN_STORE(a_callback_may_read),
        IN_STORE(a_walk_by_index_equals_one_over_all_objects),
        IN_STORE(only_equal_values_are_found_by_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
