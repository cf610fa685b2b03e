/*
 * test_version.c - comparing resource versions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/object/version.h"

static void versions_are_compared_as_numbers_of_any_length(void **state)
{
    (void)state;
    assert_true(version_is_older("9", "10"));
    assert_true(version_is_older("99999999999999999999998", "99999999999999999999999"));
    assert_false(version_is_older("10", "9"));
    assert_false(version_is_older("10", "10"));
}

static void a_version_that_is_not_a_number_is_never_older(void **state)
{
    static const char *const odd[] = {"", "0", "01", "-1", "1a", "abc", "1.5"};
    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        assert_false(version_is_older(odd[i], "5"));
        assert_false(version_is_older("5", odd[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_compared_as_numbers_of_any_length),
        cmocka_unit_test(a_version_that_is_not_a_number_is_never_older),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
