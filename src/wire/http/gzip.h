/*
 * gzip.h - incremental compression of a body to gzip; a thin layer over zlib. The reverse is gunzip.h.
 *
 *     gzip_put(g, bytes, len, &out);          appends what is ready, perhaps nothing
 *     gzip_end(g, &out);                      appends the rest
 */
#ifndef WIRE_GZIP_H
#define WIRE_GZIP_H

#include <stddef.h>

#include "base/buf.h"

struct gzip; /* holds about 270 KB */

struct gzip *gzip_new(void);
void gzip_free(struct gzip *g); /* NULL is allowed */

void gzip_put(struct gzip *g, const char *bytes, size_t len, struct buf *out);

/* Nothing may be put afterwards. */
void gzip_end(struct gzip *g, struct buf *out);

#endif
