#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/base.h"

static void pieces_are_aligned_and_apart(void **state)
{
    static const size_t sizes[] = {1, 0, 16, 17, 1000, 1024, 3, 200000, 1, 65536, 65537, 8};
    unsigned char *pieces[ARRAY_LEN(sizes)];
    struct arena arena = {.at = NULL};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        pieces[i] = arena_alloc(&arena, sizes[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], i);
    arena_free(&arena);
}

static void a_copy_ends_in_nul(void **state)
{
    struct arena arena = {.at = NULL};
    struct str copy = arena_copy(&arena, (struct str){"abcd", 3});
    (void)state;
    assert_int_equal(copy.len, 3);
    assert_string_equal(copy.at, "abc");
    assert_string_equal(arena_copy(&arena, (struct str){0}).at, "");
    arena_free(&arena);
}

static void a_freed_arena_can_be_used_again(void **state)
{
    struct arena arena = {.at = NULL};
    (void)state;
    arena_free(&arena);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++)
            memset(arena_alloc(&arena, 100), round, 100);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(a_copy_ends_in_nul),
        cmocka_unit_test(a_freed_arena_can_be_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
