/*
 * slots.h - memory for many structs of one size, in pages of their own.
 *
 * A page is returned when its last slot is free, to the operating system if it is large. malloc()
 * keeps what it once needed: a cache of 100,000 objects that were packed twice, the second time
 * better, took 1.5 instead of 1.2 KB of resident memory per object (test/bench/bench_memory.c). A
 * slot needs no header.
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stddef.h>

#include "base/list.h"

enum slots_page {
    SLOTS_SMALL_PAGE = 4096,      /* from malloc(): for few or small structs */
    SLOTS_LARGE_PAGE = 64 * 1024, /* from the operating system */
};

struct slots {
    size_t size; /* of one */
    enum slots_page page;
    struct list partial; /* pages with room */
};

/* @size: structs of more than an eighth of a page are allocated one by one. */
void slots_init(struct slots *slots, size_t size, enum slots_page page);

/* Memory for a struct, not initialised. */
void *slots_take(struct slots *slots);

/* Frees a struct of slots_take(). When all are freed, no memory is left. */
void slots_give(struct slots *slots, void *slot);

#endif
