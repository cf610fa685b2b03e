/*
 * stream_reader.h - a user of a stream that collects the bytes, and can pause, yield or close in any
 * callback.
 *
 * It checks the stream's side of the rules: callbacks in order, none after close or while paused,
 * none inside one of its own calls.
 */
#ifndef TEST_STREAM_READER_H
#define TEST_STREAM_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/rng.h"
#include "seam/stream.h"

enum stream_reader_moment {
    NEVER,
    IN_OPEN,
    IN_BYTES,
    IN_END,
    IN_DRAIN,
};

struct stream_reader {
    struct stream_user user;
    struct stream *stream; /* set by the test; NULL once closed */
    size_t take;           /* bytes to take per call; 0: all */
    bool take_none;        /* takes no byte */
    struct rng dice;       /* with a seed: 0 to `take` bytes, at random */
    bool resume_again;     /* resume() in each call that brings bytes */
    enum stream_reader_moment close_in;
    enum stream_reader_moment pause_in;
    const char *write_in_open; /* NULL: nothing */
    struct buf got;
    int opened;
    int ended;
    int drained;        /* calls of on_drain */
    size_t calls;       /* of on_bytes */
    size_t empty_calls; /* of them with len 0 */
    struct inf_error why;
    bool paused;
    bool inside; /* one of our own calls */
};

void stream_reader_init(struct stream_reader *r);
void stream_reader_done(struct stream_reader *r); /* closes too */

void stream_reader_write(struct stream_reader *r, const char *bytes, size_t len);
void stream_reader_pause(struct stream_reader *r);
void stream_reader_resume(struct stream_reader *r);
void stream_reader_close(struct stream_reader *r); /* harmless if closed */

#endif
