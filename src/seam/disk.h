/*
 * disk.h - the seam for files: asynchronous operations.
 *
 * loop/disk.c uses the real file system; tests use a disk that fails, fills up or hangs
 * (test/lib/fake_disk.h).
 *
 * Rules for implementations and users of a disk:
 *   1. A user embeds a disk_op and has at most one operation in flight with it.
 *   2. Each operation ends with one call of done(), which gets what the system call returned, or a
 *      negative errno value. done() may start the next operation or free the disk_op.
 *   3. Paths are copied; bytes are borrowed until done().
 *   4. No operation waits for a device on the loop.
 */
#ifndef SEAM_DISK_H
#define SEAM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct disk;

struct disk_stat {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    uint64_t links; /* hard links; 0: removed */
    bool regular;
};

struct disk_op {
    void (*done)(struct disk_op *op, int64_t result);
    struct disk_stat stat; /* result of stat() and fstat() */
    pid_t lock_holder;     /* result of lock(), if it fails with -EBUSY; 0: unknown */
    bool is_local;         /* result of lock(): links() may be used */
    void *request;         /* used by the implementation while the operation is in flight */

    /* Of read(), or NULL: called with @work_ctx and the number of bytes that were read, before done(), and on
     * the pool. It uses only memory that the user does not change meanwhile. */
    void (*work)(void *ctx, size_t len);
    void *work_ctx;

    /* Result of list(): names, each with a NUL, then an empty one; valid until done() returns. */
    const char *names;
};

struct disk_ops {
    void (*open)(struct disk *disk, struct disk_op *op, const char *path, int flags, int mode);
    void (*close)(struct disk *disk, struct disk_op *op, int fd);
    void (*read)(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                 int64_t at);
    void (*write)(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len,
                  int64_t at); /* @at below 0: at the file offset, or at the end (O_APPEND) */

    /*
     * Writes at the end of a regular file that is open with O_APPEND, for users that write often: done()
     * may be called some 20 ms after the write has ended.
     */
    void (*append)(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len);

    /* The user waits for the end of an append(): done() is called before this returns if it has ended,
     * and otherwise as soon as it ends. */
    void (*collect)(struct disk *disk, struct disk_op *op);

    /*
     * For FIFOs and terminals: polls @fd on the loop until it is writable, and writes what it
     * accepts. Occupies no thread of the pool. @fd must be open with O_NONBLOCK. A device that
     * can't be polled is written on the pool.
     */
    void (*write_polled)(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                         size_t len);

    /*
     * Cancels a write that has not started: done() gets -ECANCELED, before this returns if it was
     * polled. A write that the kernel is executing can't be cancelled; its end is awaited as with
     * collect().
     */
    void (*cancel)(struct disk *disk, struct disk_op *op);
    void (*sync)(struct disk *disk, struct disk_op *op, int fd);
    void (*rename)(struct disk *disk, struct disk_op *op, const char *from, const char *to);
    void (*remove)(struct disk *disk, struct disk_op *op, const char *path);
    void (*truncate)(struct disk *disk, struct disk_op *op, int fd, int64_t len);
    void (*make_dir)(struct disk *disk, struct disk_op *op, const char *path, int mode);
    void (*list)(struct disk *disk, struct disk_op *op, const char *path); /* without . and .. */
    void (*stat)(struct disk *disk, struct disk_op *op, const char *path);
    void (*fstat)(struct disk *disk, struct disk_op *op, int fd);

    /* The number of names of a file for which lock() has returned `is_local`, or a negative errno value.
     * Answered at once, from the inode that the kernel has in memory. */
    int64_t (*links)(struct disk *disk, int fd);

    /* Locks @fd, which is open at @path, exclusively or shared. done() gets 0, also on file
     * systems where locking might block and is skipped, or -EBUSY if another open file has the
     * lock. */
    void (*lock)(struct disk *disk, struct disk_op *op, int fd, const char *path, bool exclusive);
};

/* The first member of every disk. */
struct disk {
    const struct disk_ops *ops;
};

#endif
