/*
 * test_seen_versions.c - which versions were reported: each once, and a bounded number of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/reflector/seen_versions.h"

static void a_version_is_new_once(void **state)
{
    struct seen_versions seen = {0};
    (void)state;
    assert_true(seen_versions_add(&seen, 0));
    assert_true(seen_versions_add(&seen, 7));
    assert_false(seen_versions_add(&seen, 0));
    assert_false(seen_versions_add(&seen, 7));
    seen_versions_free(&seen);
}

static void drops_the_oldest_version_over_the_limit(void **state)
{
    struct seen_versions seen = {0};
    (void)state;
    for (uint64_t i = 0; i <= SEEN_VERSIONS_MAX; i++)
        assert_true(seen_versions_add(&seen, i));
    assert_int_equal(seen.count, SEEN_VERSIONS_MAX);
    assert_false(seen_versions_add(&seen, 1));
    assert_false(seen_versions_add(&seen, SEEN_VERSIONS_MAX));
    assert_true(seen_versions_add(&seen, 0));
    seen_versions_free(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_is_new_once),
        cmocka_unit_test(drops_the_oldest_version_over_the_limit),
    };
    return cmocka_run_group_tests_name("seen_versions", tests, NULL, NULL);
}
