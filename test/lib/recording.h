/*
 * recording.h - recorded responses of a real API server (test/data/recordings).
 *
 *     recording_open(&r, "pods-watchlist");
 *     pipe_send(pipe, r.wire.bytes, r.wire.len);          as received, with its head and its chunks
 *     while (recording_next(&r, &line)) ...               or line by line: one watch event each
 *     recording_close(&r);
 *
 * The head is parsed and the chunks are joined by simple code of its own, not by the code under
 * test.
 */
#ifndef TEST_RECORDING_H
#define TEST_RECORDING_H

#include "base/buf.h"
#include "base/str.h"

struct recording {
    struct buf wire; /* as received */
    int status;
    char *retry_after; /* that header; NULL: missing */
    struct buf body;   /* without the framing of HTTP */
    size_t *edges;     /* offsets in `wire` where chunks begin and end; NULL: not chunked */
    size_t n_edges;
    size_t at; /* position of recording_next() */
};

/* A missing recording fails the test. */
void recording_open(struct recording *r, const char *name);
void recording_close(struct recording *r);

/* The next line of the body that is not empty, without its newline, borrowed; false at the end. */
bool recording_next(struct recording *r, struct str *ret_line);

static inline struct str recording_wire(const struct recording *r)
{
    return (struct str){r->wire.bytes, r->wire.len};
}

static inline struct str recording_body(const struct recording *r)
{
    return (struct str){r->body.bytes, r->body.len};
}

#endif
