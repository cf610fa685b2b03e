/*
 * timestamp.h - a moment as text: RFC 3339, UTC, microseconds, always of the same width.
 */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

#include <stdint.h>

enum {
    TIMESTAMP_SIZE = sizeof("2026-11-15T23:09:29.000000Z"),
};

/* @us: microseconds since 1970. A year that does not have four digits gives zeros. */
void timestamp_format(int64_t us, char ret[TIMESTAMP_SIZE]);

#endif
