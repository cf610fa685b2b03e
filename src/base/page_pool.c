/*
 * page_pool.c - regions of 32 pages, each with a set of its free ones, and pages that are mapped alone.
 *
 * Normal path: take the first free page of the first region that has one. A page that is returned gives
 * its memory back at once, and its region when it was the last one. Without memory the process is aborted, as
 * in base/alloc.h; advice that the kernel does not take is ignored.
 */
#include "base/page_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"

enum {
    REGION_PAGES = REGION_SIZE / POOL_PAGE_SIZE,
    MEMORY_PAGE = 4096,
};

_Static_assert(REGION_PAGES == 32, "a set of pages is a uint32_t");

struct page_region {
    struct list node; /* in stock.regions, or in pool.partial unless it is full */
    char *at;
    uint32_t free; /* a bit for each page */
};

static char *map_memory(size_t size, int flags)
{
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (at == MAP_FAILED)
        abort();
    return at;
}

/* At an address that is a multiple of @size. Mostly it follows such memory. Otherwise it is a part of twice
 * its size. */
static char *map_aligned(size_t size, int flags)
{
    char *at = map_memory(size, flags);
    size_t before;
    if ((uintptr_t)at % size == 0)
        return at;
    munmap(at, size);
    at = map_memory(2 * size, 0);
    before = (size - (uintptr_t)at % size) % size;
    if (before)
        munmap(at, before);
    munmap(at + before + size, size - before);
    return at + before;
}

/* ---- regions ---- */

struct page_region *page_region_new(void)
{
    struct page_region *region = NEW(struct page_region);
    list_init(&region->node);
    region->at = map_aligned(REGION_SIZE, 0);
    region->free = UINT32_MAX;
    madvise(region->at, REGION_SIZE, MADV_HUGEPAGE);
    return region;
}

/* By writing: that needs no lock of all mappings, unlike madvise(). */
void page_region_touch(const struct page_region *region)
{
    for (size_t i = 0; i < REGION_SIZE; i += MEMORY_PAGE)
        ((volatile char *)region->at)[i] = 0;
}

void *page_region_memory(const struct page_region *region)
{
    return region->at;
}

void page_region_free(struct page_region *region)
{
    if (!region)
        return;
    munmap(region->at, REGION_SIZE);
    list_remove(&region->node);
    free(region);
}

void page_stock_init(struct page_stock *stock)
{
    list_init(&stock->regions);
    stock->count = 0;
}

void page_stock_add(struct page_stock *stock, struct page_region *region)
{
    list_push(&stock->regions, &region->node);
    stock->count++;
}

struct page_region *page_stock_take(struct page_stock *stock)
{
    struct list *node = list_pop(&stock->regions);
    if (!node)
        return NULL;
    stock->count--;
    return container_of(node, struct page_region, node);
}

void page_stock_clear(struct page_stock *stock)
{
    struct page_region *region;
    while ((region = page_stock_take(stock)))
        page_region_free(region);
}

/* ---- pools ---- */

static struct pool_page *take_from_region(struct page_pool *pool)
{
    struct page_region *region = container_of(pool->partial.next, struct page_region, node);
    int n = __builtin_ctz(region->free);
    struct pool_page *page = (void *)(region->at + (size_t)n * POOL_PAGE_SIZE);
    region->free &= region->free - 1;
    if (!region->free)
        list_remove(&region->node);
    page->region = region;
    return page;
}

static void give_to_region(struct page_pool *pool, struct page_region *region, char *page)
{
    if (!region->free)
        list_push(&pool->partial, &region->node);
    region->free |= 1U << ((size_t)(page - region->at) / POOL_PAGE_SIZE);
    if (region->free != UINT32_MAX) {
        madvise(page, POOL_PAGE_SIZE, MADV_DONTNEED);
        return;
    }
    page_region_free(region);
}

void page_pool_init(struct page_pool *pool, struct page_stock *stock)
{
    pool->stock = stock;
    pool->pages = 0;
    list_init(&pool->partial);
}

void page_pool_supply(struct page_pool *pool, struct page_stock *stock, size_t bytes)
{
    struct page_region *region;
    for (; bytes >= REGION_SIZE && (region = page_stock_take(stock)); bytes -= REGION_SIZE)
        list_push(&pool->partial, &region->node);
}

struct pool_page *page_pool_take(struct page_pool *pool, bool soon)
{
    struct pool_page *page;
    struct page_region *region = NULL;
    pool->pages++;
    if (list_empty(&pool->partial) && pool->stock && (region = page_stock_take(pool->stock)))
        list_push(&pool->partial, &region->node);
    if (!list_empty(&pool->partial))
        return take_from_region(pool);
    page = (void *)map_aligned(POOL_PAGE_SIZE, soon ? MAP_POPULATE : 0);
    page->region = NULL;
    return page;
}

void page_pool_give(struct page_pool *pool, struct pool_page *page)
{
    pool->pages--;
    if (page->region)
        give_to_region(pool, page->region, (char *)page);
    else
        munmap(page, POOL_PAGE_SIZE);
}
