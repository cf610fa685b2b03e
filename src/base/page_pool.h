/*
 * page_pool.h - pages of 64 KB for the slots (base/slots.h) of one cache.
 *
 * Pages are mapped one by one, or come from regions of 2 MB, which the kernel can back by one huge page each: one
 * page fault instead of 512, and fewer misses of the address translation in every read. But that one takes long,
 * up to 7 ms on a virtual machine whose host has not assigned the memory yet. So regions are only used where
 * another thread touches them first: while saved objects are read, it makes the objects, and prepares a stock for what
 * the loop makes (core/state/state_lend.c). Where the kernel has no huge pages, they only save page faults on the loop.
 */
#ifndef BASE_PAGE_POOL_H
#define BASE_PAGE_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

enum {
    POOL_PAGE_SIZE = 64 * 1024,
    REGION_SIZE = 2 * 1024 * 1024, /* a huge page, on x86-64 and arm64 with pages of 4 KB */
};

/* ---- regions ---- */

/* Maps a region. page_region_touch() then gives it its memory; that may be called in another thread. */
struct page_region *page_region_new(void);
void page_region_touch(const struct page_region *region);
void page_region_free(
    struct page_region *region); /* that is in no stock and no pool; NULL is allowed */

/* Its REGION_SIZE bytes, at a multiple of that. They are zero. */
void *page_region_memory(const struct page_region *region);

/* Regions that no pool uses yet. */
struct page_stock {
    struct list regions;
    unsigned count;
};

void page_stock_init(struct page_stock *stock);
void page_stock_add(struct page_stock *stock, struct page_region *region); /* takes it over */
struct page_region *page_stock_take(struct page_stock *stock);             /* NULL: there is none */
void page_stock_clear(struct page_stock *stock);

/* ---- pools ---- */

/* A page begins with it; the owner does not change it. */
struct pool_page {
    struct page_region *region; /* NULL: it is mapped alone */
};

struct page_pool {
    struct page_stock *stock; /* borrowed; NULL: none */
    unsigned pages;           /* in use */
    struct list partial;      /* of struct page_region: with free pages */
};

void page_pool_init(struct page_pool *pool, struct page_stock *stock);

/* Takes regions over from @stock for pages of @bytes bytes in all, as far as there are any. */
void page_pool_supply(struct page_pool *pool, struct page_stock *stock, size_t bytes);

/* A page at a multiple of its size. Only its struct pool_page is initialised. @soon: all of it will be used
 * soon, and it gets its memory at once. */
struct pool_page *page_pool_take(struct page_pool *pool, bool soon);

/* Returns the memory of @page to the operating system. When all are returned, the pool has no memory. */
void page_pool_give(struct page_pool *pool, struct pool_page *page);

#endif
