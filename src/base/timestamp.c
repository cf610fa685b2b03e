#include "base/timestamp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void timestamp_format(int64_t us, char ret[TIMESTAMP_SIZE])
{
    time_t seconds = (time_t)(us / 1000000);
    char text[64];
    struct tm tm;
    size_t n;
    strcpy(ret, "0000-00-00T00:00:00.000000Z"); /* NOLINT: it is what TIMESTAMP_SIZE is made of */
    if (us < 0 || !gmtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900)
        return;
    n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof(text) - n, ".%06dZ", (int)(us % 1000000));
    memcpy(ret, text, TIMESTAMP_SIZE);
}
