/*
 * disk.h - asynchronous file operations, behind an interface that tests replace with a disk that
 * fails.
 *
 * A user embeds a disk_op and has at most one operation in flight with it. done() gets what the
 * system call returned, or a negative libuv error.
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
    uint64_t links; /* hard links; 0: removed */
    bool regular;
};

struct disk_op {
    void (*done)(struct disk_op *op, int64_t result);
    struct disk_file file; /* result of look() and look_at() */
    int lock_fd;           /* argument of lock() */
    bool lock_exclusive;
    pid_t lock_holder; /* result of lock(), if it fails with UV_EBUSY; 0: unknown */
    uv_fs_t request;
    struct polled_write *polled; /* the write_polled() in flight; else NULL */
};

/* Paths are copied; bytes are borrowed until done(). */
struct disk_ops {
    void (*open)(struct disk *disk, struct disk_op *op, const char *path, int flags, int mode);
    void (*close)(struct disk *disk, struct disk_op *op, int fd);
    void (*read)(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                 int64_t at);
    void (*write)(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len,
                  int64_t at); /* @at below 0: at the file offset, or at the end (O_APPEND) */

    /*
     * For FIFOs and terminals: polls @fd on the loop until it is writable, and writes what it
     * accepts. Occupies no thread of the pool. @fd must be open with O_NONBLOCK. A device that
     * can't be polled is written on the pool.
     */
    void (*write_polled)(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                         size_t len);

    /*
     * Cancels a write that has not started: done() gets UV_ECANCELED, before this returns if it was
     * polled. A write that the kernel is executing can't be cancelled.
     */
    void (*cancel)(struct disk *disk, struct disk_op *op);
    void (*sync)(struct disk *disk, struct disk_op *op, int fd);
    void (*rename)(struct disk *disk, struct disk_op *op, const char *from, const char *to);
    void (*remove)(struct disk *disk, struct disk_op *op, const char *path);
    /* stat(2) and fstat(2): the result is in `file` of the operation. */
    void (*look)(struct disk *disk, struct disk_op *op, const char *path);
    void (*look_at)(struct disk *disk, struct disk_op *op, int fd);

    /* Locks @fd, which is open at @path, exclusively or shared. done() gets 0, also on file
     * systems where locking might block and is skipped, or UV_EBUSY if another open file has the
     * lock. */
    void (*lock)(struct disk *disk, struct disk_op *op, int fd, const char *path, bool exclusive);
};

/* disk_init() selects the real file system: operations run on libuv's pool, done() is called
 * from the loop. Without a loop each operation blocks and done() is called before it returns:
 * for small files at startup. */
struct disk {
    const struct disk_ops *ops;
    struct loop *loop;
};

void disk_init(struct disk *disk, struct loop *loop);

/* Message of an error of an operation, including those that libuv has no name for (EDQUOT). */
const char *disk_error_text(int error);

#endif
