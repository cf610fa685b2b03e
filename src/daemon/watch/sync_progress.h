/*
 * sync_progress.h - a text about the lists that are being received: "pods: 12,400 objects, 8,200/s,
 * 61 MB".
 *
 * For `informerd watch` on a terminal. Short lists cause no text: the first one is due after half a
 * second.
 */
#ifndef DAEMON_WATCH_SYNC_PROGRESS_H
#define DAEMON_WATCH_SYNC_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seam/clock.h"

enum {
    SYNC_PROGRESS_FIRST_MS = 500,
    SYNC_PROGRESS_EACH_MS = 200,
    SYNC_PROGRESS_SAMPLES = 10, /* the rate is that of the last two seconds */
};

/* What the lists in progress have delivered. */
struct sync_progress_state {
    const char *name; /* of one of the watches; NULL: no list is in progress */
    size_t others;    /* further watches whose list is in progress */
    uint64_t objects; /* of all these watches */
    uint64_t bytes;
};

struct sync_progress;

/* Called from the loop. */
struct sync_progress_ops {
    void (*read)(struct sync_progress *progress, struct sync_progress_state *ret);
    /* Shows @text in place of the previous one; NULL: shows nothing. */
    void (*show)(struct sync_progress *progress, const char *text);
};

struct sync_progress_sample {
    uint64_t at_ms;
    uint64_t objects;
};

/* Embedded in its owner. A zeroed struct is not started. */
struct sync_progress {
    const struct sync_progress_ops *ops;
    struct clock *clock; /* NULL: not started, or stopped */
    struct timer tick;
    struct sync_progress_sample samples[SYNC_PROGRESS_SAMPLES]; /* the oldest first */
    size_t n_samples;
};

void sync_progress_start(struct sync_progress *progress, const struct sync_progress_ops *ops,
                         struct clock *clock);

/* Shows nothing any more. Does nothing if it was not started. */
void sync_progress_stop(struct sync_progress *progress);

#endif
