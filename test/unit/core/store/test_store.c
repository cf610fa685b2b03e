/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "builders.h"
#include "core/store/store.h"

struct fixture {
    struct inf_store *store;
    struct buf
        emitted; /* "+default/a " added, "~" modified, "-" deleted, "?" deleted, last state unknown */
};

static void record_event(void *ctx, const struct inf_event *event)
{
    struct fixture *f = ctx;
    char mark = event->verb == INF_ADDED ? '+' : event->verb == INF_MODIFIED ? '~' : '-';
    const struct inf_object *object = inf_event_object(event);
    if (!event->final)
        mark = '?';
    buf_printf(&f->emitted, "%c%.*s ", mark, STR_FMT(object_key(object)));
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    while (!store_free_some(f->store, 1))
        continue;
    buf_free(&f->emitted);
    test_free(f);
    return 0;
}

static void assert_emitted(struct fixture *f, const char *expected)
{
    buf_putc(&f->emitted, '\0');
    assert_string_equal(f->emitted.bytes, expected);
    buf_clear(&f->emitted);
}

static void put(struct fixture *f, const char *key, const char *uid, uint64_t version)
{
    struct inf_object *object = pod(key, uid, version, 0);
    store_put(f->store, object, INF_LIVE, record_event, f);
    inf_object_unref(object);
}

static void take_out(struct fixture *f, const char *key, const char *uid, uint64_t version)
{
    struct inf_object *object = pod(key, uid, version, 0);
    store_delete(f->store, object, record_event, f);
    inf_object_unref(object);
}

static void stage(struct generation *g, const char *key, const char *uid, uint64_t version)
{
    struct inf_object *object = pod(key, uid, version, 0);
    generation_put(g, object);
    inf_object_unref(object);
}

static void flip(struct fixture *f, struct generation *g, const char *version, size_t budget)
{
    store_flip(f->store, g, version, INF_RELIST);
    while (!store_emit_some(f->store, budget, record_event, f))
        continue;
}

static void emits_add_update_and_delete(void **state)
{
    struct fixture *f = *state;
    put(f, "default/a", "u1", 1);
    put(f, "default/a", "u1", 2);
    take_out(f, "default/a", "u1", 3);
    assert_emitted(f, "+default/a ~default/a -default/a ");
    assert_int_equal(inf_store_count(f->store), 0);
    assert_int_equal(inf_store_bytes(f->store), 0);
    assert_string_equal(inf_store_resource_version(f->store), "3");
}

static void an_unchanged_object_emits_nothing(void **state)
{
    struct fixture *f = *state;
    put(f, "default/a", "u1", 1);
    put(f, "default/a", "u1", 1);
    assert_emitted(f, "+default/a ");
}

static void another_uid_is_another_object(void **state)
{
    struct fixture *f = *state;
    put(f, "default/a", "u1", 1);
    put(f, "default/a", "u2", 2);
    assert_emitted(f, "+default/a ?default/a +default/a ");
}

static void the_deletion_of_an_unknown_object_emits_nothing(void **state)
{
    struct fixture *f = *state;
    take_out(f, "default/a", "u1", 5);
    assert_emitted(f, "");
    assert_string_equal(inf_store_resource_version(f->store), "5");
}

static void objects_are_found_by_namespace_and_name(void **state)
{
    struct fixture *f = *state;
    char longest[OBJECT_NAME_MAX + 2];
    put(f, "default/a", "u1", 1);
    assert_non_null(inf_store_get(f->store, "default", "a"));
    assert_null(inf_store_get(f->store, "default", "b"));
    assert_null(inf_store_get(f->store, "", "default/b"));
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_null(inf_store_get(f->store, "default", longest));
}

/* 90: TestThreadSafeStoreRV: each kind of change advances it; only a list may decrease it. */
static void the_store_is_at_the_version_of_its_last_change(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(inf_store_resource_version(f->store), "");
    put(f, "n/a", "u1", 3);
    assert_string_equal(inf_store_resource_version(f->store), "3");
    store_bookmark(f->store, "7");
    assert_string_equal(inf_store_resource_version(f->store), "7");
    put(f, "n/b", "u2", 5);
    assert_string_equal(inf_store_resource_version(f->store), "7");
    take_out(f, "n/a", "u1", 9);
    assert_string_equal(inf_store_resource_version(f->store), "9");
    flip(f, generation_new(f->store), "4", 100);
    assert_string_equal(inf_store_resource_version(f->store), "4");
}

/* The API server sorts by the bytes of the whole key, in which '-' and '.' are before '/'. */
static void a_walk_goes_in_the_servers_order(void **state)
{
    static const char *const order[] = {"a-b/z", "a.b/z", "a/b", "a/b-c", "a0/a"};
    struct fixture *f = *state;
    struct inf_cursor cursor = INF_CURSOR_START;
    for (size_t i = 0; i < 5; i++)
        put(f, order[(i * 3) % 5], "u", i + 1);
    for (size_t i = 0; i < 5; i++)
        assert_true(str_eq(object_key(inf_store_next(f->store, &cursor)), str_of(order[i])));
    assert_null(inf_store_next(f->store, &cursor));
    inf_cursor_end(&cursor);
}

static void a_walk_survives_changes_around_it(void **state)
{
    struct fixture *f = *state;
    struct inf_cursor cursor = INF_CURSOR_START;
    put(f, "n/b", "u1", 1);
    put(f, "n/d", "u2", 2);
    put(f, "n/f", "u3", 3);
    assert_string_equal(inf_object_name(inf_store_next(f->store, &cursor)), "b");
    take_out(f, "n/b", "u1", 4); /* the current one */
    put(f, "n/a", "u4", 5);      /* after it: not returned any more */
    put(f, "n/c", "u5", 6);      /* before it */
    assert_string_equal(inf_object_name(inf_store_next(f->store, &cursor)), "c");
    take_out(f, "n/d", "u2", 7);
    assert_string_equal(inf_object_name(inf_store_next(f->store, &cursor)), "f");
    assert_null(inf_store_next(f->store, &cursor));
    put(f, "n/g", "u6", 8); /* also at its end */
    assert_string_equal(inf_object_name(inf_store_next(f->store, &cursor)), "g");
    inf_cursor_end(&cursor);
}

static void a_walk_survives_a_relist(void **state)
{
    struct fixture *f = *state;
    struct generation *next = generation_new(f->store);
    struct inf_cursor cursor = INF_CURSOR_START;
    put(f, "n/a", "u1", 1);
    put(f, "n/c", "u2", 2);
    assert_string_equal(inf_object_name(inf_store_next(f->store, &cursor)), "a");
    stage(next, "n/b", "u3", 3);
    flip(f, next, "4", 100);
    assert_string_equal(inf_object_name(inf_store_next(f->store, &cursor)), "b");
    assert_null(inf_store_next(f->store, &cursor));
    inf_cursor_end(&cursor);
}

static void a_relist_emits_deletes_then_changes_in_order(void **state)
{
    struct fixture *f = *state;
    struct generation *next;
    put(f, "n/gone", "u1", 1);
    put(f, "n/same", "u2", 2);
    put(f, "n/changed", "u3", 3);
    put(f, "n/recreated", "u4", 4);
    assert_emitted(f, "+n/gone +n/same +n/changed +n/recreated ");
    next = generation_new(f->store);
    stage(next, "n/same", "u2", 2);
    stage(next, "n/recreated", "u9", 7);
    stage(next, "n/changed", "u3", 6);
    stage(next, "n/added", "u5", 5);
    flip(f, next, "8", 100);
    assert_emitted(f, "?n/gone +n/added ~n/changed ?n/recreated +n/recreated ");
    assert_string_equal(inf_store_resource_version(f->store), "8");
}

/* The events are the same for slices of one entry, two, ... */
static void the_size_of_slices_does_not_change_the_events(void **state)
{
    struct fixture *f = *state;
    (void)state;
    for (size_t budget = 1; budget < 12; budget++) {
        struct generation *next = generation_new(f->store);
        stage(next, "n/a", "u1", 1);
        stage(next, "n/b", "u2", 2);
        flip(f, next, "3", budget);
        next = generation_new(f->store);
        stage(next, "n/b", "u2", 4);
        stage(next, "n/c", "u3", 5);
        flip(f, next, "6", budget);
        flip(f, generation_new(f->store), "7", budget);
        assert_emitted(f, "+n/a +n/b ?n/a ~n/b +n/c ?n/b ?n/c ");
    }
}

static void readers_see_all_of_a_relist_or_nothing(void **state)
{
    struct fixture *f = *state;
    struct generation *next = generation_new(f->store);
    put(f, "n/old", "u1", 1);
    stage(next, "n/new", "u2", 2);
    assert_non_null(inf_store_get(f->store, "n", "old"));
    assert_null(inf_store_get(f->store, "n", "new"));
    store_flip(f->store, next, "3", INF_RELIST);
    assert_null(inf_store_get(f->store, "n", "old"));
    assert_non_null(inf_store_get(f->store, "n", "new"));
    while (!store_emit_some(f->store, 1, record_event, f))
        continue;
}

static void an_unchanged_object_is_held_once(void **state)
{
    struct fixture *f = *state;
    struct generation *next = generation_new(f->store);
    const struct inf_object *before;
    size_t bytes;
    put(f, "n/a", "u1", 1);
    before = inf_store_get(f->store, "n", "a");
    bytes = inf_store_bytes(f->store);
    stage(next, "n/a", "u1", 1);
    flip(f, next, "2", 100);
    assert_ptr_equal(inf_store_get(f->store, "n", "a"), before);
    assert_int_equal(inf_store_bytes(f->store), bytes);
}

static void the_last_object_of_a_name_in_a_list_counts(void **state)
{
    struct fixture *f = *state;
    struct generation *next = generation_new(f->store);
    struct inf_object *gone = pod("n/b", "u2", 3, 0);
    stage(next, "n/a", "u1", 1);
    stage(next, "n/a", "u1", 2);
    stage(next, "n/b", "u2", 3);
    generation_delete(next, gone);
    assert_int_equal(generation_count(next), 1);
    flip(f, next, "4", 100);
    assert_emitted(f, "+n/a ");
    assert_string_equal(inf_object_resource_version(inf_store_get(f->store, "n", "a")), "2");
    inf_object_unref(gone);
}

static void an_abandoned_list_is_freed(void **state)
{
    struct fixture *f = *state;
    struct generation *next = generation_new(f->store);
    put(f, "n/a", "u1", 1);
    stage(next, "n/a", "u1", 1);
    stage(next, "n/b", "u2", 2);
    stage(next, "n/c", "u3", 3);
    store_discard(f->store, next);
    assert_false(store_sweep(f->store, 2));
    assert_true(store_sweep(f->store, 2));
    assert_non_null(inf_store_get(f->store, "n", "a"));
}

/* A store that is freed while it delivers leaks nothing. */
static void emitting_can_be_abandoned(void **state)
{
    struct fixture *f = *state;
    struct generation *next = generation_new(f->store);
    put(f, "n/a", "u1", 1);
    put(f, "n/b", "u2", 2);
    stage(next, "n/c", "u3", 3);
    store_flip(f->store, next, "4", INF_RELIST);
    assert_false(store_emit_some(f->store, 1, record_event, f));
}

static void stage_large(struct generation *g, unsigned n)
{
    struct buf text = {0};
    struct inf_object *object;
    buf_printf(&text,
               "{\"metadata\":{\"name\":\"c%u\",\"namespace\":\"n\",\"uid\":\"u%u\"},\"data\":\"",
               n, n);
    while (text.len < 100 * 1000)
        buf_putc(&text, 'x');
    buf_put(&text, "\"}", 3);
    object = object_from(text.bytes);
    generation_put(g, object);
    inf_object_unref(object);
    buf_free(&text);
}

/* To expand and to save one takes as long as for a dozen of others. */
static void few_large_objects_are_emitted_in_a_slice(void **state)
{
    struct fixture *f = *state;
    struct generation *next = generation_new(f->store);
    unsigned slices = 1;
    for (unsigned n = 0; n < 30; n++)
        stage_large(next, n);
    store_flip(f->store, next, "1", INF_INITIAL);
    while (!store_emit_some(f->store, 32, record_event, f))
        slices++;
    assert_true(slices >= 10);
}

#define IN_STORE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void copied_and_forgotten_by_namespace(void **state)
{
    struct fixture *f = *state;
    struct inf_store *to = store_new(&(struct siphash_key){3, 4}, NULL, 0);
    put(f, "a/x", "u1", 1);
    put(f, "a/y", "u2", 2);
    put(f, "aa/x", "u3", 3);
    put(f, "b/x", "u4", 4);
    buf_clear(&f->emitted);
    store_copy(to, f->store, "a");
    store_copy(to, f->store, "a"); /* which it has already */
    assert_int_equal(inf_store_count(to), 2);
    store_forget(f->store, "a");
    assert_int_equal(inf_store_count(f->store), 2);
    assert_null(inf_store_get(f->store, "a", "x"));
    assert_non_null(inf_store_get(f->store, "aa", "x"));
    store_copy(to, f->store, "");
    assert_int_equal(inf_store_count(to), 4);
    assert_string_equal(inf_store_resource_version(to), "4");
    assert_int_equal(f->emitted.len, 0);
    while (!store_free_some(to, 1))
        continue;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_STORE(copied_and_forgotten_by_namespace),
        IN_STORE(emits_add_update_and_delete),
        IN_STORE(an_unchanged_object_emits_nothing),
        IN_STORE(another_uid_is_another_object),
        IN_STORE(the_deletion_of_an_unknown_object_emits_nothing),
        IN_STORE(objects_are_found_by_namespace_and_name),
        IN_STORE(the_store_is_at_the_version_of_its_last_change),
        IN_STORE(a_walk_goes_in_the_servers_order),
        IN_STORE(a_walk_survives_changes_around_it),
        IN_STORE(a_walk_survives_a_relist),
        IN_STORE(a_relist_emits_deletes_then_changes_in_order),
        IN_STORE(the_size_of_slices_does_not_change_the_events),
        IN_STORE(readers_see_all_of_a_relist_or_nothing),
        IN_STORE(an_unchanged_object_is_held_once),
        IN_STORE(the_last_object_of_a_name_in_a_list_counts),
        IN_STORE(an_abandoned_list_is_freed),
        IN_STORE(emitting_can_be_abandoned),
        IN_STORE(few_large_objects_are_emitted_in_a_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
