/*
 * http_retry_after.c - reads a Retry-After. A value that can't be read counts as missing.
 */
#include "wire/http/http_retry_after.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

uint64_t http_retry_after_s(const char *value, int64_t now_us)
{
    struct tm tm = {0};
    const char *date_end;
    char *end;
    int64_t seconds;
    errno = 0;
    seconds = strtol(value, &end, 10);
    if (errno || end == value || *end) {
        date_end = strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        seconds = date_end && !*date_end ? (int64_t)timegm(&tm) - now_us / 1000000 : 0;
    }
    return seconds > 0 ? (uint64_t)seconds : 0;
}
