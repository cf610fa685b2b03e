/*
 * gzip.h - compresses gzip members with zlib.
 */
#ifndef TEST_GZIP_H
#define TEST_GZIP_H

#include "base/buf.h"
#include "base/str.h"

/* Adds @text to @out, as one member. */
void gzip_member(struct buf *out, struct str text);

#endif
