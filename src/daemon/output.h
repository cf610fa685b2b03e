/*
 * output.h - lines to a file descriptor that may be slow, without ever holding up the loop.
 *
 * Lines are collected while handlers run. At the end of the batch all of them go out with one
 * write, on libuv's pool, and until it is done the next ones are collected. A reader that sleeps (a
 * pager, a stopped terminal) makes the collected lines pile up: over the high mark the owner is
 * told to hold its source, under the low mark to go on.
 *
 * O_NONBLOCK is never set: the descriptor may be shared with our parent.
 */
#ifndef DAEMON_OUTPUT_H
#define DAEMON_OUTPUT_H

#include <stdbool.h>

#include <uv.h>

#include "base/buf.h"
#include "seam/clock.h"

enum {
    OUTPUT_HIGH = 1024 * 1024, /* LIMIT: bytes collected before the owner is told to hold */
    OUTPUT_LOW = 256 * 1024,
};

struct output {
    uv_loop_t *uv;
    int fd;
    struct buf collected;
    struct buf writing; /* in flight while `busy` */
    size_t written;     /* of `writing` */
    uv_fs_t request;
    bool busy;
    bool held;
    int error; /* a negative errno of libuv; nothing is written any more */

    void (*on_hold)(struct output *output, bool hold); /* also from output_flush() */
    void (*on_idle)(
        struct output *output); /* from the loop: all that was collected is out, or it failed */
};

/* Sets up @output; the owner fills in the two callbacks. */
void output_init(struct output *output, uv_loop_t *uv, int fd);

/* Sends what was collected, unless a write is in flight: then it goes out when that is done. */
void output_flush(struct output *output);

/* Whether nothing is collected or in flight. */
bool output_idle(const struct output *output);

void output_free(struct output *output);

#endif
