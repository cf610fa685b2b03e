/*
 * test_json_text.c - the values of JSON strings and other scalars as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/json/json_text.h"

#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

static const struct {
    const char *value;
    struct str means;
} values[] = {
    {"\"\"", TEXT("")},
    {"\"a\"", TEXT("a")},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", TEXT("\"\\/\b\f\n\r\t")},
    {"\"\\u0041\\u004a\\u004A\"", TEXT("AJJ")},
    {"\"\\u0000x\"", {"\0x", 2}},
    {"\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"",
     TEXT("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf")},
    {"\"\\ud800\\udc00\\udbff\\udfff\"", TEXT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")},
    {"\"\xc3\xa4\xff\"", TEXT("\xc3\xa4\xff")},
    /* other values are unchanged */
    {"1e2", TEXT("1e2")},
    {"true", TEXT("true")},
    {"{\"a\":\"\\n\"}", TEXT("{\"a\":\"\\n\"}")},
    {"", TEXT("")},
    /* an invalid escape is kept */
    {"\"\\x\"", TEXT("\\x")},
    {"\"\\u12\"", TEXT("\\u12")},
    {"\"\\u12g4\"", TEXT("\\u12g4")},
    {"\"\\udc00\"", TEXT("\\udc00")},
    {"\"\\ud800x\"", TEXT("\\ud800x")},
    {"\"\\ud800\\u0041\"", TEXT("\\ud800A")},
    {"\"", TEXT("")},
    {"\"ab", TEXT("ab")},
    {"\"\\", TEXT("\\")},
};

static void values_are_converted_to_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct buf out = {0};
        json_value_put(&out, str_of(values[i].value));
        if (!str_eq((struct str){out.bytes, out.len}, values[i].means))
            fail_msg("%s means '%.*s'", values[i].value, (int)out.len, out.bytes);
        assert_true(json_value_is(str_of(values[i].value), values[i].means));
        buf_free(&out);
    }
}

static void each_value_equals_only_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        for (size_t k = 0; k < ARRAY_LEN(values); k++)
            assert_int_equal(json_value_is(str_of(values[i].value), values[k].means),
                             str_eq(values[i].means, values[k].means));
}

static void a_prefix_is_not_equal(void **state)
{
    (void)state;
    assert_false(json_text_is(STR("\\u0061b"), STR("a")));
    assert_false(json_text_is(STR("\\u0061"), STR("ab")));
    assert_false(json_text_is(STR("\\u00e4"), STR("\xc3")));
    assert_false(json_text_is(STR(""), STR("a")));
    assert_false(json_text_is(STR("\\n"), STR("\\n")));
}

static void finds_a_member_by_its_unescaped_key(void **state)
{
    struct str value = {0};
    (void)state;
    assert_true(json_member_get(STR("{\"b\":1,\"\\u0061\":2,\"a\":3}"), STR("a"), &value));
    assert_true(str_eq(value, STR("2")));
    assert_false(json_member_get(STR("{\"b\":{\"a\":1}}"), STR("a"), &value));
    assert_false(json_member_get(STR("[\"a\"]"), STR("a"), &value));
    assert_false(json_member_get(STR(""), STR("a"), &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_converted_to_text),
        cmocka_unit_test(each_value_equals_only_itself),
        cmocka_unit_test(a_prefix_is_not_equal),
        cmocka_unit_test(finds_a_member_by_its_unescaped_key),
    };
    return cmocka_run_group_tests_name("json_text", tests, NULL, NULL);
}
