/*
 * disk_read.h - reads a file and works on what was read, in one job of libuv's pool.
 *
 * For files that are large: the loop only gets the result. What the work may use: seam/disk.h.
 */
#ifndef LOOP_DISK_READ_H
#define LOOP_DISK_READ_H

#include "loop/loop.h"
#include "seam/disk.h"

/* As read() of a disk, for an @op with work. Without a loop it ends before this returns. */
void disk_read_and_work(struct loop *loop, struct disk_op *op, int fd, char *bytes, size_t len,
                        int64_t at);

#endif
