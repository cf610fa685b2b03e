/*
 * test_state_restore.c - loaded objects reach a compact store all at once, and any other one by one; both have the
 * same objects, whatever the order of the files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/selector.h"

#include "base/alloc.h"
#include "builders.h"
#include "core/object/object.h"
#include "core/object/object_packer.h"
#include "core/store/store.h"
#include "state_world.h"

enum {
    PODS = 1000, /* so many that a dictionary is made */
    SLICE = 7,
    STREAMS = 10, /* more dictionaries than are lent to the pool (LENT_MAX) */
    ALIKE = 700,  /* pods of a stream: enough for a dictionary */
    SMALL = 6000, /* objects of a few hundred bytes: more than a piece of 512 KB */
};

/* A pod of 2 KB with a label that depends on @version; without labels if it is a multiple of 5. */
static struct inf_object *labelled_pod(unsigned n, unsigned version)
{
    char filler[2000], labels[40] = "", *text;
    struct inf_object *object;
    memset(filler, 'x', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    if (version % 5)
        snprintf(labels, sizeof(labels), ",\"labels\":{\"version\":\"%u\"}", version % 10);
    text = xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%06u\","
                     "\"namespace\":\"shop\",\"uid\":\"u-%u\",\"resourceVersion\":\"%u\"%s},"
                     "\"spec\":{\"image\":\"%s-%u\"}}",
                     n, n, version, labels, filler, n * 7919);
    object = object_from(text);
    free(text);
    return object;
}

static void put(struct inf_state_stream *stream, unsigned n, unsigned version, bool labels_known)
{
    struct inf_object *object = labelled_pod(n, version);
    char text[32] = "";
    struct str labels;
    if (version % 5)
        snprintf(text, sizeof(text), "{\"version\":\"%u\"}", version % 10);
    labels = str_of(text);
    state_put(stream, object, labels_known ? &labels : NULL);
    inf_object_unref(object);
}

static void delete (struct inf_state_stream *stream, unsigned n)
{
    struct inf_object *object = labelled_pod(n, 1);
    state_delete(stream, object);
    inf_object_unref(object);
}

/* In the order of their keys; then some are changed, deleted, and added again, and others are added between. */
static void save_pods(struct state_world *w)
{
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    for (unsigned n = 0; n < PODS; n += 2)
        put(pods, n, 1, true);
    for (unsigned n = 0; n < PODS; n += 3)
        put(pods, n, n + 2, n % 4);
    for (unsigned n = 0; n < PODS; n += 10)
        delete (pods, n);
    for (unsigned n = 0; n < PODS; n += 20)
        put(pods, n, n + 3, true);
    for (unsigned n = PODS; n-- > PODS - 100;)
        put(pods, n, 9, true);
    inf_state_position(pods, "7");
    state_world_flush(w);
    state_world_close(w);
    state_world_open(w);
}

static bool add_to_text(void *ctx, const struct inf_object *object)
{
    buf_printf(ctx, "%s=%s %zu\n", inf_object_name(object), inf_object_resource_version(object),
               strlen(inf_object_json(object, NULL)));
    return true;
}

/* All objects in order, and those of a label. */
static char *show_store(const struct inf_store *store)
{
    struct inf_selector *selector = inf_selector_parse_labels("version in (1, 4)", NULL);
    struct buf text = {0};
    store_each(store, "", add_to_text, &text);
    buf_puts(&text, "selected:\n");
    inf_store_select(store, "", selector, add_to_text, &text);
    buf_printf(&text, "%zu of version %s\n", inf_store_count(store),
               inf_store_resource_version(store));
    buf_putc(&text, '\0');
    store_take_back((struct inf_store *)(uintptr_t)store);
    inf_selector_free(selector);
    return text.bytes;
}

static struct inf_store *new_store(struct pack_context *context)
{
    struct inf_store *store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    store_pack(store, context, NULL);
    return store;
}

static void free_store(struct inf_store *store)
{
    while (!store_free_some(store, SLICE))
        continue;
}

static struct generation *move(struct inf_state_stream *stream, struct inf_store *store)
{
    struct generation *moved = NULL;
    size_t damaged = 0;
    while (!state_stream_move(stream, store, &moved, &damaged))
        continue;
    assert_int_equal(damaged, 0);
    return moved;
}

static void restore_one(void *next, const struct inf_object *object, const struct str *labels)
{
    struct restored_object restored = {.object = object, .labels = labels};
    assert_int_equal(generation_restore(next, &restored, 1), 0);
    inf_object_unref(object);
}

static void take_all(struct inf_state_stream *stream, struct generation *next)
{
    while (state_stream_take(stream, SLICE, restore_one, next))
        continue;
}

static void moved_objects_are_those_that_are_taken(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods;
    struct inf_store *compact, *plain;
    struct generation *next;
    size_t count;
    char *moved, *taken;
    save_pods(w);
    pods = inf_state_stream(w->state, "pods");
    count = inf_state_stream_count(pods);
    assert_true(inf_state_stream_is_restored(pods));
    compact = new_store(state_pack_context(w->state));
    next = move(pods, compact);
    assert_non_null(next);
    assert_false(inf_state_stream_is_restored(pods));
    store_restore(compact, next, "7");
    assert_int_equal(inf_store_count(compact), count);
    moved = show_store(compact);

    state_world_close(w);
    state_world_open(w);
    pods = inf_state_stream(w->state, "pods");
    plain = new_store(NULL);
    assert_null(move(pods, plain)); /* it holds them in another form */
    next = generation_new(plain);
    take_all(pods, next);
    assert_false(inf_state_stream_is_restored(pods));
    store_restore(plain, next, "7");
    taken = show_store(plain);
    assert_string_equal(moved, taken);
    free(moved);
    free(taken);
    free_store(compact);
    free_store(plain);
}

static void on_event(void *ctx, const struct inf_event *event)
{
    (void)event;
    ++*(unsigned *)ctx;
}

/* The store has the key of the state from then on: a list finds its objects. */
static void a_store_with_moved_objects_knows_them(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods;
    struct inf_store *store;
    struct generation *list;
    struct inf_object *object;
    unsigned events = 0;
    save_pods(w);
    pods = inf_state_stream(w->state, "pods");
    store = new_store(state_pack_context(w->state));
    store_restore(store, move(pods, store), "7");
    list = generation_new(store);
    for (unsigned n = PODS - 100; n < PODS; n++) {
        object = labelled_pod(n, 9);
        generation_put(list, object);
        inf_object_unref(object);
    }
    store_flip(store, list, "10", INF_RESUMED);
    while (!store_emit_some(store, SLICE, on_event, &events))
        continue;
    assert_int_equal(events, inf_state_stream_count(pods) - 100); /* only deletions */
    object = labelled_pod(PODS - 1, 10);
    store_put(store, object, INF_LIVE, on_event, &events);
    assert_int_equal(inf_store_count(store), 100);
    inf_object_unref(object);
    free_store(store);
}

static void drop(void *ctx, const struct inf_object *object, const struct str *labels)
{
    (void)labels;
    ++*(size_t *)ctx;
    inf_object_unref(object);
}

/* Changes that are noted before all were taken replace loaded objects. */
static void an_object_that_is_noted_meanwhile_is_not_taken(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods;
    size_t taken = 0, count;
    save_pods(w);
    pods = inf_state_stream(w->state, "pods");
    count = inf_state_stream_count(pods);
    put(pods, PODS - 1, 20, true);
    put(pods, PODS - 2, 20, true);
    delete (pods, PODS - 3);
    while (taken == 0)
        assert_true(state_stream_take(pods, SLICE, drop, &taken));
    put(pods, PODS - 20, 20, true);
    while (state_stream_take(pods, SLICE, drop, &taken))
        continue;
    assert_int_equal(taken, count - 4);
}

static void check_order(void *ctx, const struct inf_object *object, const struct str *labels)
{
    size_t *taken = ctx;
    char name[32];
    (void)labels;
    snprintf(name, sizeof(name), "p-%05zu", (*taken)++);
    assert_string_equal(inf_object_name(object), name);
    inf_object_unref(object);
}

/* More than a piece of the file. They are not packed: the loop makes them. */
static void many_small_objects_are_loaded(void **state)
{
    struct state_world *w = *state;
    struct inf_state_stream *pods = inf_state_stream(w->state, "pods");
    size_t taken = 0;
    for (unsigned n = 0; n < SMALL; n++) {
        char key[20];
        snprintf(key, sizeof(key), "a/p-%05u", n);
        state_world_put(pods, key, n + 1);
    }
    state_world_flush(w);
    state_world_close(w);
    state_world_open(w);
    pods = inf_state_stream(w->state, "pods");
    assert_int_equal(inf_state_stream_count(pods), SMALL);
    while (state_stream_take(pods, SLICE, check_order, &taken))
        continue;
    assert_int_equal(taken, SMALL);
}

static struct inf_state_stream *numbered_stream(struct state_world *w, unsigned i)
{
    char id[16];
    snprintf(id, sizeof(id), "pods-%u", i);
    return inf_state_stream(w->state, id);
}

static void objects_of_many_dictionaries_are_loaded(void **state)
{
    struct state_world *w = *state;
    for (unsigned i = 0; i < STREAMS; i++)
        for (unsigned n = 0; n < ALIKE; n++)
            put(numbered_stream(w, i), n, i * ALIKE + n + 1, true);
    state_world_flush(w);
    state_world_close(w);
    state_world_open(w);
    for (unsigned i = 0; i < STREAMS; i++) {
        struct inf_store *store = new_store(state_pack_context(w->state));
        char *shown;
        store_restore(store, move(numbered_stream(w, i), store), "7"); /* none is damaged */
        assert_int_equal(inf_store_count(store), ALIKE);
        shown = show_store(store); /* expands them */
        assert_non_null(strstr(shown, "web-000699="));
        free(shown);
        free_store(store);
    }
}

/* At every moment. The sanitizer detects leaks. */
static void objects_are_freed_when_loading_is_interrupted(void **state)
{
    struct state_world *w = *state;
    save_pods(w);
    for (unsigned ticks = 0; ticks < 40; ticks++) {
        state_world_close(w);
        state_world_start(w);
        for (unsigned n = 0; n < ticks; n++)
            sim_tick(&w->sim);
    }
    sim_run(&w->sim);
    for (unsigned ticks = 0; ticks < 40; ticks++) {
        state_world_close(w);
        state_world_start(w);
        for (unsigned n = 0; n < ticks; n++)
            sim_tick(&w->sim);
        w->disk->stuck_call = MEMORY_READ;
        sim_advance(&w->sim, 11 * 1000);
        w->disk->stuck_call = MEMORY_CALLS;
        sim_run(&w->sim);
    }
}

/* The sanitizer detects leaks. */
static void loaded_objects_are_freed_with_their_stream(void **state)
{
    struct state_world *w = *state;
    size_t taken = 0;
    save_pods(w);
    state_stream_take(inf_state_stream(w->state, "pods"), SLICE, drop, &taken);
    inf_state_stream_drop(inf_state_stream(w->state, "pods"));
    sim_run(&w->sim);
    assert_int_equal(inf_state_stream_count(inf_state_stream(w->state, "pods")), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, state_world_setup, state_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(moved_objects_are_those_that_are_taken),
        TEST(a_store_with_moved_objects_knows_them),
        TEST(an_object_that_is_noted_meanwhile_is_not_taken),
        TEST(many_small_objects_are_loaded),
        TEST(objects_of_many_dictionaries_are_loaded),
        TEST(objects_are_freed_when_loading_is_interrupted),
        TEST(loaded_objects_are_freed_with_their_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
