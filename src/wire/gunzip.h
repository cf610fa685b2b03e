/*
 * gunzip.h - a body in gzip, inflated as it comes; a thin cover over zlib.
 *
 * It calls nobody: the caller asks for the next piece as long as there is one.
 *
 *     while ((rc = gunzip_next(g, &input, &piece, &err)) == 1) {
 *         ...  took n of piece;  gunzip_took(g, n);
 *         n < piece.len, or enough for this tick: stop; gunzip_next() goes on there, later
 *     }
 *
 * A body is members without end: API servers end one with each flush of a compressed watch-list and
 * begin another with the next event. No member at all is an empty body; what is good for one, its
 * reader knows. A few bytes can become megabytes, so they come in slices, and not before the one
 * before was taken.
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
void gunzip_free(struct gunzip *g); /* NULL is fine */

/*
 * Inflates from the front of @input, which moves on. Returns 1 and a piece of at least one byte,
 * lent until the next call; 0 when all of @input is used up and nothing is held; -INF_EPROTO if it
 * is no gzip, or corrupt, once all before that was taken.
 */
int gunzip_next(struct gunzip *g, struct str *input, struct str *ret_piece, struct inf_error *err);

/* Says how much of the last piece was taken. */
void gunzip_took(struct gunzip *g, size_t len);

/* Whether gunzip_next() may have something to tell without any input. */
bool gunzip_holds(const struct gunzip *g);

/* The body has ended, and gunzip_next() has returned 0: -INF_ECUT if that was inside a member. */
int gunzip_end(const struct gunzip *g, struct inf_error *err);

#endif
