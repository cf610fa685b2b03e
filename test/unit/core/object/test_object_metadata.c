/*
 * test_object_metadata.c - labels, annotations, controller and creation time of an object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "builders.h"

#define NAME "\"name\":\"web-0\""

/* An object whose metadata has these members after its name. */
static struct inf_object *object_with(const char *members)
{
    char *text = xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{" NAME "%s%s}}",
                           *members ? "," : "", members);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

/* ---- labels and annotations ---- */

static void gets_labels_and_annotations_by_key(void **state)
{
    struct inf_object *object =
        object_with("\"labels\":{\"app\":\"web\",\"a.b\\/c\":\"\"},"
                    "\"annotations\":{\"app\":\"other\",\"note\":\"a \\\"b\\\"\\n\\u00e4\"}");
    char buf[32];
    (void)state;
    assert_int_equal(inf_object_label(object, "app", buf, sizeof(buf)), 3);
    assert_string_equal(buf, "web");
    assert_int_equal(inf_object_label(object, "a.b/c", buf, sizeof(buf)), 0);
    assert_string_equal(buf, "");
    assert_int_equal(inf_object_annotation(object, "app", buf, sizeof(buf)), 5);
    assert_string_equal(buf, "other");
    assert_int_equal(inf_object_annotation(object, "note", buf, sizeof(buf)), 8);
    assert_string_equal(buf, "a \"b\"\n\xc3\xa4");
    inf_object_unref(object);
}

static void reports_a_missing_label(void **state)
{
    static const char *const without[] = {"", "\"labels\":{}", "\"labels\":null",
                                          "\"labels\":{\"a\":\"app\"}",
                                          "\"annotations\":{\"app\":\"web\"}"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(without); i++) {
        struct inf_object *object = object_with(without[i]);
        char buf[4] = "xyz";
        assert_int_equal(inf_object_label(object, "app", buf, sizeof(buf)), -INF_ENOTFOUND);
        assert_string_equal(buf, "");
        assert_int_equal(inf_object_label(object, "app", NULL, 0), -INF_ENOTFOUND);
        inf_object_unref(object);
    }
}

static void truncates_a_value_between_two_characters(void **state)
{
    struct inf_object *object = object_with("\"annotations\":{\"k\":\"ab\xc3\xa4z\"}");
    char buf[8];
    (void)state;
    assert_int_equal(inf_object_annotation(object, "k", buf, 6), 5);
    assert_string_equal(buf, "ab\xc3\xa4z");
    assert_int_equal(inf_object_annotation(object, "k", buf, 5), 5);
    assert_string_equal(buf, "ab\xc3\xa4");
    assert_int_equal(inf_object_annotation(object, "k", buf, 4), 5);
    assert_string_equal(buf, "ab");
    assert_int_equal(inf_object_annotation(object, "k", buf, 1), 5);
    assert_string_equal(buf, "");
    assert_int_equal(inf_object_annotation(object, "k", NULL, 0), 5);
    inf_object_unref(object);
}

struct pairs {
    struct buf text;
    size_t most;
};

static bool put_pair(void *ctx, const char *key, const char *value, size_t len)
{
    struct pairs *pairs = ctx;
    buf_puts(&pairs->text, key);
    buf_putc(&pairs->text, '=');
    buf_put(&pairs->text, value, len);
    buf_putc(&pairs->text, ';');
    assert_int_equal(value[len], 0);
    return --pairs->most > 0;
}

static void assert_pairs(struct inf_object *object, bool labels, size_t most, struct str expected,
                         size_t expected_calls)
{
    struct pairs pairs = {.most = most};
    size_t calls = labels ? inf_object_each_label(object, put_pair, &pairs)
                          : inf_object_each_annotation(object, put_pair, &pairs);
    assert_int_equal(calls, expected_calls);
    assert_true(
        str_eq((struct str){pairs.text.len ? pairs.text.bytes : "", pairs.text.len}, expected));
    buf_free(&pairs.text);
}

static void iterates_in_the_order_of_the_object(void **state)
{
    struct inf_object *object =
        object_with("\"labels\":{\"b\":\"1\",\"a\":\"\",\"\\u0063\":\"\\n\"},"
                    "\"annotations\":{\"x\":\"1\\u00002\"}");
    struct inf_object *bare = object_with("");
    (void)state;
    assert_pairs(object, true, 10, STR("b=1;a=;c=\n;"), 3);
    assert_pairs(object, false, 10, STR("x=1\0002;"), 1);
    assert_pairs(bare, true, 10, STR(""), 0);
    assert_pairs(bare, false, 10, STR(""), 0);
    inf_object_unref(object);
    inf_object_unref(bare);
}

static void stops_iterating_if_the_callback_returns_false(void **state)
{
    struct inf_object *object = object_with("\"labels\":{\"b\":\"1\",\"a\":\"\",\"c\":\"2\"}");
    (void)state;
    assert_pairs(object, true, 2, STR("b=1;a=;"), 2);
    inf_object_unref(object);
}

/* ---- the controller ---- */

#define OWNER(name, controller)                                                                   \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"" name "\",\"uid\":\"u-" name \
    "\"" controller "}"

static void gets_the_controller_among_the_owners(void **state)
{
    struct inf_object *object = object_with(
        "\"ownerReferences\":[" OWNER("a", "") "," OWNER("b", ",\"controller\":false") //
        "," OWNER("c", ",\"controller\":true,\"blockOwnerDeletion\":true") "]");
    struct inf_owner owner;
    (void)state;
    assert_int_equal(inf_object_controller(object, &owner), 0);
    assert_string_equal(owner.api_version, "apps/v1");
    assert_string_equal(owner.kind, "ReplicaSet");
    assert_string_equal(owner.name, "c");
    assert_string_equal(owner.uid, "u-c");
    inf_object_unref(object);
}

static void reports_that_there_is_no_controller(void **state)
{
    static const char *const without[] = {"", "\"ownerReferences\":[]", "\"ownerReferences\":null",
                                          "\"ownerReferences\":[" OWNER("a", "") "]",
                                          "\"ownerReferences\":[\"controller\",true]"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(without); i++) {
        struct inf_object *object = object_with(without[i]);
        struct inf_owner owner = {.kind = "untouched"};
        assert_int_equal(inf_object_controller(object, &owner), -INF_ENOTFOUND);
        assert_string_equal(owner.kind, "untouched");
        inf_object_unref(object);
    }
}

static void decodes_a_reference_and_takes_the_first_of_equal_keys(void **state)
{
    struct inf_object *object = object_with(
        "\"ownerReferences\":[{\"controller\":false,\"controller\":true,\"name\":\"a\"},"
        "{\"n\\u0061me\":\"\\u00e4\\\"\",\"name\":\"b\",\"controller\":true,\"kind\":7,"
        "\"controller\":false}],\"ownerReferences\":[" OWNER("c", ",\"controller\":true") "]");
    struct inf_owner owner;
    (void)state;
    assert_int_equal(inf_object_controller(object, &owner), 0);
    assert_string_equal(owner.name, "\xc3\xa4\"");
    assert_string_equal(owner.kind, "7");
    assert_string_equal(owner.uid, "");
    inf_object_unref(object);
}

static void refuses_a_controller_whose_name_is_too_long(void **state)
{
    char name[300], *members;
    struct inf_object *object;
    struct inf_owner owner = {.kind = "untouched"};
    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    members = xasprintf("\"ownerReferences\":[{\"name\":\"%s\",\"controller\":true}]", name);
    object = object_with(members);
    assert_int_equal(inf_object_controller(object, &owner), -INF_ETOOBIG);
    assert_string_equal(owner.kind, "untouched");
    inf_object_unref(object);
    free(members);
}

/* ---- the creation time ---- */

static void gets_the_creation_time_in_microseconds(void **state)
{
    struct inf_object *object = object_with("\"creationTimestamp\":\"2026-11-15T23:21:33Z\"");
    int64_t us = 0;
    (void)state;
    assert_int_equal(inf_object_creation_time(object, &us), 0);
    assert_int_equal(us, INT64_C(1794784893000000));
    inf_object_unref(object);
}

static void reports_a_missing_creation_time(void **state)
{
    static const char *const without[] = {
        "", "\"creationTimestamp\":null", "\"creationTimestamp\":\"yesterday\"",
        "\"creationTimestamp\":\"2026-11-15T23:21:33Z\\u0000\"",
        "\"creationTimestamp\":\"2026-11-15T23:21:33.00000000000000000000000000000000000000000000Z\""};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(without); i++) {
        struct inf_object *object = object_with(without[i]);
        int64_t us = 7;
        assert_int_equal(inf_object_creation_time(object, &us), -INF_ENOTFOUND);
        assert_int_equal(us, 7);
        inf_object_unref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_labels_and_annotations_by_key),
        cmocka_unit_test(reports_a_missing_label),
        cmocka_unit_test(truncates_a_value_between_two_characters),
        cmocka_unit_test(iterates_in_the_order_of_the_object),
        cmocka_unit_test(stops_iterating_if_the_callback_returns_false),
        cmocka_unit_test(gets_the_controller_among_the_owners),
        cmocka_unit_test(reports_that_there_is_no_controller),
        cmocka_unit_test(decodes_a_reference_and_takes_the_first_of_equal_keys),
        cmocka_unit_test(refuses_a_controller_whose_name_is_too_long),
        cmocka_unit_test(gets_the_creation_time_in_microseconds),
        cmocka_unit_test(reports_a_missing_creation_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
