/*
 * heap_trim.h - gives memory back to the system after many objects were deleted.
 *
 * The C library keeps what is freed inside its heap: after the deletion of 1,000,000 objects of 1.2 KB the process still
 * held 1,287 MB. malloc_trim() gives it back, but takes 0.12 ms for each MB, and it can't be done in slices. So it is called
 * often while the cache shrinks, each time for little memory:
 *
 *     no relist, no deletion         nothing
 *     one of them                    20 ms later, a look at the size of the cache
 *     the cache shrank by a part     trim, and again every 20 ms until 5 s after the last relist or deletion: objects
 *                                    are freed a little after they left. But at most a fifth of the time is used for it,
 *                                    and a twentieth where a trim takes long because the heap is in pieces
 *
 * "A part" is 16 MB and 1/32 of the cache, so that objects that come and go cause no trimming.
 */
#ifndef DAEMON_HEAP_TRIM_H
#define DAEMON_HEAP_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seam/clock.h"

enum {
    HEAP_TRIM_CHANGED_MS = 1000,
    HEAP_TRIM_LOOK_MS = 20,
    HEAP_TRIM_SETTLE_MS = 5000,
    HEAP_TRIM_MIN_BYTES = 16 * 1024 * 1024,
    HEAP_TRIM_SHARE = 32, /* of the cache */
    HEAP_TRIM_REST = 4,   /* times the processor time of a trim, before the next one, ... */
    HEAP_TRIM_LONG_US = 20 * 1000, /* ... but if it took so much, ... */
    HEAP_TRIM_LONG_REST = 20,      /* ... so many times */
};

/* The owner fills in the first part. Embedded in it. */
struct heap_trim {
    size_t (*held)(struct heap_trim *trim);   /* bytes in the cache */
    uint64_t (*trim)(struct heap_trim *trim); /* returns its processor time, in microseconds */

    struct clock *clock;
    struct timer timer;
    size_t highest; /* since it shrank last */
    bool shrank;    /* lately: it trims */
    bool stopped;
    uint64_t changed_ms; /* when the size was noted last */
    uint64_t hint_ms;    /* when heap_trim_hint() was called last */
    uint64_t trims;
};

void heap_trim_init(struct heap_trim *trim, struct clock *clock);

/* Something changed: from time to time the size of the cache is noted. */
void heap_trim_changed(struct heap_trim *trim);

/* Something was deleted, or is after a relist. */
void heap_trim_hint(struct heap_trim *trim);

/* Nothing happens any more. */
void heap_trim_stop(struct heap_trim *trim);

/* For `trim`: malloc_trim(), where there is one. */
uint64_t heap_trim_malloc(struct heap_trim *trim);

#endif
