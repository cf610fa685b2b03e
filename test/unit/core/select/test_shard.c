/*
 * test_shard.c - every object is in exactly one shard, and the shards are those of the API server.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/rng.h"
#include "core/select/shard.h"

/* The values of Go's hash/fnv, which the API server uses. */
static void hash_is_fnv_1a_with_64_bits(void **state)
{
    (void)state;
    assert_true(shard_hash(STR("")) == UINT64_C(0xcbf29ce484222325));
    assert_true(shard_hash(STR("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(shard_hash(STR("foobar")) == UINT64_C(0x85944171f73967e8));
}

static void each_uid_is_in_exactly_one_shard(void **state)
{
    static const uint32_t counts[] = {2, 3, 4, 7, 100, SHARDS_MAX};
    struct rng rng = {7};
    (void)state;
    for (size_t c = 0; c < ARRAY_LEN(counts); c++)
        for (size_t n = 0; n < 200; n++) {
            char uid[40];
            unsigned in = 0;
            snprintf(uid, sizeof(uid), "%016" PRIx64, rng_next(&rng));
            for (uint32_t i = 0; i < counts[c]; i++)
                in += shard_has((struct shard){i, counts[c]}, str_of(uid));
            assert_int_equal(in, 1);
        }
}

static void shards_have_about_the_same_size(void **state)
{
    unsigned sizes[4] = {0};
    (void)state;
    for (unsigned n = 0; n < 4000; n++) { /* fixed uids: not a matter of luck */
        char uid[40];
        snprintf(uid, sizeof(uid), "%08x-1111-4222-8333-%012x", n * 2654435761u, n);
        for (uint32_t i = 0; i < 4; i++)
            sizes[i] += shard_has((struct shard){i, 4}, str_of(uid));
    }
    for (size_t i = 0; i < 4; i++)
        assert_in_range(sizes[i], 900, 1100);
}

static void a_single_shard_has_every_object(void **state)
{
    (void)state;
    assert_true(shard_has((struct shard){0, 0}, STR("x")));
    assert_true(shard_has((struct shard){0, 1}, STR("x")));
    assert_false(shard_is_part((struct shard){0, 1}));
}

static void assert_selector(struct shard shard, const char *expected)
{
    struct buf text = {0};
    shard_put_selector(&text, shard);
    buf_putc(&text, '\0');
    assert_string_equal(text.bytes, expected);
    buf_free(&text);
}

static void selector_has_the_bounds_of_the_range(void **state)
{
    (void)state;
    assert_selector((struct shard){0, 2},
                    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')");
    assert_selector((struct shard){1, 2},
                    "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')");
    assert_selector((struct shard){1, 3},
                    "shardRange(object.metadata.uid, '0x5555555555555556', '0xaaaaaaaaaaaaaaac')");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_fnv_1a_with_64_bits),
        cmocka_unit_test(each_uid_is_in_exactly_one_shard),
        cmocka_unit_test(shards_have_about_the_same_size),
        cmocka_unit_test(a_single_shard_has_every_object),
        cmocka_unit_test(selector_has_the_bounds_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
