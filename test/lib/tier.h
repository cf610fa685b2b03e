/*
 * tier.h - how thorough a test is. `make test` samples what would take minutes; `make test-full` sets
 * TEST_TIER=full and tries everything.
 */
#ifndef TEST_TIER_H
#define TEST_TIER_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool tier_is_full(void)
{
    const char *tier = getenv("TEST_TIER");
    return tier && strcmp(tier, "full") == 0;
}

#endif
