/*
 * arena.c - blocks of growing size in a list; an allocation takes the next bytes of the newest block.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
    BLOCK_FIRST = 1024,
    BLOCK_LARGEST = 64 * 1024, /* a larger allocation gets its own block */
};

struct arena_block {
    struct arena_block *older;
    size_t size;
    alignas(max_align_t) char bytes[];
};

static void add_block(struct arena *arena, size_t wanted)
{
    size_t size = arena->newest ? arena->newest->size * 2 : BLOCK_FIRST;
    struct arena_block *block;
    if (size > BLOCK_LARGEST)
        size = BLOCK_LARGEST;
    if (size < wanted)
        size = wanted;
    block = xmalloc(sizeof(*block) + size);
    block->older = arena->newest;
    block->size = size;
    arena->newest = block;
    arena->at = block->bytes;
    arena->end = block->bytes + size;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t whole = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    char *piece;
    if ((size_t)(arena->end - arena->at) < whole || !arena->newest)
        add_block(arena, whole);
    piece = arena->at;
    arena->at += whole;
    return piece;
}

struct str arena_copy(struct arena *arena, struct str s)
{
    char *copy = arena_alloc(arena, s.len + 1);
    if (s.len)
        memcpy(copy, s.at, s.len);
    copy[s.len] = '\0';
    return (struct str){copy, s.len};
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->newest;
    while (block) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    *arena = (struct arena){.at = NULL};
}
