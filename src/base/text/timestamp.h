/*
 * timestamp.h - times as text (RFC 3339). Written in UTC with microseconds, with a constant width.
 */
#ifndef BASE_TEXT_TIMESTAMP_H
#define BASE_TEXT_TIMESTAMP_H

#include <stdint.h>

enum {
    TIMESTAMP_SIZE = sizeof("2026-11-15T23:09:29.000000Z"),
};

/* @us: microseconds since 1970, may be negative. RFC 3339 has four digits for the year: a time
 * before the year 0000 or after 9999 is written as the first or last moment of these years. */
void timestamp_format(int64_t us, char ret[TIMESTAMP_SIZE]);

/* Reads RFC 3339 with any offset and any fraction ("2026-11-15T23:09:29.5+01:00"), which must be
 * the whole @text. Returns 0, or -INF_EINVAL. */
int timestamp_parse(const char *text, int64_t *ret_us);

#endif
