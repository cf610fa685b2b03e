/*
 * dump.h - writes the state dump (SIGUSR2) to a file, for diagnosis of a running daemon.
 */
#ifndef DAEMON_DUMP_H
#define DAEMON_DUMP_H

#include "informer/error.h"

#include "base/buf.h"

/* Replaces the file @path by @dump, readable only by the owner. Blocks: it is a small local
 * file. Returns 0, or -INF_EIO with @err naming the file. */
int dump_write(const char *path, const struct buf *dump, struct inf_error *err);

#endif
