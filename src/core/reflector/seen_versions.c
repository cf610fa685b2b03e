/*
 * seen_versions.c - linear search in a small ring: undecodable objects are rare. See
 * seen_versions.h.
 */
#include "core/reflector/seen_versions.h"

#include <stdlib.h>

#include "base/alloc.h"

bool seen_versions_add(struct seen_versions *seen, uint64_t hash)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->hashes[i] == hash)
            return false;
    if (!seen->hashes)
        seen->hashes = xcalloc(SEEN_VERSIONS_MAX, sizeof(*seen->hashes));
    seen->hashes[seen->next] = hash;
    seen->next = (seen->next + 1) % SEEN_VERSIONS_MAX;
    if (seen->count < SEEN_VERSIONS_MAX)
        seen->count++;
    return true;
}

void seen_versions_free(struct seen_versions *seen)
{
    free(seen->hashes);
    *seen = (struct seen_versions){0};
}
