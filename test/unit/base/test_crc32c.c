/*
 * test_crc32c.c - the values of RFC 3720, and both ways to compute them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "base/rng.h"

static void assert_crc(const void *bytes, size_t len, uint32_t expected)
{
    assert_int_equal(crc32c(bytes, len), expected);
    assert_int_equal(crc32c_portable(bytes, len), expected);
}

static void known_values(void **state)
{
    unsigned char bytes[32];
    (void)state;
    assert_crc("", 0, 0);
    assert_crc("123456789", 9, 0xe3069283);
    memset(bytes, 0, sizeof(bytes));
    assert_crc(bytes, sizeof(bytes), 0x8a9136aa);
    memset(bytes, 0xff, sizeof(bytes));
    assert_crc(bytes, sizeof(bytes), 0x62a8ab43);
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    assert_crc(bytes, sizeof(bytes), 0x46dd794e);
}

static void both_ways_give_the_same_value_for_every_length_and_alignment(void **state)
{
    unsigned char bytes[200];
    struct rng rng = {1};
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)rng_next(&rng);
    for (size_t from = 0; from < 9; from++)
        for (size_t len = 0; from + len <= sizeof(bytes); len++)
            assert_int_equal(crc32c(bytes + from, len), crc32c_portable(bytes + from, len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(both_ways_give_the_same_value_for_every_length_and_alignment),
    };
    return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
