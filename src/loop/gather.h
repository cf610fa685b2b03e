/*
 * gather.h - fewer wake-ups while much arrives: streams are read at intervals, as network cards delay
 * interrupts.
 *
 *     reading each at once ── more than 5 wake-ups in 4 intervals ──> gathering, read by a timer
 *              <── less than every second interval has brought something ──
 *
 * A stream that is gathered does not wake the loop for each piece that arrives, only when much has
 * arrived (GATHER_BYTES) or when it ends. What arrives waits for at most one interval. Below that rate
 * nothing is delayed. With an interval of 8 ms gathering starts above 160 wake-ups a second and reduces them to
 * 125.
 *
 * The rate is that of all streams of a loop together. A stream joins if it has woken the loop twice
 * within a window, and leaves after a window without data, so that slow streams neither wait nor cost
 * a read in each interval.
 */
#ifndef LOOP_GATHER_H
#define LOOP_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "seam/clock.h"

enum {
    GATHER_WINDOW = 16,    /* intervals over which rates are measured */
    GATHER_WAKEUPS = 20,   /* in a window: gathering starts */
    GATHER_HITS_LEAST = 8, /* intervals with data in a window: with fewer, gathering ends */

    /* A stream with this many unread bytes wakes the loop before the interval ends: 64 MB/s in intervals of
     * 8 ms. With 64 KiB, 5,000 changes a second of 11.7 KB woke it every millisecond: 60 us of CPU per
     * change, now 48 (case "steady pace" of make bench). */
    GATHER_BYTES = 512 * 1024,
};

struct gathered;

struct gathered_ops {
    /* From now on the stream must wake the loop only if much has arrived, or for each piece again. */
    void (*hold)(struct gathered *gathered, bool held);
    /* Reads what has arrived. Returns whether that was something. May call gather_leave(). */
    bool (*read)(struct gathered *gathered);
};

/* A stream that may be gathered. Embedded in its owner; gathered_init() first. */
struct gathered {
    struct list node; /* in no list: it is read as soon as something arrives */
    const struct gathered_ops *ops;
    uint64_t woken_ms; /* when it last woke the loop */
    unsigned misses;   /* intervals without data in a row */
};

/* Of a loop. */
struct gather {
    struct clock *clock;
    uint64_t interval_ms; /* 0: never gathers */
    struct timer timer;   /* runs while there are streams to read */
    struct list streams;  /* of struct gathered */
    uint64_t window_ms;   /* start of the current window of wake-ups */
    unsigned wakeups;     /* in it */
    uint64_t counted_ms;  /* when the last of them was counted: one per millisecond */
    bool is_busy;         /* the last window had enough wake-ups */
    unsigned intervals;   /* of the current window while it gathers */
    unsigned hits;        /* of these, with data */
};

void gather_init(struct gather *gather, struct clock *clock);

/* Streams that are gathered are released if @interval_ms is 0. */
void gather_set_interval(struct gather *gather, uint64_t interval_ms);

void gathered_init(struct gathered *gathered, const struct gathered_ops *ops);

/* The stream has woken the loop with data. */
void gather_note_wakeup(struct gather *gather, struct gathered *gathered);

/* The stream is closed, or no longer to be gathered. Harmless if it is not gathered. */
void gather_leave(struct gather *gather, struct gathered *gathered);

#endif
