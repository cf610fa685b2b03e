/*
 * test_overlap.c - where one text continues another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/text/overlap.h"

static void finds_the_overlap_of_examples(void **state)
{
    (void)state;
    assert_int_equal(text_overlap(STR("one\ntwo\n"), STR("two\nthree\n")), 4);
    assert_int_equal(text_overlap(STR("one\ntw"), STR("two\nthree\n")), 2);
    assert_int_equal(text_overlap(STR("one\n"), STR("two\n")), 0);
    assert_int_equal(text_overlap(STR("two\n"), STR("two\n")), 4);
    assert_int_equal(text_overlap(STR("o\n"), STR("two\n")), 0);
    assert_int_equal(text_overlap(STR(""), STR("two\n")), 0);
    assert_int_equal(text_overlap(STR("two\n"), STR("")), 0);
    assert_int_equal(text_overlap(STR("aabaab"), STR("aabaaba")), 6);
    assert_int_equal(text_overlap(STR("xxaab"), STR("aabaab")), 3);
    assert_int_equal(text_overlap(STR("one\ntwo\nthree\n"), STR("two\n")), 4);
}

static size_t overlap_by_trying(struct str text, struct str next)
{
    size_t k = text.len < next.len ? text.len : next.len;
    for (size_t i = 0; i + next.len <= text.len; i++)
        if (memcmp(text.at + i, next.at, next.len) == 0)
            return next.len;
    while (k && memcmp(text.at + text.len - k, next.at, k) != 0)
        k--;
    return k;
}

/* Texts of two letters only, so that parts repeat. */
static void finds_the_longest_overlap_of_random_texts(void **state)
{
    struct rng rng = {1};
    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        char a[12], b[12];
        struct str text = {a, rng_below(&rng, sizeof(a))}, next = {b, rng_below(&rng, sizeof(b))};
        for (size_t k = 0; k < sizeof(a); k++) {
            a[k] = "ab"[rng_below(&rng, 2)];
            b[k] = "ab"[rng_below(&rng, 2)];
        }
        assert_int_equal(text_overlap(text, next), overlap_by_trying(text, next));
    }
}

/* The same for texts that are long enough for another method: @next is a part of @text, or of what follows it, with
 * a wrong byte in some. */
static void finds_the_overlap_of_long_random_texts(void **state)
{
    struct rng rng = {2};
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        char all[600], next[300];
        size_t period = 1 + rng_below(&rng, 300), len = rng_below(&rng, 400);
        size_t next_len = rng_below(&rng, sizeof(next)),
               at = rng_below(&rng, sizeof(all) - next_len);
        for (size_t k = 0; k < sizeof(all); k++)
            all[k] = k < period ? "abc"[rng_below(&rng, 3)] : all[k - period];
        memcpy(next, all + at, next_len);
        if (next_len && rng_below(&rng, 3) == 0)
            next[rng_below(&rng, next_len)] = 'x';
        assert_int_equal(text_overlap((struct str){all, len}, (struct str){next, next_len}),
                         overlap_by_trying((struct str){all, len}, (struct str){next, next_len}));
    }
}

/* Every line is the same, except the last one of @next: takes minutes if each place is compared. */
static void equal_lines_take_linear_time(void **state)
{
    enum {
        LEN = 1024 * 1024
    };
    char *text = xmalloc(LEN), *next = xmalloc(LEN);
    (void)state;
    memset(text, 'a', LEN);
    memset(next, 'a', LEN);
    next[LEN - 1] = 'b';
    assert_int_equal(text_overlap((struct str){text, LEN}, (struct str){next, LEN}), LEN - 1);
    free(text);
    free(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_overlap_of_examples),
        cmocka_unit_test(finds_the_longest_overlap_of_random_texts),
        cmocka_unit_test(finds_the_overlap_of_long_random_texts),
        cmocka_unit_test(equal_lines_take_linear_time),
    };
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
