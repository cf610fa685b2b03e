/*
 * gunzip.h - incremental decompression of a gzip body; a thin layer over zlib.
 *
 * It makes no callbacks: the caller pulls the next piece as long as there is one.
 *
 *     while ((rc = gunzip_next(g, &input, &piece, &err)) == 1) {
 *         ...  took n of piece;  gunzip_took(g, n);
 *         n < piece.len, or the tick's budget is used: stop; gunzip_next() continues there later
 *     }
 *
 * A body is any number of members: API servers end a member with each flush of a compressed
 * watch-list and begin another with the next event. No member at all is an empty body. A few bytes
 * can expand to megabytes; output is therefore produced in slices, each only after the previous one
 * was taken.
 */
#ifndef WIRE_GUNZIP_H
#define WIRE_GUNZIP_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/str.h"

enum {
    GUNZIP_SLICE =
        32 * 1024, /* LIMIT: bytes inflated ahead of their reader; zlib holds 40 KB too */
};

struct gunzip;

struct gunzip *gunzip_new(void);
void gunzip_free(struct gunzip *g); /* NULL is allowed */

/*
 * Inflates from the front of @input and advances it. Returns 1 and a piece of at least one byte,
 * valid until the next call; 0 when @input is used up and no output is pending; -INF_EPROTO if the
 * data is not gzip or is corrupt, after everything before the error was taken.
 */
int gunzip_next(struct gunzip *g, struct str *input, struct str *ret_piece, struct inf_error *err);

/* Reports how much of the last piece was taken. */
void gunzip_took(struct gunzip *g, size_t len);

/* Whether gunzip_next() may return a piece or an error without input. */
bool gunzip_holds(const struct gunzip *g);

/* Call at the end of the body, after gunzip_next() returned 0. Returns 0, or -INF_ECUT inside a
 * member. */
int gunzip_end(const struct gunzip *g, struct inf_error *err);

#endif
