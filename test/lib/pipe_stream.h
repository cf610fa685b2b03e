/*
 * pipe_stream.h - a connection in memory: a stream (seam/stream.h) on one side, a test on the
 * other.
 *
 * The stream follows all rules of stream.h, and checks that its user does: no call after close, no
 * more taken than given. Every delivery is a separate allocation that is freed right after the call,
 * so that ASan detects later accesses and accesses beyond its end.
 *
 *     pipe_dialer_init(&d, &sim);
 *     conn = http_conn_open(&sim.clock, &d.dialer, "example.com", 443, NULL);
 *     sim_run(&sim);
 *     pipe = d.last;                        what it dialled
 *     ... pipe->written ...                 what it wrote so far
 *     pipe_send(pipe, bytes, len);          what it will read
 *     pipe_end(pipe, INF_EEOF, "FIN");      and then the end
 *     ...
 *     pipe_dialer_done(&d);
 */
#ifndef TEST_PIPE_STREAM_H
#define TEST_PIPE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/rng.h"
#include "seam/stream.h"
#include "sim.h"

struct pipe;

struct pipe_dialer {
    struct dialer dialer;
    struct sim *sim;
    bool hold;                          /* pipes don't open until pipe_open() */
    size_t cut;                         /* given to each pipe */
    uint64_t seed;                      /* given to each pipe */
    void (*on_tick)(struct pipe *pipe); /* given to each pipe */
    void *peer;                         /* given to each pipe */
    struct list pipes;
    struct pipe *last;
    size_t n_dialled;
};

/* The test's side. It lives until pipe_dialer_done(), also after the stream was closed. */
struct pipe {
    struct list node;
    struct sim *sim;
    struct pipe_stream *stream; /* NULL once closed */
    char *host;
    uint16_t port;
    size_t cut;     /* bytes per delivery; 0: all */
    struct rng rng; /* with a seed: 1 to cut bytes, at random */
    bool random;
    void (*on_tick)(struct pipe *pipe); /* called in each I/O phase before the deliveries;
                                           may be NULL */
    void *peer;                         /* for on_tick */
    struct buf written;                 /* by the user; the test takes from it with buf_consume() */
    size_t n_writes;
    size_t n_calls;     /* of on_bytes */
    struct buf to_read; /* sent by the test, not taken by the user yet */
    size_t taken;       /* of to_read, in this tick */
    size_t unsent;      /* of `written`: not reported as sent yet */
    bool clogged;       /* the peer does not read: nothing drains */
    bool open, held;
    bool ending, ended; /* on_end is outstanding; was called */
    struct inf_error why;
};

void pipe_dialer_init(struct pipe_dialer *d, struct sim *sim);

/* Every stream must be closed. */
void pipe_dialer_done(struct pipe_dialer *d);

void pipe_send(struct pipe *pipe, const char *bytes, size_t len);
void pipe_sends(struct pipe *pipe, const char *text);
void pipe_end(struct pipe *pipe, int code, const char *text);
void pipe_open(struct pipe *pipe);

/* Whether the user wrote exactly @text since the last call. */
bool pipe_wrote(struct pipe *pipe, const char *text);

static inline bool pipe_closed(const struct pipe *pipe)
{
    return pipe->stream == NULL;
}

#endif
