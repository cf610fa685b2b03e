/*
 * arena.h - many small allocations that are freed together.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_block;

/* A zeroed struct is an empty arena. */
struct arena {
    struct arena_block *newest;
    char *at; /* free space of the newest block: from `at` to `end` */
    char *end;
};

/* Returns uninitialised memory, aligned for any type, never moved. Aborts like xmalloc(): the caller
 * checks sizes that a peer chooses. */
__attribute__((malloc, returns_nonnull)) void *arena_alloc(struct arena *arena, size_t size);

/* A NUL-terminated copy of @s. */
struct str arena_copy(struct arena *arena, struct str s);

/* Frees everything. The arena is empty and can be used again. */
void arena_free(struct arena *arena);

#endif
