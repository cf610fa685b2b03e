/*
 * test_str.c - comparisons and checks of strings that may be NULL or come from outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/str.h"

static void compares_strings_that_may_be_null(void **state)
{
    (void)state;
    assert_true(cstr_eq("a", "a"));
    assert_true(cstr_eq(NULL, NULL));
    assert_false(cstr_eq("a", "b"));
    assert_false(cstr_eq("", NULL));
    assert_false(cstr_eq(NULL, ""));
}

static void copies_a_string_that_may_be_null(void **state)
{
    char *copy = xstrdup_or_null("text");
    (void)state;
    assert_string_equal(copy, "text");
    assert_null(xstrdup_or_null(NULL));
    free(copy);
}

static void finds_control_characters(void **state)
{
    (void)state;
    assert_false(str_has_control(str_of(NULL)));
    assert_false(str_has_control(STR("two words, \xc3\xa4")));
    assert_true(str_has_control(STR("line\n")));
    assert_true(str_has_control(STR("a\0b")));
    assert_true(str_has_control(STR("\x7f")));
}

static void accepts_a_token_without_white_space(void **state)
{
    (void)state;
    assert_true(str_is_token(STR("eyJhbGciOi.J9_-=")));
    assert_true(str_is_token(str_of(NULL)));
    assert_false(str_is_token(STR("two words")));
    assert_false(str_is_token(STR("token\n")));
    assert_false(str_is_token(STR("tab\t")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_strings_that_may_be_null),
        cmocka_unit_test(copies_a_string_that_may_be_null),
        cmocka_unit_test(finds_control_characters),
        cmocka_unit_test(accepts_a_token_without_white_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
