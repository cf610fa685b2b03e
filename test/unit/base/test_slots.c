/* cmocka wants these four first */
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
static void check(size_t size, enum slots_page page)
{
    unsigned char *all[COUNT] = {0};
    struct rng rng = {size};
    struct slots slots;
    slots_init(&slots, size, page);
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
}

static void small_pages(void **state)
{
    (void)state;
    check(1, SLOTS_SMALL_PAGE);
    check(88, SLOTS_SMALL_PAGE);
    check(500, SLOTS_SMALL_PAGE);
}

static void large_pages(void **state)
{
    (void)state;
    check(64, SLOTS_LARGE_PAGE);
    check(4096, SLOTS_LARGE_PAGE);
}

static void structs_that_are_too_large_for_a_page(void **state)
{
    (void)state;
    check(3000, SLOTS_SMALL_PAGE);
}

static void a_page_is_used_again_and_freed_with_its_last_slot(void **state)
{
    struct slots slots;
    void *first, *second;
    (void)state;
    slots_init(&slots, 100, SLOTS_LARGE_PAGE);
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
        cmocka_unit_test(small_pages),
        cmocka_unit_test(large_pages),
        cmocka_unit_test(structs_that_are_too_large_for_a_page),
        cmocka_unit_test(a_page_is_used_again_and_freed_with_its_last_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
