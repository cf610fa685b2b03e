/*
 * recording.h - what a real API server once answered (test/data/recordings), ready to be played or
 * taken apart.
 *
 *     recording_open(&r, "pods-watchlist");
 *     pipe_send(pipe, r.wire.bytes, r.wire.len);          as it came, with its head and its chunks
 *     while (recording_next(&r, &line)) ...               or line by line: one watch event each
 *     recording_close(&r);
 *
 * The head is read and the chunks are joined here by simple means of its own, not by what is being
 * tested.
 */
#ifndef TEST_RECORDING_H
#define TEST_RECORDING_H

#include "base/buf.h"
#include "base/str.h"

struct recording {
    struct buf wire; /* as it came off the wire */
    int status;
    char *retry_after; /* that header; NULL: there is none */
    struct buf body;   /* without the framing of HTTP */
    size_t *edges;     /* where in `wire` chunks begin and end; NULL: it has none */
    size_t n_edges;
    size_t at; /* where recording_next() goes on */
};

/* A recording that is not there fails the test. */
void recording_open(struct recording *r, const char *name);
void recording_close(struct recording *r);

/* The next line of the body that is not empty, without its newline, lent; false at the end. */
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
