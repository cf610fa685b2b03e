/*
 * disk_append.h - appends to files of a loop_disk through io_uring.
 *
 * Nothing wakes the loop when such a write ends. Its result is delivered by collect(), which a user
 * calls when it wants to write again, or DISK_APPEND_LAZY_MS after the last write. So a steady stream of
 * lines costs one wake-up per line, not two. Only if a user collects while its write is still in
 * progress, the loop waits for the result.
 */
#ifndef LOOP_DISK_APPEND_H
#define LOOP_DISK_APPEND_H

#include "loop/loop.h"
#include "seam/disk.h"

enum {
    DISK_APPEND_LAZY_MS = 20, /* maximum delay of the result of a write that is not collected */
};

struct disk_appends;

/* NULL: io_uring is not available. @disk writes what io_uring refuses. */
struct disk_appends *disk_appends_new(struct loop *loop, struct disk *disk);

/* No append may be in flight. */
void disk_appends_close(struct disk_appends *appends);

/* Returns false if it could not be started. */
bool disk_appends_start(struct disk_appends *appends, struct disk_op *op, int fd, const char *bytes,
                        size_t len);

/* As collect() of seam/disk.h. Returns false if @op is none of these appends. */
bool disk_appends_collect(struct disk_appends *appends, struct disk_op *op);

#endif
