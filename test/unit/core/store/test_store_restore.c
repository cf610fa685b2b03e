/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "informer/selector.h"

#include "base/alloc.h"
#include "builders.h"
#include "core/object/object_image.h"
#include "core/object/object_packer.h"
#include "core/store/index_path.h"
#include "core/store/store.h"

enum {
    PODS = 60,
};

static const struct pack_limits small = {.objects = 1, .window = 1000};

struct fixture {
    struct pack_context *context; /* of this process */
    struct pack_context *former;  /* of an earlier process, with another key */
    struct object_packer packer;  /* of an earlier process */
    struct index_def node;
    struct inf_path *node_path;
    struct inf_store *store;
    struct generation *next;
    unsigned events;
};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->context = pack_context_new(&(struct siphash_key){1, 2});
    f->former = pack_context_new(&(struct siphash_key){3, 4});
    object_packer_init(&f->packer, f->former, &small, 7);
    f->node_path = path_from("spec.nodeName");
    f->node = index_by_path("node", f->node_path);
    f->store = store_new(&(struct siphash_key){1, 2}, &f->node, 1);
    f->next = generation_new(f->store);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    store_discard(f->store, f->next);
    while (!store_free_some(f->store, 3))
        continue;
    object_packer_free(&f->packer);
    inf_path_free(f->node_path);
    pack_context_unref(f->context);
    pack_context_unref(f->former);
    test_free(f);
    return 0;
}

static bool restore(struct generation *next, const struct inf_object *held,
                    const struct str *labels)
{
    struct restored_object one = {.object = held, .labels = labels};
    return generation_restore(next, &one, 1) == 0;
}

static struct inf_object *web_pod(unsigned n, unsigned version)
{
    char *text = xasprintf(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%u\",\"namespace\":"
        "\"shop\",\"uid\":\"0a1b2c3d-%u\",\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"web\","
        "\"half\":\"%u\"}},\"spec\":{\"nodeName\":\"node-%u\",\"containers\":[{\"name\":\"main\","
        "\"image\":\"registry.example.com/shop/web:1.4.2\",\"env\":[{\"name\":\"LISTEN_ADDRESS\","
        "\"value\":\"0.0.0.0:8080\"}]}]},\"state\":%u}",
        n, n, version, n % 2, n % 10, version);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

/* The form that the earlier process held. */
static const struct inf_object *held_pod(struct fixture *f, unsigned n)
{
    struct inf_object *object = web_pod(n, 1);
    const struct inf_object *held = object_pack(&f->packer, object, PODS);
    inf_object_unref(object);
    return held;
}

static bool is_packed(const struct inf_store *store, unsigned n)
{
    struct inf_object *object = web_pod(n, 1);
    const struct inf_object *form = store_form_of(store, object), *ordinary;
    bool packed;
    assert_non_null(form);
    ordinary = object_unpack(form);
    packed = ordinary != form;
    assert_string_equal(inf_object_json(ordinary, NULL), inf_object_json(object, NULL));
    inf_object_unref(ordinary);
    inf_object_unref(object);
    return packed;
}

static void restore_pods(struct fixture *f)
{
    for (unsigned n = 0; n < PODS; n++) {
        const struct inf_object *held = held_pod(f, n);
        assert_true(restore(f->next, held, NULL));
        inf_object_unref(held);
    }
    assert_int_equal(inf_store_count(f->store), 0); /* readers do not see a part of it */
    store_restore(f->store, f->next, "9");
    f->next = NULL;
    assert_int_equal(inf_store_count(f->store), PODS);
    assert_string_equal(inf_store_resource_version(f->store), "9");
}

static bool count_object(void *ctx, const struct inf_object *object)
{
    (void)object;
    ++*(size_t *)ctx;
    return true;
}

static void count_event(void *ctx, const struct inf_event *event)
{
    (void)event;
    ++*(unsigned *)ctx;
}

static void assert_indexed(const struct inf_store *store)
{
    struct inf_selector *selector = inf_selector_parse_labels("half=1", NULL);
    size_t count = 0;
    inf_store_by_index(store, "node", "node-3", count_object, &count);
    assert_int_equal(count, PODS / 10);
    count = 0;
    inf_store_select(store, "", selector, count_object, &count);
    assert_int_equal(count, PODS / 2);
    inf_selector_free(selector);
}

static size_t repack(struct fixture *f)
{
    size_t before = inf_store_bytes(f->store);
    while (!store_repack_some(f->store, 4))
        continue;
    return before - inf_store_bytes(f->store);
}

static void packed_objects_stay_packed_in_a_compact_store(void **state)
{
    struct fixture *f = *state;
    store_pack(f->store, f->context, &small);
    restore_pods(f);
    assert_false(is_packed(f->store, 0)); /* the dictionary was made later */
    assert_true(is_packed(f->store, PODS - 1));
    assert_indexed(f->store);
    repack(f);
    assert_true(is_packed(f->store, 0));
}

/* The labels given here are not those of the texts: the texts are not read. Other objects are. */
static void packed_objects_with_known_labels_are_not_expanded(void **state)
{
    struct fixture *f = *state;
    struct inf_store *store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    struct generation *next = generation_new(store);
    struct inf_selector *all = inf_selector_parse_labels("app=all", NULL);
    const struct str saved[] = {STR("{\"app\":\"all\"}"), STR("")};
    size_t packed = 0, count = 0;
    store_pack(store, f->context, &small);
    for (unsigned n = 0; n < PODS; n++) {
        const struct inf_object *held = held_pod(f, n);
        assert_true(restore(next, held, &saved[n % 2]));
        packed += n % 2 == 0 && object_is_packed(held);
        inf_object_unref(held);
    }
    assert_true(packed > 0);
    store_restore(store, next, "9");
    assert_int_equal(inf_store_count(store), PODS);
    inf_store_select(store, "", all, count_object, &count);
    assert_int_equal(count, packed);
    assert_true(is_packed(store, PODS - 1));
    inf_selector_free(all);
    while (!store_free_some(store, 3))
        continue;
}

static void packed_objects_are_expanded_in_a_plain_store(void **state)
{
    struct fixture *f = *state;
    restore_pods(f);
    for (unsigned n = 0; n < PODS; n++)
        assert_false(is_packed(f->store, n));
    assert_indexed(f->store);
    assert_int_equal(repack(f), 0);
}

/* Otherwise every start would pack all objects again. */
static void later_objects_use_the_dictionary_of_the_restored_ones(void **state)
{
    struct fixture *f = *state;
    const struct inf_object *before, *pod = web_pod(PODS - 1, 1);
    store_pack(f->store, f->context, &small);
    restore_pods(f);
    repack(f);
    before = store_form_of(f->store, pod);
    for (unsigned n = 0; n < 3; n++) { /* not so many that another dictionary is due */
        struct inf_object *object = web_pod(n, 2);
        store_put(f->store, object, INF_LIVE, count_event, &f->events);
        inf_object_unref(object);
    }
    repack(f);
    assert_ptr_equal(store_form_of(f->store, pod), before);
    inf_object_unref(pod);
}

static void a_list_of_the_same_objects_shares_them(void **state)
{
    struct fixture *f = *state;
    struct generation *list;
    store_pack(f->store, f->context, &small);
    restore_pods(f);
    repack(f);
    list = generation_new(f->store);
    for (unsigned n = 0; n < PODS; n++) {
        struct inf_object *object = web_pod(n, 1);
        generation_put(list, object);
        inf_object_unref(object);
    }
    assert_false(generation_differs(list));
    store_flip(f->store, list, "10", INF_RESUMED);
    while (!store_emit_some(f->store, 7, count_event, &f->events))
        continue;
    assert_int_equal(f->events, 0);
}

static void objects_packed_with_different_keys_are_compared_by_text(void **state)
{
    struct fixture *f = *state;
    struct object_packer other;
    struct inf_object *object = web_pod(1, 1), *changed = web_pod(1, 2);
    const struct inf_object *a, *b, *c;
    object_packer_init(&other, f->context, &small, 8);
    for (unsigned n = 0; n < PODS; n++) {
        struct inf_object *sample = web_pod(n, 1);
        inf_object_unref(object_pack(&f->packer, sample, PODS));
        inf_object_unref(object_pack(&other, sample, PODS));
        inf_object_unref(sample);
    }
    a = object_pack(&f->packer, object, PODS);
    b = object_pack(&other, object, PODS);
    c = object_pack(&other, changed, PODS);
    assert_true(a != object && b != object && a != b);
    assert_true(object_equal(a, b) && object_equal(b, a));
    assert_false(object_equal(a, c));
    inf_object_unref(a);
    inf_object_unref(b);
    inf_object_unref(c);
    inf_object_unref(object);
    inf_object_unref(changed);
    object_packer_free(&other);
}

static void the_last_object_of_a_key_wins(void **state)
{
    struct fixture *f = *state;
    for (unsigned version = 1; version <= 2; version++) {
        struct inf_object *object = web_pod(1, version);
        assert_true(restore(f->next, object, NULL));
        inf_object_unref(object);
    }
    store_restore(f->store, f->next, "2");
    f->next = NULL;
    assert_int_equal(inf_store_count(f->store), 1);
    assert_string_equal(inf_object_resource_version(inf_store_get(f->store, "shop", "web-1")), "2");
}

static void only_the_same_version_has_a_form(void **state)
{
    struct fixture *f = *state;
    struct inf_object *known = web_pod(1, 1), *newer = web_pod(1, 2), *other = web_pod(2, 1);
    assert_true(restore(f->next, known, NULL));
    store_restore(f->store, f->next, "1");
    f->next = NULL;
    assert_ptr_equal(store_form_of(f->store, known), known);
    assert_null(store_form_of(f->store, newer));
    assert_null(store_form_of(f->store, other));
    inf_object_unref(known);
    inf_object_unref(newer);
    inf_object_unref(other);
}

/* A frame that was changed gives no object, or one with another text: never a crash, then or later. */
static void a_changed_frame_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct inf_object *held;
    struct inf_cursor cursor = INF_CURSOR_START;
    struct buf image = {0};
    size_t refused = 0;
    for (unsigned n = 0; n < PODS; n++)
        inf_object_unref(held_pod(f, n));
    held = held_pod(f, PODS);
    assert_true(object_is_packed(held));
    object_image_put(&image, held);
    for (size_t i = 0; i < image.len; i++) {
        const struct inf_object *loaded;
        image.bytes[i] ^= 0x41;
        loaded =
            object_image_load((struct str){image.bytes, image.len}, object_image_dictionary(held));
        refused += loaded && !restore(f->next, loaded, NULL);
        inf_object_unref(loaded);
        image.bytes[i] ^= 0x41;
    }
    assert_true(refused > 0);
    store_restore(f->store, f->next, "9");
    f->next = NULL;
    for (const struct inf_object *o; (o = inf_store_next(f->store, &cursor));)
        assert_non_null(inf_object_json(o, NULL)); /* any text */
    inf_cursor_end(&cursor);
    inf_object_unref(held);
    buf_free(&image);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(packed_objects_stay_packed_in_a_compact_store),
        TEST(packed_objects_with_known_labels_are_not_expanded),
        TEST(packed_objects_are_expanded_in_a_plain_store),
        TEST(later_objects_use_the_dictionary_of_the_restored_ones),
        TEST(a_list_of_the_same_objects_shares_them),
        TEST(objects_packed_with_different_keys_are_compared_by_text),
        TEST(the_last_object_of_a_key_wins),
        TEST(a_changed_frame_is_refused),
        TEST(only_the_same_version_has_a_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
