/*
 * seen_versions.h - a set of the object versions that were reported already.
 *
 * Stores a hash of each of the last SEEN_VERSIONS_MAX. Older ones are forgotten, and are reported
 * again if they occur again.
 */
#ifndef CORE_REFLECTOR_SEEN_VERSIONS_H
#define CORE_REFLECTOR_SEEN_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SEEN_VERSIONS_MAX = 1024, /* LIMIT: hashes stored */
};

/* Zero-initialised: empty. */
struct seen_versions {
    uint64_t *hashes; /* a ring once it is full */
    size_t count;
    size_t next; /* position of the next one */
};

/* Adds @hash. Returns false if it was in the set already. */
bool seen_versions_add(struct seen_versions *seen, uint64_t hash);

void seen_versions_free(struct seen_versions *seen);

#endif
