/*
 * dump.h - how things are, written to a file for who looks into a daemon that behaves oddly.
 */
#ifndef DAEMON_DUMP_H
#define DAEMON_DUMP_H

#include "informer/error.h"

#include "base/buf.h"

/* Writes @dump to @path, in place of what is there, readable for the owner alone. A small local file:
 * it is written at once. -INF_EIO, naming the file. */
int dump_write(const char *path, const struct buf *dump, struct inf_error *err);

#endif
