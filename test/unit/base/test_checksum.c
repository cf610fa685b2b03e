/*
 * test_checksum.c - the known values of the two functions, and that each bit counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/checksum.h"

/* CRC-32C (RFC 3720), or the CRC-32 of zlib on a processor without the instruction. */
static void it_has_the_known_value(void **state)
{
    uint32_t value = checksum("123456789", 9);
    (void)state;
    assert_true(value == 0xe3069283 || value == 0xcbf43926);
    assert_int_equal(checksum("", 0), 0);
}

static void every_bit_counts_and_the_alignment_does_not(void **state)
{
    unsigned char bytes[48] = {0}, moved[49];
    (void)state;
    for (size_t len = 1; len < sizeof(bytes); len++) {
        uint32_t value = checksum(bytes, len);
        for (size_t bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_int_not_equal(checksum(bytes, len), value);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        bytes[len] = (unsigned char)(len * 37);
        memcpy(moved + 1, bytes, sizeof(bytes));
        assert_int_equal(checksum(moved + 1, len + 1), checksum(bytes, len + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_the_known_value),
        cmocka_unit_test(every_bit_counts_and_the_alignment_does_not),
    };
    return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
