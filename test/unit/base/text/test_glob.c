/*
 * test_glob.c - stars and question marks in patterns, and that matching takes linear time per
 * star.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/text/glob.h"

static void matches_patterns_as_in_the_table(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"shop", "shop", true},
        {"shop", "shops", false},
        {"shop", "sho", false},
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "anything", true},
        {"**", "a", true},
        {"kube-*", "kube-system", true},
        {"kube-*", "kube-", true},
        {"kube-*", "kube", false},
        {"kube-*", "my-kube-system", false},
        {"*-test", "shop-test", true},
        {"*-test", "-test", true},
        {"*-test", "shop-test-2", false},
        {"*-test", "a-test-test", true},
        {"*-pr-*", "shop-pr-17", true},
        {"*-pr-*", "shop-prod", false},
        {"a*b*c", "a-b-b-c", true},
        {"a*b*c", "a-c-b", false},
        {"shop-?", "shop-1", true},
        {"shop-?", "shop-", false},
        {"shop-?", "shop-12", false},
        {"?*", "", false},
        {"?*", "a", true},
        {"*?", "ab", true},
        {"*a?", "aaab", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (glob_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
}

static void many_stars_do_not_cause_exponential_time(void **state)
{
    (void)state;
    assert_false(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
                              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void matches_one_of_several_patterns(void **state)
{
    static const char *const patterns[] = {"kube-*", "shop"};
    (void)state;
    assert_true(glob_any(patterns, 2, "shop"));
    assert_true(glob_any(patterns, 2, "kube-public"));
    assert_false(glob_any(patterns, 2, "shops"));
    assert_false(glob_any(NULL, 0, ""));
    assert_true(glob_is_plain("shop"));
    assert_false(glob_is_plain("sho?"));
    assert_false(glob_is_plain("*"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_patterns_as_in_the_table),
        cmocka_unit_test(many_stars_do_not_cause_exponential_time),
        cmocka_unit_test(matches_one_of_several_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
