/*
 * test_rng.c - the numbers of SplitMix64, and the bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/rng.h"

/* What every other SplitMix64 gives for these seeds. */
static void test_known_numbers(void **state)
{
    static const uint64_t expected[] = {0x599ed017fb08fc85, 0x2c73f08458540fa5, 0x883ebce5a3f27c77};
    struct rng rng = {1234567};
    struct rng zero = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_true(rng_next(&rng) == expected[i]);
    assert_true(rng_next(&zero) == 0xe220a8397b1dcdaf);
}

static void test_same_seed_same_numbers(void **state)
{
    struct rng a = {42}, b = {42}, c = {43};
    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(rng_next(&a) == rng_next(&b));
    assert_true(rng_next(&a) != rng_next(&c));
}

static void test_below_reaches_all_and_only_those(void **state)
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

static void test_below_nothing_and_one(void **state)
{
    struct rng rng = {1};
    (void)state;
    assert_true(rng_below(&rng, 0) == 0);
    assert_true(rng_below(&rng, 1) == 0);
}

/* Equal by chance once in 2^64 runs of this test. */
static void test_the_system_gives_other_seeds(void **state)
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
        cmocka_unit_test(test_known_numbers),
        cmocka_unit_test(test_same_seed_same_numbers),
        cmocka_unit_test(test_below_reaches_all_and_only_those),
        cmocka_unit_test(test_below_nothing_and_one),
        cmocka_unit_test(test_the_system_gives_other_seeds),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
