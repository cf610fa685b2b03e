/*
 * seen_versions.h - remembers which versions of which objects were reported already.
 *
 * Keeps a hash of each, of the last SEEN_VERSIONS_MAX. If there are more, the oldest are forgotten,
 * and are reported again when they are seen again.
 */
#ifndef CORE_REFLECTOR_SEEN_VERSIONS_H
#define CORE_REFLECTOR_SEEN_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SEEN_VERSIONS_MAX = 1024, /* LIMIT: hashes remembered */
};

/* A zeroed one is empty. */
struct seen_versions {
    uint64_t *hashes; /* a ring, once it is full */
    size_t count;
    size_t next; /* where the next one goes */
};

/* Adds @hash; false if it was there. */
bool seen_versions_add(struct seen_versions *seen, uint64_t hash);

void seen_versions_free(struct seen_versions *seen);

#endif
