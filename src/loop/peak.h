/*
 * peak.h - the largest value of the last minute, at the cost of one comparison.
 *
 * Two buckets of one minute each, the current and the previous one: the result covers at least one
 * minute and at most two.
 */
#ifndef LOOP_PEAK_H
#define LOOP_PEAK_H

#include <stdint.h>

enum {
    PEAK_BUCKET_MS = 60 * 1000,
};

/* Initialize with zeros. */
struct peak {
    uint64_t filling, before;
    uint64_t began_ms; /* `filling` */
};

static inline void peak_roll(struct peak *peak, uint64_t now_ms)
{
    uint64_t buckets = (now_ms - peak->began_ms) / PEAK_BUCKET_MS;
    if (buckets == 0)
        return;
    peak->before = buckets == 1 ? peak->filling : 0;
    peak->filling = 0;
    peak->began_ms += buckets * PEAK_BUCKET_MS;
}

static inline void peak_note(struct peak *peak, uint64_t now_ms, uint64_t value)
{
    peak_roll(peak, now_ms);
    if (value > peak->filling)
        peak->filling = value;
}

static inline uint64_t peak_value(struct peak *peak, uint64_t now_ms)
{
    peak_roll(peak, now_ms);
    return peak->filling > peak->before ? peak->filling : peak->before;
}

#endif
