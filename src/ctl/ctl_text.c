/*
 * ctl_text.c - ages and sizes in one unit: that is precise enough, and columns stay narrow.
 */
#include "ctl/ctl_text.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/base.h"

char *ctl_age_text(uint64_t ms)
{
    uint64_t s = ms / 1000;
    if (s < 120)
        return xasprintf("%" PRIu64 "s", s);
    if (s < 120 * 60)
        return xasprintf("%" PRIu64 "m", s / 60);
    return s < 48 * 3600 ? xasprintf("%" PRIu64 "h", s / 3600)
                         : xasprintf("%" PRIu64 "d", s / 86400);
}

char *ctl_bytes_text(uint64_t bytes)
{
    static const char units[] = {'K', 'M', 'G', 'T'};
    double value = (double)bytes;
    size_t unit = 0;
    if (bytes < 1024)
        return xasprintf("%" PRIu64, bytes);
    for (value /= 1024; value >= 1023.5 && unit + 1 < ARRAY_LEN(units); unit++)
        value /= 1024;
    return xasprintf(value < 9.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}
