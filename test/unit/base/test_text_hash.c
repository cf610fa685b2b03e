/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text_hash.h"

enum {
    BLOCK = TEXT_HASH_WORDS * 8,
    LEN_MAX = 3 * BLOCK + 33,
};

static struct text_hash_key key_of(uint64_t k0)
{
    struct text_hash_key key;
    text_hash_key_init(&key, &(struct siphash_key){k0, 2});
    return key;
}

static void count_up(unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(i % 251);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void assert_all_differ(uint64_t *hashes, size_t n)
{
    qsort(hashes, n, sizeof(*hashes), compare);
    for (size_t i = 1; i < n; i++)
        assert_true(hashes[i] != hashes[i - 1]);
}

/* Each text in memory of its own size, so that sanitizers detect what is read after its end. */
static uint64_t hash_of_zeros(const struct text_hash_key *key, size_t len)
{
    unsigned char *zeros = xcalloc(len ? len : 1, 1);
    uint64_t hash = text_hash(key, zeros, len);
    free(zeros);
    return hash;
}

static void depends_on_the_length(void **state)
{
    static uint64_t hashes[LEN_MAX];
    const struct text_hash_key key = key_of(1);
    (void)state;
    for (size_t len = 0; len < LEN_MAX; len++)
        hashes[len] = hash_of_zeros(&key, len);
    assert_all_differ(hashes, LEN_MAX);
}

static void depends_on_every_byte_and_its_place(void **state)
{
    static uint64_t hashes[2 * LEN_MAX + 1];
    static const unsigned char bits[] = {0x01, 0x80};
    static unsigned char bytes[LEN_MAX];
    const struct text_hash_key key = key_of(1);
    size_t n = 0;
    (void)state;
    count_up(bytes, LEN_MAX);
    hashes[n++] = text_hash(&key, bytes, LEN_MAX);
    for (size_t i = 0; i < LEN_MAX; i++)
        for (size_t k = 0; k < 2; k++) {
            bytes[i] ^= bits[k];
            hashes[n++] = text_hash(&key, bytes, LEN_MAX);
            bytes[i] ^= bits[k];
        }
    assert_all_differ(hashes, n);
}

/* Pairs of words that only swap places: within a pair, within a block, and between blocks. */
static void depends_on_the_order_of_words(void **state)
{
    static uint64_t words[2 * TEXT_HASH_WORDS], hashes[2 * TEXT_HASH_WORDS];
    const struct text_hash_key key = key_of(1);
    (void)state;
    for (size_t i = 0; i < 2 * TEXT_HASH_WORDS; i++)
        words[i] = i;
    for (size_t i = 0; i < 2 * TEXT_HASH_WORDS; i++) {
        words[0] = words[i];
        words[i] = 0;
        hashes[i] = text_hash(&key, words, sizeof(words));
        words[i] = words[0];
        words[0] = 0;
        words[i] = i;
    }
    assert_all_differ(hashes, 2 * TEXT_HASH_WORDS);
}

static void depends_on_the_key(void **state)
{
    static unsigned char bytes[LEN_MAX];
    const struct text_hash_key a = key_of(1), b = key_of(3), again = key_of(1);
    (void)state;
    count_up(bytes, LEN_MAX);
    assert_true(text_hash(&a, bytes, LEN_MAX) == text_hash(&again, bytes, LEN_MAX));
    assert_true(text_hash(&a, bytes, LEN_MAX) != text_hash(&b, bytes, LEN_MAX));
    assert_true(text_hash(&a, "", 0) != text_hash(&b, "", 0));
}

static void does_not_depend_on_alignment(void **state)
{
    static unsigned char bytes[LEN_MAX + 8];
    const struct text_hash_key key = key_of(1);
    uint64_t hash;
    (void)state;
    count_up(bytes, LEN_MAX);
    hash = text_hash(&key, bytes, LEN_MAX);
    for (size_t shift = 1; shift < 8; shift++) {
        count_up(bytes + shift, LEN_MAX);
        assert_true(text_hash(&key, bytes + shift, LEN_MAX) == hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depends_on_the_length),
        cmocka_unit_test(depends_on_every_byte_and_its_place),
        cmocka_unit_test(depends_on_the_order_of_words),
        cmocka_unit_test(depends_on_the_key),
        cmocka_unit_test(does_not_depend_on_alignment),
    };
    return cmocka_run_group_tests_name("text_hash", tests, NULL, NULL);
}
