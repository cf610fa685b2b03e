/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/page_pool.h"
#include "base/rng.h"

enum {
    COUNT = 400,
    REGIONS = 9, /* for 288 of them */
};

static char *bytes_of(struct pool_page *page)
{
    return (char *)(page + 1);
}

static struct pool_page *take(struct page_pool *pool, size_t i)
{
    struct pool_page *page = page_pool_take(pool, i % 2);
    assert_int_equal((uintptr_t)page % POOL_PAGE_SIZE, 0);
    memset(bytes_of(page), (int)(i % 251), POOL_PAGE_SIZE - sizeof(*page));
    return page;
}

static void give(struct page_pool *pool, struct pool_page *page, size_t i)
{
    assert_int_equal(bytes_of(page)[0], (char)(i % 251));
    assert_int_equal(bytes_of(page)[POOL_PAGE_SIZE - sizeof(*page) - 1], (char)(i % 251));
    page_pool_give(pool, page);
}

static void add_region(struct page_stock *stock)
{
    struct page_region *region = page_region_new();
    page_region_touch(region);
    page_stock_add(stock, region);
}

/* Pages are taken and returned in random order: none overlaps another, and nothing is left at the end. Leaks are
 * detected by the sanitizer. */
static void pages_of_regions_are_returned_one_by_one(void **state)
{
    struct pool_page *pages[COUNT] = {0};
    struct page_stock stock;
    struct page_pool pool;
    struct rng rng = {1};
    unsigned used = 0;
    (void)state;
    page_stock_init(&stock);
    for (unsigned i = 0; i < REGIONS; i++)
        add_region(&stock);
    page_pool_init(&pool, &stock);
    for (unsigned step = 0; step < 4 * COUNT; step++) {
        size_t i = step < COUNT ? step : (size_t)rng_below(&rng, COUNT);
        if (pages[i]) {
            give(&pool, pages[i], i);
            pages[i] = NULL;
            used--;
        } else {
            pages[i] = take(&pool, i);
            used++;
        }
        assert_int_equal(pool.pages, used);
    }
    for (size_t i = 0; i < COUNT; i++)
        if (pages[i])
            give(&pool, pages[i], i);
    assert_int_equal(pool.pages, 0);
    assert_true(list_empty(&pool.partial)); /* every region was unmapped */
    assert_true(list_empty(&stock.regions));
}

static void two_pools_share_a_stock_and_the_rest_is_cleared(void **state)
{
    struct page_stock stock;
    struct page_pool a, b;
    struct pool_page *first, *second;
    (void)state;
    page_stock_init(&stock);
    for (unsigned i = 0; i < 3; i++)
        add_region(&stock);
    page_pool_init(&a, &stock);
    page_pool_init(&b, &stock);
    first = take(&a, 1);
    second = take(&b, 2);
    assert_ptr_not_equal(first->region, second->region);
    page_stock_clear(&stock);
    assert_true(list_empty(&stock.regions));
    give(&a, first, 1);
    give(&b, second, 2);
}

static void without_a_stock_pages_are_mapped_alone(void **state)
{
    struct page_pool pool;
    struct pool_page *page;
    (void)state;
    page_pool_init(&pool, NULL);
    page = take(&pool, 7);
    assert_null(page->region);
    give(&pool, page, 7);
    assert_int_equal(pool.pages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_regions_are_returned_one_by_one),
        cmocka_unit_test(two_pools_share_a_stock_and_the_rest_is_cleared),
        cmocka_unit_test(without_a_stock_pages_are_mapped_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
