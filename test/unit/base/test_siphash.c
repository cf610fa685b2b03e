/*
 * test_siphash.c - SipHash-1-3 gives the values of Rust's standard library: SipHasher13 with any
 * key (its own tests use that of the paper, 00 01 .. 0f), and DefaultHasher with the key 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/siphash.h"

static const struct siphash_key zero = {0, 0};
static const struct siphash_key counting = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

/* Hashes of the bytes 00 01 02 .., with lengths near each multiple of a word. */
static const struct {
    size_t len;
    uint64_t zero_key;
    uint64_t counting_key;
} rows[] = {
    {0, 0xd1fba762150c532c, 0xabac0158050fc4dc},  {1, 0x68a914128e01e473, 0xc9f49bf37d57ca93},
    {7, 0x2f098ab0c751325a, 0xd3927d989bb11140},  {8, 0xead411e67ebe2eea, 0x369095118d299a8e},
    {9, 0x75927f9d95124362, 0x25a48eb36c063de4},  {15, 0xf30eb725bb91c9ea, 0xd320d86d2a519956},
    {16, 0x8972188433a5c5b7, 0xcc4fdd1a7d908b66}, {63, 0x385d3e39e5f37359, 0x9d199062b7bbb3a8},
};

static void count_up(unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)i;
}

static void equals_the_reference_values(void **state)
{
    unsigned char bytes[64];
    (void)state;
    count_up(bytes, sizeof(bytes));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(siphash13(&zero, bytes, rows[i].len) == rows[i].zero_key);
        assert_true(siphash13(&counting, bytes, rows[i].len) == rows[i].counting_key);
    }
}

/* The 64 published values, for lengths 0 to 63, combined by exclusive or. */
static void equals_the_published_values_of_every_length(void **state)
{
    unsigned char bytes[64];
    uint64_t all = 0;
    (void)state;
    count_up(bytes, sizeof(bytes));
    for (size_t len = 0; len < sizeof(bytes); len++)
        all ^= siphash13(&counting, bytes, len);
    assert_true(all == 0x7c82649b0feb34ef);
}

/* Only the lowest byte of the length is hashed: 256 counts as 0. */
static void hashes_more_than_255_bytes(void **state)
{
    unsigned char bytes[256];
    (void)state;
    count_up(bytes, sizeof(bytes));
    assert_true(siphash13(&counting, bytes, sizeof(bytes)) == 0x75b3e64e167de370);
}

static void does_not_depend_on_alignment(void **state)
{
    unsigned char bytes[16 + 8];
    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        count_up(bytes + shift, 16);
        assert_true(siphash13(&counting, bytes + shift, 16) == 0xcc4fdd1a7d908b66);
    }
}

static void accepts_null_for_no_bytes(void **state)
{
    (void)state;
    assert_true(siphash13(&counting, NULL, 0) == 0xabac0158050fc4dc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_reference_values),
        cmocka_unit_test(equals_the_published_values_of_every_length),
        cmocka_unit_test(hashes_more_than_255_bytes),
        cmocka_unit_test(does_not_depend_on_alignment),
        cmocka_unit_test(accepts_null_for_no_bytes),
    };
    return cmocka_run_group_tests_name("siphash", tests, NULL, NULL);
}
