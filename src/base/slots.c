/*
 * slots.c - pages with a header and a list of free slots. The page of a slot is found by its address.
 *
 * Normal path: take the first free slot of the first page with room. Nothing here fails. With the
 * address sanitizer free slots are poisoned, so that it detects their use, and pages are searched for
 * pointers to other memory, which is then not reported as leaked.
 */
#include "base/slots.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

#ifdef __has_feature /* clang */
#define HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__) /* gcc */
#define HAS_ADDRESS_SANITIZER 1
#else
#define HAS_ADDRESS_SANITIZER 0
#endif

#if HAS_ADDRESS_SANITIZER
void __asan_poison_memory_region(const volatile void *at, size_t size);
void __asan_unpoison_memory_region(const volatile void *at, size_t size);
void __lsan_register_root_region(const void *at, size_t size);
void __lsan_unregister_root_region(const void *at, size_t size);
#else
#define __asan_poison_memory_region(at, size)   ((void)(at), (void)(size))
#define __asan_unpoison_memory_region(at, size) ((void)(at), (void)(size))
#define __lsan_register_root_region(at, size)   ((void)(at), (void)(size))
#define __lsan_unregister_root_region(at, size) ((void)(at), (void)(size))
#endif

enum {
    SLOTS_MIN = 8, /* in a page; fewer would leave too much of it unused */

    /* Pages of a struct that has this many are filled soon, and get their memory at once: 15 page faults
     * less. */
    POPULATE_FROM = 8,
};

struct free_slot {
    struct free_slot *next;
};

struct slot_page {
    struct pool_page page;
    struct list node; /* in slots.partial, unless it is full */
    struct free_slot *free;
    unsigned used;
    unsigned fresh; /* slots from here on were never taken */
    _Alignas(64) char bytes
        []; /* so that a struct whose size is a multiple of 64 begins with a cache line */
};

/* ---- pages ---- */

enum {
    SLOT_PAGE_ROOM = POOL_PAGE_SIZE - sizeof(struct slot_page),
};

static unsigned page_slots(const struct slots *slots)
{
    return (unsigned)(SLOT_PAGE_ROOM / slots->size);
}

static bool has_pages(const struct slots *slots)
{
    return page_slots(slots) >= SLOTS_MIN;
}

static struct slot_page *page_new(struct slots *slots)
{
    struct pool_page *memory = page_pool_take(slots->pool, slots->pages >= POPULATE_FROM);
    struct slot_page *page = container_of(memory, struct slot_page, page);
    slots->pages++;
    *page = (struct slot_page){.page = *memory};
    __asan_poison_memory_region(page->bytes, SLOT_PAGE_ROOM);
    __lsan_register_root_region(page, POOL_PAGE_SIZE);
    list_push(&slots->partial, &page->node);
    return page;
}

static void page_free(struct slots *slots, struct slot_page *page)
{
    slots->pages--;
    list_remove(&page->node);
    __asan_unpoison_memory_region(page->bytes, SLOT_PAGE_ROOM);
    __lsan_unregister_root_region(page, POOL_PAGE_SIZE);
    page_pool_give(slots->pool, &page->page);
}

/* ---- slots ---- */

void slots_init(struct slots *slots, size_t size, struct page_pool *pool)
{
    slots->size = (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
    slots->pool = pool;
    slots->pages = 0;
    list_init(&slots->partial);
}

void *slots_take(struct slots *slots)
{
    struct slot_page *page;
    void *slot;
    if (!has_pages(slots))
        return xmalloc(slots->size);
    page = list_empty(&slots->partial) ? page_new(slots)
                                       : container_of(slots->partial.next, struct slot_page, node);
    slot = page->free ? (void *)page->free : page->bytes + page->fresh++ * slots->size;
    __asan_unpoison_memory_region(slot, slots->size);
    if (page->free)
        page->free = page->free->next;
    if (++page->used == page_slots(slots))
        list_remove(&page->node);
    return slot;
}

void slots_give(struct slots *slots, void *slot)
{
    struct slot_page *page =
        (struct slot_page *)((uintptr_t)slot & ~((uintptr_t)POOL_PAGE_SIZE - 1));
    struct free_slot *free_slot = slot;
    if (!has_pages(slots)) {
        free(slot);
        return;
    }
    if (page->used-- == page_slots(slots))
        list_push(&slots->partial, &page->node);
    free_slot->next = page->free;
    page->free = free_slot;
    __asan_poison_memory_region(slot, slots->size);
    if (page->used == 0)
        page_free(slots, page);
}
