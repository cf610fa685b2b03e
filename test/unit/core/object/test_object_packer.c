/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/page_pool.h"
#include "builders.h"
#include "core/object/object.h"
#include "core/object/object_packer.h"

enum {
    OBJECTS = 200,
};

struct fixture {
    struct pack_context *context;
    struct object_packer packer;
    size_t objects; /* that the store would have */
};

static const struct pack_limits small = {
    .text_min = 64, .objects = 20, .bytes = 1000, .window = 50};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->context = pack_context_new(&(struct siphash_key){1, 2});
    object_packer_init(&f->packer, f->context, &small, 7);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    object_packer_free(&f->packer);
    pack_context_unref(f->context);
    test_free(f);
    return 0;
}

/* A pod of about 1 KB. Those of one @app are alike; the texts of two apps have little in common. */
static struct inf_object *app_pod(const char *app, unsigned n)
{
    char spec[800], *text;
    struct inf_object *object;
    for (size_t i = 0; i < sizeof(spec) - 1; i++)
        spec[i] = (char)('a' + ((size_t)app[i % strlen(app)] * (i + 3) + i * i / 7) % 26);
    spec[sizeof(spec) - 1] = '\0';
    text = xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s-%u\","
                     "\"namespace\":\"shop\",\"uid\":\"u-%u\",\"resourceVersion\":\"%u\"},"
                     "\"spec\":{\"image\":\"%s\",\"n\":%u}}",
                     app, n, n, n, spec, n);
    object = object_from(text);
    free(text);
    return object;
}

static bool is_packed(const struct inf_object *held, const struct inf_object *object)
{
    return inf_object_size(held) < inf_object_size(object);
}

/* Packs pods @from up to (not including) @to of @app. Returns how many of them were packed. */
static unsigned pack_pods(struct fixture *f, const char *app, unsigned from, unsigned to)
{
    unsigned packed = 0;
    for (unsigned i = from; i < to; i++) {
        struct inf_object *object = app_pod(app, i);
        const struct inf_object *held = object_pack(&f->packer, object, ++f->objects);
        packed += is_packed(held, object);
        inf_object_unref(held);
        inf_object_unref(object);
    }
    return packed;
}

static void an_unpacked_object_is_the_same_to_the_byte(void **state)
{
    struct fixture *f = *state;
    pack_pods(f, "web", 0, OBJECTS);
    for (unsigned i = 0; i < OBJECTS; i++) {
        struct inf_object *object = app_pod("web", i);
        const struct inf_object *held = object_pack(&f->packer, object, f->objects), *again;
        size_t len[2];
        assert_true(is_packed(held, object));
        assert_true(inf_object_size(held) < inf_object_size(object) / 3);
        assert_string_equal(inf_object_name(held), inf_object_name(object));
        assert_string_equal(inf_object_uid(held), inf_object_uid(object));
        again = object_unpack(held);
        inf_object_unref(held); /* what was unpacked does not need it */
        assert_string_equal(inf_object_json(again, &len[0]), inf_object_json(object, &len[1]));
        assert_int_equal(len[0], len[1]);
        assert_int_equal(inf_object_size(again), inf_object_size(object));
        inf_object_unref(again);
        inf_object_unref(object);
    }
}

/* Saved objects that are not packed may be restored while another thread uses the memory of the dictionary. */
static void an_object_is_packed_later_while_memory_is_lent(void **state)
{
    struct fixture *f = *state;
    struct page_stock stock;
    struct pack_dictionary *dictionary;
    struct inf_object *object = app_pod("web", OBJECTS);
    const struct inf_object *held, *later;
    pack_pods(f, "web", 0, OBJECTS);
    dictionary = f->packer.dictionary;
    page_stock_init(&stock);
    pack_memory_lend(dictionary, &stock);
    held = object_pack_restored(&f->packer, object, object, f->objects);
    assert_false(is_packed(held, object));
    pack_memory_end_lending(dictionary, 0);
    assert_true(object_repack_is_due(&f->packer, held));
    later = object_repack(&f->packer, held);
    assert_true(is_packed(later, object));
    inf_object_unref(later);
    inf_object_unref(held);
    inf_object_unref(object);
}

static void the_first_objects_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pack_pods(f, "web", 0, 35), 0); /* 20, and 15 between two stages */
    assert_int_equal(pack_pods(f, "web", 35, 60), 25);
}

static void short_objects_and_incompressible_ones_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    struct inf_object *tiny = pod("a/b", "u", 1, 1), *random;
    const struct inf_object *held;
    char noise[1025], *text;
    uint32_t x = 12345;
    f->packer.limits.text_min = 512;
    pack_pods(f, "web", 0, 40);
    held = object_pack(&f->packer, tiny, f->objects);
    assert_ptr_equal(held, tiny);
    inf_object_unref(held);
    inf_object_unref(tiny);

    for (size_t i = 0; i < sizeof(noise) - 1; i++) {
        x = x * 1664525 + 1013904223;
        noise[i] = (char)('#' + (x >> 16) % 57); /* no quote, no backslash */
    }
    noise[sizeof(noise) - 1] = '\0';
    text = xasprintf("{\"metadata\":{\"name\":\"random\"},\"data\":\"%s\"}", noise);
    random = object_from(text);
    held = object_pack(&f->packer, random, f->objects);
    assert_ptr_equal(held, random);
    inf_object_unref(held);
    inf_object_unref(random);
    free(text);
}

static void equality_needs_no_text(void **state)
{
    struct fixture *f = *state;
    struct inf_object *a, *b;
    const struct inf_object *packed[2];
    pack_pods(f, "web", 0, 40);
    a = app_pod("web", 50);
    b = object_from("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-50\","
                    "\"namespace\":\"shop\",\"uid\":\"u-50\",\"resourceVersion\":\"50\"}}");
    packed[0] = object_pack(&f->packer, a, f->objects);
    packed[1] = object_pack(&f->packer, a, f->objects);
    assert_true(object_equal(packed[0], a));
    assert_true(object_equal(a, packed[0]));
    assert_true(object_equal(packed[0], packed[1]));
    assert_false(object_equal(packed[0], b));
    assert_false(object_equal(b, packed[0]));
    inf_object_unref(b);
    b = app_pod("api", 50); /* the same length, uid and version */
    assert_int_equal(inf_object_size(a), inf_object_size(b));
    assert_false(object_equal(packed[0], b));
    inf_object_unref(packed[0]);
    inf_object_unref(packed[1]);
    inf_object_unref(a);
    inf_object_unref(b);
}

static void a_new_dictionary_is_made_when_objects_no_longer_resemble_the_samples(void **state)
{
    struct fixture *f = *state;
    struct inf_object *object;
    const struct inf_object *old, *again;
    unsigned before;
    pack_pods(f, "web", 0, 20 * 64 + 2 * 50); /* all steps of growth, and a window of its own */
    before = f->packer.dictionaries;
    object = app_pod("web", 1);
    old = object_pack(&f->packer, object, f->objects);
    pack_pods(f, "web", 0, 200);
    assert_int_equal(f->packer.dictionaries, before);
    assert_false(object_repack_is_due(&f->packer, old));

    pack_pods(f, "zk", 0, 2000);
    assert_true(f->packer.dictionaries > before);
    assert_true(f->packer.dictionaries < before + 20); /* no dictionary for each window */
    assert_true(object_repack_is_due(&f->packer, old));
    again = object_unpack(old); /* with its own dictionary */
    assert_true(object_equal(again, object));
    inf_object_unref(again);
    again = object_repack(&f->packer, old);
    assert_false(object_repack_is_due(&f->packer, again) && is_packed(again, object));
    assert_true(object_equal(again, object));
    inf_object_unref(again);
    inf_object_unref(old);
    inf_object_unref(object);
}

/* As a store does it: every object is repacked for every dictionary. */
static void texts_that_keep_changing_do_not_cause_a_repack_for_each_window(void **state)
{
    struct fixture *f = *state;
    struct inf_object *object = app_pod("web", 1);
    const struct inf_object *held;
    unsigned before, window = (unsigned)f->packer.limits.window, changes = 0;
    pack_pods(f, "web", 0, 200);
    held = object_pack(&f->packer, object, f->objects);
    before = f->packer.dictionaries;
    for (unsigned round = 0; round < 100; round++) {
        unsigned known = f->packer.dictionaries;
        f->objects = 200; /* these are changes */
        changes += 2 * window;
        pack_pods(f, round % 2 ? "web" : "zk", 0, 2 * window);
        for (unsigned i = 0; known != f->packer.dictionaries && i < 200; i++)
            inf_object_unref(object_repack(&f->packer, held));
    }
    assert_true(f->packer.dictionaries > before); /* the limit is not reached by doing nothing */
    assert_in_range(f->packer.dictionaries - before, 1, changes / (4 * 200) + 1);
    inf_object_unref(held);
    inf_object_unref(object);
}

static void a_dictionary_made_from_the_first_part_of_a_list_is_replaced_at_its_end(void **state)
{
    struct fixture *f = *state;
    unsigned before;
    pack_pods(f, "web", 0, 100);
    before = f->packer.dictionaries;
    object_packer_list_ended(&f->packer, f->objects);
    assert_true(object_packer_continue(&f->packer)); /* the second stage needs no further object */
    assert_int_equal(f->packer.dictionaries, before + 1);
    assert_false(object_packer_continue(&f->packer));
    object_packer_list_ended(&f->packer, f->objects); /* a list of the same objects */
    assert_false(object_packer_continue(&f->packer));
}

static void without_a_context_nothing_is_packed(void **state)
{
    struct fixture *f = *state;
    object_packer_free(&f->packer);
    object_packer_init(&f->packer, NULL, &small, 7);
    assert_int_equal(pack_pods(f, "web", 0, OBJECTS), 0);
}

static void a_packed_object_outlives_its_packer(void **state)
{
    struct fixture *f = *state;
    struct inf_object *object;
    const struct inf_object *held, *again;
    pack_pods(f, "web", 0, 40);
    object = app_pod("web", 50);
    held = object_pack(&f->packer, object, f->objects);
    object_packer_free(&f->packer);
    pack_context_unref(f->context);
    again = object_unpack(held);
    assert_true(object_equal(again, object));
    inf_object_unref(again);
    inf_object_unref(held);
    inf_object_unref(object);
    f->context = pack_context_new(&(struct siphash_key){1, 2});
    object_packer_init(&f->packer, f->context, &small, 7);
}

static void a_packer_can_resume_with_an_existing_dictionary(void **state)
{
    struct fixture *f = *state;
    struct pack_dictionary *dictionary;
    pack_pods(f, "web", 0, 40);
    dictionary = pack_dictionary_ref(f->packer.dictionary);
    object_packer_free(&f->packer);
    object_packer_init(&f->packer, f->context, &small, 7);
    object_packer_resume(&f->packer, dictionary);
    pack_dictionary_unref(dictionary);
    assert_int_equal(pack_pods(f, "web", 0, 10), 10); /* no further objects are needed */
}

/* The objects of an earlier process are not expanded before their texts are needed: then another dictionary
 * has them, and one whose frame is damaged is left out. */
static void a_later_dictionary_has_the_texts_of_restored_objects(void **state)
{
    struct fixture *f = *state;
    struct pack_context *former = pack_context_new(&(struct siphash_key){3, 4});
    struct object_packer earlier;
    struct pack_dictionary *restored;
    struct str bytes;
    object_packer_init(&earlier, former, &small, 8);
    for (unsigned i = 0; i < OBJECTS; i++) {
        struct inf_object *object = app_pod("web", i);
        const struct inf_object *held = object_pack(&earlier, object, i);
        if (object_is_packed(held)) {
            if (f->objects == 0) /* the first one is a sample: its frame ends with another byte */
                ((char *)(uintptr_t)held)[inf_object_size(held) - 1] ^= 0x55;
            object_packer_adopt(&f->packer, held, ++f->objects);
        }
        inf_object_unref(held);
        inf_object_unref(object);
    }
    object_packer_free(&earlier);
    pack_context_unref(former);
    restored = f->packer.dictionary;
    assert_non_null(restored);
    pack_pods(f, "db", 0, OBJECTS);
    object_packer_list_ended(&f->packer, f->objects);
    assert_true(object_packer_continue(&f->packer));
    assert_ptr_not_equal(f->packer.dictionary, restored);
    bytes = pack_dictionary_bytes(f->packer.dictionary);
    assert_non_null(memmem(bytes.at, bytes.len, "\"name\":\"web-", 12));
    assert_true(pack_pods(f, "web", OBJECTS, OBJECTS + 10) == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_unpacked_object_is_the_same_to_the_byte, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_object_is_packed_later_while_memory_is_lent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_first_objects_stay_as_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_objects_and_incompressible_ones_stay_as_they_are,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(equality_needs_no_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_new_dictionary_is_made_when_objects_no_longer_resemble_the_samples, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            texts_that_keep_changing_do_not_cause_a_repack_for_each_window, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_dictionary_made_from_the_first_part_of_a_list_is_replaced_at_its_end, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(without_a_context_nothing_is_packed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_packed_object_outlives_its_packer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_later_dictionary_has_the_texts_of_restored_objects,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_packer_can_resume_with_an_existing_dictionary, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
