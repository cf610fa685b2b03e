/*
 * test_token_bucket.c - waiting times for a token, also at the limits of the ranges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/dispatch/token_bucket.h"

static void a_full_bucket_gives_its_burst_at_once_then_keeps_the_rate(void **state)
{
    struct token_bucket b;
    (void)state;
    token_bucket_init(&b, 10, 100, 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(token_bucket_take(&b, 0), 0);
    for (uint64_t i = 1; i <= 50; i++)
        assert_int_equal(token_bucket_take(&b, 0), i * 100);
}

static void a_bucket_fills_up_to_its_burst(void **state)
{
    struct token_bucket b;
    (void)state;
    token_bucket_init(&b, 10, 2, 1000);
    assert_int_equal(token_bucket_take(&b, 1000), 0);
    assert_int_equal(token_bucket_take(&b, 1000), 0);
    assert_int_equal(token_bucket_take(&b, 1050), 50); /* half a token is available */
    assert_int_equal(token_bucket_take(&b, 1200), 0);  /* 0.5 were owed, 1.5 were added */
    for (uint64_t later = 1500; later; later = later < 2000 ? UINT64_MAX - 1 : 0) {
        assert_int_equal(token_bucket_take(&b, later), 0);
        assert_int_equal(token_bucket_take(&b, later), 0);
        assert_int_equal(token_bucket_take(&b, later), 100);
    }
}

/* Three per second are a third of a token every 111 ms: thousandths add up exactly, waiting times
 * are rounded up. */
static void a_rate_that_does_not_divide_a_second_is_exact(void **state)
{
    struct token_bucket b;
    (void)state;
    token_bucket_init(&b, 3, 1, 0);
    assert_int_equal(token_bucket_take(&b, 0), 0);
    assert_int_equal(token_bucket_take(&b, 0), 334);
    assert_int_equal(token_bucket_take(&b, 0), 667);
    assert_int_equal(token_bucket_take(&b, 0), 1000);
    for (uint64_t now_ms = 1; now_ms <= 1000; now_ms++) {
        (void)token_bucket_take(&b, now_ms);
        b.content += 1000; /* returned: it was taken only to update the time */
    }
    assert_int_equal(b.content, 0);
}

static void the_largest_bucket_does_not_overflow(void **state)
{
    struct token_bucket b;
    (void)state;
    token_bucket_init(&b, UINT32_MAX, UINT32_MAX, 0);
    assert_int_equal(token_bucket_take(&b, UINT64_MAX), 0);
    assert_int_equal(b.content, ((int64_t)UINT32_MAX - 1) * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_bucket_gives_its_burst_at_once_then_keeps_the_rate),
        cmocka_unit_test(a_bucket_fills_up_to_its_burst),
        cmocka_unit_test(a_rate_that_does_not_divide_a_second_is_exact),
        cmocka_unit_test(the_largest_bucket_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
