/*
 * test_diff_json.c - a diff as JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/diff/diff.h"
#include "daemon/record/diff_json.h"

static void assert_written(const struct inf_diff *diff, size_t changes, size_t value_max,
                           const char *json, const char *paths)
{
    struct buf out = {0};
    diff_json_put(&out, diff, NULL, changes, value_max);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, json);
    buf_clear(&out);
    diff_json_put_paths(&out, diff, changes);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, paths);
    buf_free(&out);
}

static void values_are_written_as_the_server_sent_them(void **state)
{
    struct inf_diff *diff =
        diff_make(STR("{\"a\":\"\\u003c\",\"b\":{\"c/d\":[{\"name\":\"x\"}]}}"),
                  STR("{\"a\":1e2,\"b\":{\"c/d\":[{\"name\":\"y\"},{\"name\":\"x\"}]}}"), NULL);
    (void)state;
    assert_written(diff, SIZE_MAX, SIZE_MAX,
                   "[{\"op\":\"replace\",\"path\":\"a\",\"old\":\"\\u003c\",\"new\":1e2},"
                   "{\"op\":\"add\",\"path\":\"b[\\\"c/d\\\"][name=y]\",\"at\":0,"
                   "\"new\":{\"name\":\"y\"}}]",
                   "[\"a\",\"b[\\\"c/d\\\"][name=y]\"]");
    inf_diff_free(diff);
}

static void an_empty_diff_is_an_empty_list(void **state)
{
    struct inf_diff *diff = diff_make(STR("1"), STR("1"), NULL);
    (void)state;
    assert_written(diff, SIZE_MAX, SIZE_MAX, "[]", "[]");
    inf_diff_free(diff);
}

static void values_and_changes_can_be_limited(void **state)
{
    struct inf_diff *diff =
        diff_make(STR("{\"a\":\"long\",\"b\":1}"), STR("{\"a\":\"longer\",\"b\":2}"), NULL);
    (void)state;
    assert_written(diff, SIZE_MAX, 4,
                   "[{\"op\":\"replace\",\"path\":\"a\",\"old_size\":6,\"new_size\":8},"
                   "{\"op\":\"replace\",\"path\":\"b\",\"old\":1,\"new\":2}]",
                   "[\"a\",\"b\"]");
    assert_written(diff, 1, 0,
                   "[{\"op\":\"replace\",\"path\":\"a\",\"old_size\":6,\"new_size\":8}]",
                   "[\"a\"]");
    assert_written(diff, 0, 0, "[]", "[]");
    inf_diff_free(diff);
}

static void control_characters_are_escaped(void **state)
{
    struct inf_diff *diff = diff_make(STR("{}"), STR("{\"\xc2\x9b\":\"\x7f\xe2\x80\xae\"}"), NULL);
    (void)state;
    assert_written(diff, SIZE_MAX, SIZE_MAX,
                   "[{\"op\":\"add\",\"path\":\"[\\\"\\u009b\\\"]\",\"new\":\"\\u007f\\u202e\"}]",
                   "[\"[\\\"\\u009b\\\"]\"]");
    inf_diff_free(diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_the_server_sent_them),
        cmocka_unit_test(an_empty_diff_is_an_empty_list),
        cmocka_unit_test(values_and_changes_can_be_limited),
        cmocka_unit_test(control_characters_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
