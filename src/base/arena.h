/*
 * arena.h - many small pieces of memory that are given back together.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_block;

/* A zeroed struct is an empty arena. */
struct arena {
    struct arena_block *newest;
    char *at; /* what is left of the newest block */
    char *end;
};

/* Uninitialised, aligned for anything, never moved. Aborts like xmalloc(): sizes that others choose
 * are bounded before. */
__attribute__((malloc, returns_nonnull)) void *arena_alloc(struct arena *arena, size_t size);

/* A copy of @s with a NUL behind it. */
struct str arena_copy(struct arena *arena, struct str s);

/* Gives back all of it. The arena is empty and can be used again. */
void arena_free(struct arena *arena);

#endif
