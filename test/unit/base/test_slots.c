/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/slots.h"

enum {
    COUNT = 2000,
};

static void assert_all(unsigned char *const *all, size_t size)
{
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; all[i] && k < size; k++)
            assert_int_equal(all[i][k], i % 251);
}

/* Slots are taken and returned in random order; none overlaps another. Leaks are detected by the
 * sanitizer. */
static void check(size_t size)
{
    unsigned char *all[COUNT] = {0};
    struct rng rng = {size};
    struct page_pool pool;
    struct slots slots;
    page_pool_init(&pool, NULL);
    slots_init(&slots, size, &pool);
    for (unsigned step = 0; step < 4 * COUNT; step++) {
        size_t i = (size_t)rng_below(&rng, COUNT);
        if (all[i]) {
            slots_give(&slots, all[i]);
            all[i] = NULL;
        } else {
            all[i] = slots_take(&slots);
            assert_int_equal((uintptr_t)all[i] % sizeof(void *), 0);
            memset(all[i], (int)(i % 251), size);
        }
    }
    assert_all(all, size);
    for (size_t i = 0; i < COUNT; i++)
        if (all[i])
            slots_give(&slots, all[i]);
    assert_true(list_empty(&slots.partial)); /* every page was freed */
    assert_int_equal(pool.pages, 0);
}

static void structs_of_several_sizes(void **state)
{
    (void)state;
    check(1);
    check(64);
    check(88);
    check(500);
    check(4096);
}

static void structs_that_are_too_large_for_a_page(void **state)
{
    (void)state;
    check(9000);
}

static void a_page_is_used_again_and_freed_with_its_last_slot(void **state)
{
    struct page_pool pool;
    struct slots slots;
    void *first, *second;
    (void)state;
    page_pool_init(&pool, NULL);
    slots_init(&slots, 100, &pool);
    first = slots_take(&slots);
    second = slots_take(&slots);
    slots_give(&slots, first);
    assert_ptr_equal(slots_take(&slots), first);
    slots_give(&slots, first);
    assert_false(list_empty(&slots.partial));
    slots_give(&slots, second);
    assert_true(list_empty(&slots.partial));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_of_several_sizes),
        cmocka_unit_test(structs_that_are_too_large_for_a_page),
        cmocka_unit_test(a_page_is_used_again_and_freed_with_its_last_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
