/* cmocka wants these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/object/version.h"
#include "core/reflector/backoff.h"

/* 11, TestNewReflectorWithCustomBackoff. */
static void waits_double_up_to_the_longest(void **state)
{
    static const uint64_t expected[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000};
    struct backoff b;
    (void)state;
    backoff_init(&b, 800, 30000, true);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(backoff_next(&b, 0), expected[i]);
    backoff_reset(&b);
    assert_int_equal(backoff_next(&b, 0), 800);
}

/* Between the wait and twice the wait, and not always the same. */
static void jitter_adds_up_to_as_much_again(void **state)
{
    uint64_t least = UINT64_MAX, most = 0;
    struct backoff b;
    (void)state;
    backoff_init(&b, 800, 30000, false);
    b.rng.state = 7;
    for (int i = 0; i < 1000; i++) {
        uint64_t ms;
        backoff_reset(&b);
        ms = backoff_next(&b, 0);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    assert_in_range(least, 800, 820);
    assert_in_range(most, 1580, 1599);
}

static void the_server_is_obeyed_within_reason(void **state)
{
    struct backoff b;
    (void)state;
    backoff_init(&b, 800, 30000, true);
    assert_int_equal(backoff_next(&b, 5000), 5000);
    assert_int_equal(backoff_next(&b, 1000), 1600); /* less than ours: ours */
    assert_int_equal(backoff_next(&b, 86400 * 1000), 300 * 1000);
}

static void versions_are_compared_as_numbers_of_any_length(void **state)
{
    (void)state;
    assert_true(version_is_older("9", "10"));
    assert_true(version_is_older("99999999999999999999998", "99999999999999999999999"));
    assert_false(version_is_older("10", "9"));
    assert_false(version_is_older("10", "10"));
}

static void what_is_no_number_is_never_older(void **state)
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
        cmocka_unit_test(waits_double_up_to_the_longest),
        cmocka_unit_test(jitter_adds_up_to_as_much_again),
        cmocka_unit_test(the_server_is_obeyed_within_reason),
        cmocka_unit_test(versions_are_compared_as_numbers_of_any_length),
        cmocka_unit_test(what_is_no_number_is_never_older),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
