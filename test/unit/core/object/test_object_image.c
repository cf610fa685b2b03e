/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/diff.h"
#include "informer/path.h"
#include "informer/selector.h"

#include "base/alloc.h"
#include "base/page_pool.h"
#include "builders.h"
#include "core/object/object.h"
#include "core/object/object_image.h"
#include "core/object/object_packer.h"

static const struct siphash_key key = {1, 2};

struct fixture {
    struct pack_context *context;
    struct object_packer packer;
    struct inf_object *object;
    const struct inf_object *held;
    struct buf image;
};

static struct inf_object *web_pod(unsigned n)
{
    char *text = xasprintf(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%u\",\"namespace\":"
        "\"shop\",\"uid\":\"0a1b2c3d-%u\",\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"web\"},"
        "\"managedFields\":[{\"manager\":\"kubelet\",\"operation\":\"Update\",\"time\":"
        "\"2026-01-01T00:00:00Z\",\"subresource\":\"status\",\"fieldsV1\":{\"f:status\":{}}}]},"
        "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"registry.example.com/web:1.4\"}]}}",
        n, n, n);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

static int set_up(void **state)
{
    static const struct pack_limits small = {.objects = 1, .window = 1000};
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->context = pack_context_new(&key);
    object_packer_init(&f->packer, f->context, &small, 7);
    for (unsigned n = 0; n < 40; n++) {
        struct inf_object *object = web_pod(n);
        inf_object_unref(object_pack(&f->packer, object, 100));
        inf_object_unref(object);
    }
    f->object = web_pod(50);
    f->held = object_pack(&f->packer, f->object, 100);
    object_image_put(&f->image, f->held);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    buf_free(&f->image);
    inf_object_unref(f->held);
    inf_object_unref(f->object);
    object_packer_free(&f->packer);
    pack_context_unref(f->context);
    test_free(f);
    return 0;
}

static void assert_same(const struct inf_object *a, const struct inf_object *b)
{
    struct inf_writer writers[2];
    assert_non_null(a);
    assert_true(object_equal(a, b));
    assert_string_equal(inf_object_json(a, NULL), inf_object_json(b, NULL));
    assert_string_equal(inf_object_kind(a), inf_object_kind(b));
    assert_true(str_eq(object_key(a), object_key(b)));
    assert_true(inf_object_writer(a, INF_PART_STATUS, &writers[0]));
    assert_true(inf_object_writer(b, INF_PART_STATUS, &writers[1]));
    assert_string_equal(writers[0].manager, writers[1].manager);
    assert_string_equal(writers[0].time, writers[1].time);
    assert_int_equal(writers[0].sole, writers[1].sole);
}

/* As after a restart: another context with the same key, and a dictionary from its bytes. */
static void a_packed_object_is_read_with_a_loaded_dictionary(void **state)
{
    struct fixture *f = *state;
    struct pack_context *context = pack_context_new(&key);
    struct pack_dictionary *made = object_image_dictionary(f->held), *dictionary;
    const struct inf_object *loaded, *expanded;
    assert_non_null(made);
    dictionary = pack_dictionary_load(context, pack_dictionary_bytes(made));
    assert_non_null(dictionary);
    assert_int_equal(pack_dictionary_id(dictionary), pack_dictionary_id(made));
    loaded = object_image_load((struct str){f->image.bytes, f->image.len}, dictionary);
    assert_non_null(loaded);
    assert_int_equal(inf_object_size(loaded), inf_object_size(f->held)); /* not expanded */
    assert_true(object_equal(loaded, f->object));
    expanded = object_image_expand(loaded);
    assert_same(expanded, f->object);
    inf_object_unref(expanded);
    inf_object_unref(loaded);
    pack_dictionary_unref(dictionary);
    pack_context_unref(context);
}

/* Meanwhile other objects of the dictionary are released: their memory is used again afterwards. */
static void an_object_is_made_in_lent_memory(void **state)
{
    struct fixture *f = *state;
    struct str image = {f->image.bytes, f->image.len};
    struct pack_dictionary *dictionary = object_image_dictionary(f->held);
    const struct inf_object *released = object_image_load(image, dictionary), *made, *later;
    const void *memory = f->held;
    struct page_stock stock;
    page_stock_init(&stock);
    pack_dictionary_ref(dictionary);
    pack_memory_lend(dictionary, &stock);
    made = object_image_make_lent(image, dictionary);
    inf_object_unref(f->held);
    f->held = NULL;
    inf_object_unref(released);
    pack_memory_end_lending(dictionary, 1);
    assert_true(object_equal(made, f->object));
    later = object_image_load(image, dictionary);
    assert_ptr_equal(later, memory);
    inf_object_unref(later);
    pack_dictionary_unref(dictionary); /* @made has a reference */
    later = object_unpack(made);
    assert_same(later, f->object);
    inf_object_unref(later);
    inf_object_unref(made);
}

static void some_objects_are_not_made_in_lent_memory(void **state)
{
    struct fixture *f = *state;
    struct pack_dictionary *dictionary = object_image_dictionary(f->held);
    struct page_stock stock;
    page_stock_init(&stock);
    pack_memory_lend(dictionary, &stock);
    buf_clear(&f->image);
    object_image_put(&f->image, f->object); /* not packed */
    assert_null(object_image_make_lent((struct str){f->image.bytes, f->image.len}, dictionary));
    assert_null(pack_memory_take_lent(dictionary, 5000)); /* large */
    free(pack_memory_take(dictionary, 5000));
    pack_memory_end_lending(dictionary, 0);
}

static void an_object_that_is_not_packed_needs_no_dictionary(void **state)
{
    struct fixture *f = *state;
    const struct inf_object *loaded;
    buf_clear(&f->image);
    object_image_put(&f->image, f->object);
    assert_null(object_image_dictionary(f->object));
    loaded = object_image_load((struct str){f->image.bytes, f->image.len}, NULL);
    assert_same(loaded, f->object);
    inf_object_unref(loaded);
}

static void an_object_without_namespace_is_read(void **state)
{
    struct fixture *f = *state;
    struct inf_object *node = object_from("{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}");
    const struct inf_object *loaded;
    buf_clear(&f->image);
    object_image_put(&f->image, node);
    loaded = object_image_load((struct str){f->image.bytes, f->image.len}, NULL);
    assert_non_null(loaded);
    assert_string_equal(inf_object_name(loaded), "n1");
    assert_string_equal(inf_object_namespace(loaded), "");
    inf_object_unref(loaded);
    inf_object_unref(node);
}

static void the_dictionary_must_match(void **state)
{
    struct fixture *f = *state;
    struct str image = {f->image.bytes, f->image.len};
    assert_null(object_image_load(image, NULL));
    buf_clear(&f->image);
    object_image_put(&f->image, f->object);
    image = (struct str){f->image.bytes, f->image.len};
    assert_null(object_image_load(image, object_image_dictionary(f->held)));
    assert_null(pack_dictionary_load(f->context, STR("no dictionary")));
    assert_null(pack_dictionary_load(f->context, STR("")));
}

/* Loads and expands the image in a block of its own size, so that sanitizers detect what is read
 * after its end. Returns whether both succeeded. */
static bool is_readable(struct fixture *f, size_t len)
{
    char *copy = xmalloc(len + 1);
    const struct inf_object *loaded, *expanded = NULL;
    memcpy(copy, f->image.bytes, len);
    copy = xrealloc(copy, len ? len : 1);
    loaded = object_image_load((struct str){copy, len}, object_image_dictionary(f->held));
    if (loaded)
        expanded = object_image_expand(loaded);
    inf_object_unref(loaded);
    inf_object_unref(expanded);
    free(copy);
    return expanded != NULL;
}

static void a_damaged_image_gives_no_object(void **state)
{
    struct fixture *f = *state;
    size_t names = 0;
    for (size_t len = 0; len < f->image.len; len++)
        assert_false(is_readable(f, len));
    assert_true(is_readable(f, f->image.len));
    for (size_t i = 0; i < f->image.len; i++) {
        f->image.bytes[i] ^= 0x41;
        names += is_readable(f, f->image.len); /* a character of a name may be any */
        f->image.bytes[i] ^= 0x41;
    }
    assert_in_range(names, 1,
                    sizeof("shop/web-500a1b2c3d-5050Podv1kubeletstatus2026-01-01T00:00:00Z"));
}

static bool ignore_pair(void *ctx, const char *name, const char *value, size_t len)
{
    (void)ctx;
    return name && strlen(value) <= len;
}

/* What handlers, indexes and event logs read of an object. */
static void read_everything(const struct inf_object *object, const struct inf_object *other,
                            const struct inf_path *path, const struct inf_selector *selector)
{
    struct inf_owner owner;
    int64_t created;
    char value[64];
    inf_diff_free(inf_diff_make(object, other, NULL, NULL));
    inf_diff_free(inf_diff_make(other, object, NULL, NULL));
    inf_object_label(object, "app", value, sizeof(value));
    inf_object_annotation(object, "app", value, sizeof(value));
    inf_object_each_label(object, ignore_pair, NULL);
    inf_object_controller(object, &owner);
    inf_object_creation_time(object, &created);
    inf_path_string(path, object, value, sizeof(value));
    inf_selector_matches(selector, object);
}

/* A file has a CRC, so this takes a lucky damage, or another program that writes the file. */
static void a_damaged_text_is_read_without_a_crash(void **state)
{
    static const char wrong[] = "\"\\{}[]:,0x";
    struct fixture *f = *state;
    struct inf_path *path = inf_path_parse("spec.containers[*].image", NULL);
    struct inf_selector *selector = inf_selector_parse_labels("app=web", NULL);
    size_t begin;
    buf_clear(&f->image);
    object_image_put(&f->image, f->object);
    begin = f->image.len - strlen(inf_object_json(f->object, NULL));
    for (size_t i = begin; i < f->image.len; i++) {
        char before = f->image.bytes[i];
        for (size_t k = 0; k < sizeof(wrong); k++) { /* with its NUL */
            const struct inf_object *loaded;
            f->image.bytes[i] = wrong[k];
            loaded = object_image_load((struct str){f->image.bytes, f->image.len}, NULL);
            if (loaded)
                read_everything(loaded, f->object, path, selector);
            inf_object_unref(loaded);
        }
        f->image.bytes[i] = before;
    }
    inf_path_free(path);
    inf_selector_free(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_packed_object_is_read_with_a_loaded_dictionary, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_object_is_made_in_lent_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(some_objects_are_not_made_in_lent_memory, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_object_that_is_not_packed_needs_no_dictionary, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_object_without_namespace_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_dictionary_must_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_image_gives_no_object, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_text_is_read_without_a_crash, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
