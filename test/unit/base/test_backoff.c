/*
 * test_backoff.c - the waits between retries, also at the ends of their ranges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backoff.h"

/* Scenario 11, TestNewReflectorWithCustomBackoff. */
static void next_doubles_up_to_the_maximum_until_reset(void **state)
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
static void jitter_at_most_doubles_the_wait(void **state)
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

static void honours_the_wait_of_the_server_up_to_five_minutes(void **state)
{
    struct backoff b;
    (void)state;
    backoff_init(&b, 800, 30000, true);
    assert_int_equal(backoff_next(&b, 5000), 5000);
    assert_int_equal(backoff_next(&b, 1000), 1600); /* less than ours: ours */
    assert_int_equal(backoff_next(&b, 86400 * 1000), 300 * 1000);
}

/* Scenario 105, TestItemExponentialFailureRateLimiter. */
static void each_failure_doubles_the_wait_up_to_a_limit(void **state)
{
    (void)state;
    assert_int_equal(backoff_ms(1, 1000, 0), 1);
    assert_int_equal(backoff_ms(1, 1000, 1), 2);
    assert_int_equal(backoff_ms(1, 1000, 9), 512);
    assert_int_equal(backoff_ms(1, 1000, 10), 1000);
    assert_int_equal(backoff_ms(5, 1000000, 17), 655360);
    assert_int_equal(backoff_ms(5, 1000000, 18), 1000000);
    assert_int_equal(backoff_ms(7, 3, 0), 3);
}

/* Scenario 105, TestItemExponentialFailureRateLimiterOverFlow. */
static void any_number_of_failures_is_valid(void **state)
{
    (void)state;
    for (uint32_t failures = 20; failures < 10000; failures++)
        assert_int_equal(backoff_ms(5, 1000000, failures), 1000000);
    assert_int_equal(backoff_ms(1, UINT32_MAX, UINT32_MAX), UINT32_MAX);
    assert_int_equal(backoff_ms(UINT32_MAX, UINT32_MAX, 31), UINT32_MAX);
    assert_int_equal(backoff_ms(1, UINT32_MAX, 31), UINT32_C(1) << 31);
    assert_int_equal(backoff_ms(UINT32_C(1) << 31, 7, 33), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_doubles_up_to_the_maximum_until_reset),
        cmocka_unit_test(jitter_at_most_doubles_the_wait),
        cmocka_unit_test(honours_the_wait_of_the_server_up_to_five_minutes),
        cmocka_unit_test(each_failure_doubles_the_wait_up_to_a_limit),
        cmocka_unit_test(any_number_of_failures_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
