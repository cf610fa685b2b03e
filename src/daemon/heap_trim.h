/*
 * heap_trim.h - returns memory to the system after many objects were deleted, and after many changes.
 *
 * The C library keeps freed memory in its heap: after the deletion of 1,000,000 objects of 1.2 KB
 * the process still held 1,287 MB. malloc_trim() releases it, but takes 0.12 ms for each MB and
 * can't be interrupted. So it is called often while the cache shrinks, each time for little memory:
 *
 *     no relist, no deletion       nothing
 *     a relist or a deletion       20 ms later, the size of the cache is checked
 *     the cache shrank by a part   trim, and again every 20 ms until 5 s after the last relist or
 *                                  deletion, because objects are freed a little after they left the
 *                                  cache. Trimming uses at most a fifth of the time, or a twentieth
 *                                  if a trim takes long because the heap is fragmented
 *
 * "A part" is at least 16 MB and 1/32 of the cache, so that normal turnover of objects causes no
 * trimming.
 *
 * Objects of compact caches are not in that heap, but each change passes through it: after 45,000 changes at full speed
 * of 100,000 pods it had 6 MB in use and held 20 MB, with state on disk 38 MB. So a heap that is small, because the
 * caches are, is also trimmed 10 s after a change: that takes at most a few milliseconds.
 */
#ifndef DAEMON_HEAP_TRIM_H
#define DAEMON_HEAP_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/watch/event_consumer.h"
#include "seam/clock.h"

enum {
    HEAP_TRIM_CHANGED_MS = 1000,
    HEAP_TRIM_CHECK_MS = 20,
    HEAP_TRIM_SETTLE_MS = 5000,
    HEAP_TRIM_MIN_BYTES = 16 * 1024 * 1024,
    HEAP_TRIM_SHARE = 32,           /* of the cache */
    HEAP_TRIM_REST = 4,             /* pause after a trim, as a multiple of its CPU time, ... */
    HEAP_TRIM_LONG_US = 20 * 1000,  /* ... unless it took longer than this; ... */
    HEAP_TRIM_LONG_REST = 20,       /* ... then this multiple */
    HEAP_TRIM_BURST_MS = 10 * 1000, /* from a change to the trim of a small heap */
    HEAP_TRIM_SMALL_BYTES = 64 * 1024 * 1024, /* a larger one is not trimmed then */
};

/* Embedded in its owner, which fills in the first part. */
struct heap_trim {
    size_t (*held)(struct heap_trim *trim);   /* bytes in the cache */
    uint64_t (*trim)(struct heap_trim *trim); /* returns its CPU time in microseconds */
    size_t (*heap)(struct heap_trim *trim);   /* bytes by which the heap has grown since _init() */

    struct clock *clock;
    struct timer timer;
    struct timer burst;   /* runs after a change */
    uintptr_t heap_start; /* its end at heap_trim_init() */
    size_t highest;       /* size of the cache since it last shrank */
    bool shrank;          /* recently: trimming is active */
    bool stopped;
    uint64_t changed_ms; /* when the size was last recorded */
    uint64_t hint_ms;    /* last call of heap_trim_hint() */
    uint64_t trims;
};

void heap_trim_init(struct heap_trim *trim, struct clock *clock);

/* The cache changed: records its size, at most once per HEAP_TRIM_CHANGED_MS, and trims a small heap later. */
void heap_trim_changed(struct heap_trim *trim);

/* Objects were deleted, or may be after a relist. */
void heap_trim_hint(struct heap_trim *trim);

/* Stops trimming for good. */
void heap_trim_stop(struct heap_trim *trim);

/* Trims while the caches of the daemon's watches shrink. */
extern const struct event_consumer_ops heap_trim_consumer;

/* Implementations of `trim` and `heap` for the C library's heap: malloc_trim(), where available, and sbrk(). */
uint64_t heap_trim_malloc(struct heap_trim *trim);
size_t heap_trim_malloc_size(struct heap_trim *trim);

#endif
