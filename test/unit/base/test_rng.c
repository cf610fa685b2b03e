/*
 * test_rng.c - the numbers of SplitMix64, and their bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/rng.h"

/* Reference values of SplitMix64 for these seeds. */
static void equals_the_reference_values(void **state)
{
    static const uint64_t expected[] = {0x599ed017fb08fc85, 0x2c73f08458540fa5, 0x883ebce5a3f27c77};
    struct rng rng = {1234567};
    struct rng zero = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_true(rng_next(&rng) == expected[i]);
    assert_true(rng_next(&zero) == 0xe220a8397b1dcdaf);
}

static void the_same_seed_gives_the_same_numbers(void **state)
{
    struct rng a = {42}, b = {42}, c = {43};
    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(rng_next(&a) == rng_next(&b));
    assert_true(rng_next(&a) != rng_next(&c));
}

static void below_returns_every_number_below_the_bound(void **state)
{
    struct rng rng = {1};
    bool seen[10] = {false};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t n = rng_below(&rng, 10);
        assert_true(n < 10);
        seen[n] = true;
    }
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        assert_true(seen[i]);
}

static void below_one_and_below_zero_are_zero(void **state)
{
    struct rng rng = {1};
    (void)state;
    assert_true(rng_below(&rng, 0) == 0);
    assert_true(rng_below(&rng, 1) == 0);
}

/* They are equal by chance once in 2^64 runs. */
static void seeds_of_the_system_differ(void **state)
{
    struct rng a, b;
    (void)state;
    rng_init(&a);
    rng_init(&b);
    assert_true(a.state != b.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_reference_values),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers),
        cmocka_unit_test(below_returns_every_number_below_the_bound),
        cmocka_unit_test(below_one_and_below_zero_are_zero),
        cmocka_unit_test(seeds_of_the_system_differ),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
