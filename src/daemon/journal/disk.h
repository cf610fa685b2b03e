/*
 * disk.h - file operations that may take their time, and the seam behind which tests play a disk
 * that fails.
 *
 * Whoever has files embeds a disk_op and has one operation under way with it at a time. Its end is
 * told by done(), with what the system call returned or a negative error of libuv.
 */
#ifndef DAEMON_JOURNAL_DISK_H
#define DAEMON_JOURNAL_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "loop/loop.h"

struct disk;

struct disk_file {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    uint64_t links; /* names that it has */
    bool regular;
};

struct disk_op {
    void (*done)(struct disk_op *op, int64_t result);
    struct disk_file file; /* of look() and look_at(), if they succeed */
    int lock_fd;           /* of lock() */
    bool lock_exclusive;
    pid_t lock_holder; /* of lock(), if it fails with UV_EBUSY; 0: not known */
    uv_fs_t request;
    struct polled_write *polled; /* of write_polled(), while it waits; else NULL */
};

/* Paths are copied; bytes are lent until done(). */
struct disk_ops {
    void (*open)(struct disk *disk, struct disk_op *op, const char *path, int flags, int mode);
    void (*close)(struct disk *disk, struct disk_op *op, int fd);
    void (*read)(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                 int64_t at);
    void (*write)(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len,
                  int64_t at); /* @at below 0: where the descriptor is, or the end (O_APPEND) */

    /*
     * For FIFOs and terminals: waits on the loop until @fd takes something, and writes that. No
     * thread of the pool waits with it. @fd must be open with O_NONBLOCK. A device that can't be
     * polled is written on the pool.
     */
    void (*write_polled)(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                         size_t len);

    /*
     * Ends a write that has not begun: done() gets UV_ECANCELED, before this returns if it was polled. A write that
     * the kernel is busy with can't be ended.
     */
    void (*cancel)(struct disk *disk, struct disk_op *op);
    void (*sync)(struct disk *disk, struct disk_op *op, int fd);
    void (*rename)(struct disk *disk, struct disk_op *op, const char *from, const char *to);
    void (*remove)(struct disk *disk, struct disk_op *op, const char *path);
    void (*look)(struct disk *disk, struct disk_op *op, const char *path);
    void (*look_at)(struct disk *disk, struct disk_op *op, int fd);

    /* Locks @fd, which is open at @path, for us alone or (not @exclusive) together with others. done() gets
     * 0, also where files can't be locked without waiting, or UV_EBUSY: another open file has the lock. */
    void (*lock)(struct disk *disk, struct disk_op *op, int fd, const char *path, bool exclusive);
};

/* The real one: on libuv's pool, done() from the loop. Without a loop it is done before the call
 * returns: for small files at the start. */
struct disk {
    const struct disk_ops *ops;
    struct loop *loop;
};

void disk_init(struct disk *disk, struct loop *loop);

/* An error of an operation in words: also those that libuv has no name for (EDQUOT). */
const char *disk_error_text(int error);

#endif
