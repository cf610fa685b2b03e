/*
 * slots.h - memory for many structs of one size, in pages of their own.
 *
 * A page comes from the operating system and is returned when its last slot is free; the part of it
 * that was never used takes no memory. malloc() keeps what it once needed: a cache of 100,000 objects
 * that were packed twice, the second time better, took 1.5 instead of 1.2 KB of resident memory per
 * object. Structs that are read together are together: small pages between other memory cost 2 % more
 * memory and 10 % more time in reads of 100,000 plain objects (test/bench/bench_memory.c). A slot needs
 * no header.
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stddef.h>

#include "base/list.h"
#include "base/page_pool.h"

struct slots {
    size_t size;            /* of one */
    struct page_pool *pool; /* borrowed: where pages come from */
    unsigned pages;         /* in use */
    struct list partial;    /* pages with room */
};

/* @size: structs of more than an eighth of a page are allocated one by one. @pool must not be moved. */
void slots_init(struct slots *slots, size_t size, struct page_pool *pool);

/* Memory for a struct, not initialised. */
void *slots_take(struct slots *slots);

/* Frees a struct of slots_take(). When all are freed, no memory is left. */
void slots_give(struct slots *slots, void *slot);

#endif
