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

static void three_at_once_have_the_same_checksums(void **state)
{
    char bytes[200];
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * i * 31 + 7);
    for (size_t n = 0; n < 2000; n++) {
        struct str parts[3] = {
            {bytes + n % 5, n % 60}, {bytes + 90, n % 47}, {bytes + 130, n % 70}};
        uint32_t sums[3];
        checksum_of_three(parts, sums);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(sums[i], checksum(parts[i].at, parts[i].len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_the_known_value),
        cmocka_unit_test(three_at_once_have_the_same_checksums),
        cmocka_unit_test(every_bit_counts_and_the_alignment_does_not),
    };
    return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
