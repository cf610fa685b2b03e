/*
 * reader.h - the user of a stream in tests: collects what comes, and is as difficult as the rules
 * allow.
 *
 * It checks the stream's side of the rules: callbacks in order, none after close or while paused,
 * none inside one of its own calls.
 */
#ifndef TEST_READER_H
#define TEST_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/rng.h"
#include "seam/stream.h"

enum reader_moment {
    NEVER,
    IN_OPEN,
    IN_BYTES,
    IN_END,
    IN_DRAIN,
};

struct reader {
    struct stream_user user;
    struct stream *stream; /* set by the test; NULL once closed */
    size_t take;           /* at most so many bytes in one call; 0: all */
    bool take_none;        /* or none at all */
    struct rng dice;       /* with a seed: 0 to `take` bytes, at random */
    bool ask_again;        /* resume() in each call that brings bytes */
    enum reader_moment close_in;
    enum reader_moment pause_in;
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

void reader_init(struct reader *r);
void reader_done(struct reader *r); /* closes too, if that is still to do */

void reader_write(struct reader *r, const char *bytes, size_t len);
void reader_pause(struct reader *r);
void reader_resume(struct reader *r);
void reader_close(struct reader *r); /* harmless if it is */

#endif
