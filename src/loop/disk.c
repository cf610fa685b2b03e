/*
 * disk.c - file operations with libuv: on its pool, or without a loop before the call returns. Appends use
 * io_uring if it is available (loop/disk_append.h).
 *
 * Normal path: each operation allocates a request, starts it, and ends in on_done(), which frees the
 * request and calls done(). FIFOs and terminals are polled by the loop. A lock needs the type of the
 * file system, which is read on the pool; then the file is locked on the loop. An operation that
 * libuv can't start ends with its error at once.
 */
#include "loop/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "loop/disk_append.h"
#include "loop/disk_lock.h"
#include "loop/disk_read.h"

/* An operation in flight. */
struct disk_request {
    union {
        uv_fs_t fs;     /* on the pool */
        uv_poll_t poll; /* write_polled(); loop_discard() frees the request with it */
    };
    bool polled;
    struct loop *loop; /* NULL: synchronous */
    struct disk_op *op;
    int fd;              /* lock(), write_polled() */
    bool lock_exclusive; /* lock() */
    const char *bytes;   /* write_polled(): borrowed */
    size_t len;
};

/* The names that scandir(3) found. libuv frees its own list when the last one was read. */
static void put_names(struct buf *names, uv_fs_t *fs)
{
    uv_dirent_t entry;
    while (uv_fs_scandir_next(fs, &entry) != UV_EOF)
        buf_put(names, entry.name, strlen(entry.name) + 1);
    buf_putc(names, '\0');
}

static void on_done(uv_fs_t *fs)
{
    struct disk_request *r = container_of(fs, struct disk_request, fs);
    struct buf names = {0};
    struct disk_op *op = r->op;
    int64_t result = fs->result;
    if (r->loop)
        loop_busy(r->loop);
    if (result >= 0 && (fs->fs_type == UV_FS_STAT || fs->fs_type == UV_FS_FSTAT))
        op->stat = (struct disk_stat){
            .device = fs->statbuf.st_dev,
            .inode = fs->statbuf.st_ino,
            .size = fs->statbuf.st_size,
            .links = fs->statbuf.st_nlink,
            .regular = (fs->statbuf.st_mode & S_IFMT) == S_IFREG,
        };
    if (fs->fs_type == UV_FS_STATFS) { /* of lock() */
        const uv_statfs_t *found = fs->ptr;
        op->is_local = result >= 0 && disk_lock_is_local(found->f_type);
        op->lock_holder = 0;
        result = op->is_local ? disk_lock_take(r->fd, r->lock_exclusive, &op->lock_holder) : 0;
    }
    if (result >= 0 && fs->fs_type == UV_FS_SCANDIR) {
        put_names(&names, fs);
        op->names = names.bytes;
    }
    uv_fs_req_cleanup(fs);
    op->request = NULL;
    free(r);
    op->done(op, result);
    buf_free(&names);
}

static struct disk_request *request_make(struct disk *disk, struct disk_op *op)
{
    struct disk_request *r = NEW(struct disk_request);
    r->loop = container_of(disk, struct loop_disk, disk)->loop;
    r->op = op;
    op->request = r;
    return r;
}

/* Calls uv_fs_@CALL for @R. libuv does not call back if the operation ran synchronously or could
 * not be started. */
#define START(R, CALL, ...)                                                          \
    do {                                                                             \
        struct disk_request *r_ = (R);                                               \
        int rc_ = uv_fs_##CALL(r_->loop ? r_->loop->uv : NULL, &r_->fs, __VA_ARGS__, \
                               r_->loop ? on_done : NULL);                           \
        if (!r_->loop || rc_ < 0)                                                    \
            on_done(&r_->fs);                                                        \
    } while (0)

static void disk_open(struct disk *disk, struct disk_op *op, const char *path, int flags, int mode)
{
    START(request_make(disk, op), open, path, flags, mode);
}

static void disk_close(struct disk *disk, struct disk_op *op, int fd)
{
    START(request_make(disk, op), close, fd);
}

static void disk_read(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                      int64_t at)
{
    uv_buf_t piece = {.base = bytes, .len = len};
    if (op->work) {
        disk_read_and_work(container_of(disk, struct loop_disk, disk)->loop, op, fd, bytes, len,
                           at);
        return;
    }
    START(request_make(disk, op), read, fd, &piece, 1, at);
}

static void disk_write(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len,
                       int64_t at)
{
    uv_buf_t piece = {.base = (char *)(uintptr_t)bytes, .len = len}; /* libuv only reads it */
    START(request_make(disk, op), write, fd, &piece, 1, at);
}

static struct loop_disk *loop_disk_of(struct disk *disk)
{
    return container_of(disk, struct loop_disk, disk);
}

/* io_uring is set up by the first append: programs that write no files don't need it. */
static void disk_append(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                        size_t len)
{
    struct loop_disk *d = loop_disk_of(disk);
    if (d->loop && !d->has_tried_ring)
        d->appends = disk_appends_new(d->loop, disk);
    d->has_tried_ring = true;
    if (!d->appends || !disk_appends_start(d->appends, op, fd, bytes, len))
        disk_write(disk, op, fd, bytes, len, -1);
}

/* done() of an append on the pool is called as soon as it ends in any case. */
static void disk_collect(struct disk *disk, struct disk_op *op)
{
    struct loop_disk *d = loop_disk_of(disk);
    if (d->appends)
        disk_appends_collect(d->appends, op);
}

static void disk_sync(struct disk *disk, struct disk_op *op, int fd)
{
    START(request_make(disk, op), fsync, fd);
}

static void disk_rename(struct disk *disk, struct disk_op *op, const char *from, const char *to)
{
    START(request_make(disk, op), rename, from, to);
}

static void disk_remove(struct disk *disk, struct disk_op *op, const char *path)
{
    START(request_make(disk, op), unlink, path);
}

static void disk_truncate(struct disk *disk, struct disk_op *op, int fd, int64_t len)
{
    START(request_make(disk, op), ftruncate, fd, len);
}

static void disk_make_dir(struct disk *disk, struct disk_op *op, const char *path, int mode)
{
    START(request_make(disk, op), mkdir, path, mode);
}

static void disk_list(struct disk *disk, struct disk_op *op, const char *path)
{
    START(request_make(disk, op), scandir, path, 0);
}

static void disk_stat(struct disk *disk, struct disk_op *op, const char *path)
{
    START(request_make(disk, op), stat, path);
}

static void disk_fstat(struct disk *disk, struct disk_op *op, int fd)
{
    START(request_make(disk, op), fstat, fd);
}

/* AT_STATX_DONT_SYNC: no request to a server or a user-space file system below a stacked one. */
static int64_t disk_links(struct disk *disk, int fd)
{
    struct statx found;
    (void)disk;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK, &found) < 0)
        return -errno;
    return found.stx_nlink;
}

/* statfs(2) may take long and therefore runs on the pool. */
static void disk_lock(struct disk *disk, struct disk_op *op, int fd, const char *path,
                      bool exclusive)
{
    struct disk_request *r = request_make(disk, op);
    r->fd = fd;
    r->lock_exclusive = exclusive;
    START(r, statfs, path);
}

/* ---- FIFOs and terminals ---- */

/* The request stays until libuv has closed its handle, which is after done(). */
static void end_polled(struct disk_request *r, int64_t result)
{
    struct disk_op *op = r->op;
    op->request = NULL;
    loop_discard(r->loop, (uv_handle_t *)&r->poll);
    op->done(op, result);
}

/* An error of polling (no reader) is returned by write(2) again. */
static void on_writable(uv_poll_t *handle, int status, int events)
{
    struct disk_request *r = container_of(handle, struct disk_request, poll);
    ssize_t n;
    (void)events;
    loop_busy(r->loop);
    n = write(r->fd, r->bytes, r->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR) && status == 0)
        return; /* another process has filled it */
    end_polled(r, n < 0 ? -errno : n);
}

static void disk_write_polled(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                              size_t len)
{
    struct disk_request *r = request_make(disk, op);
    if (!r->loop || uv_poll_init(r->loop->uv, &r->poll, fd) < 0) {
        free(r);
        disk_write(disk, op, fd, bytes, len, -1);
        return;
    }
    r->polled = true;
    r->fd = fd;
    r->bytes = bytes;
    r->len = len;
    uv_poll_start(&r->poll, UV_WRITABLE, on_writable);
}

static void disk_cancel(struct disk *disk, struct disk_op *op)
{
    struct loop_disk *d = loop_disk_of(disk);
    struct disk_request *r = op->request;
    if (d->appends && disk_appends_collect(d->appends, op))
        return;
    if (r->polled)
        end_polled(r, -ECANCELED);
    else
        uv_cancel((uv_req_t *)&r->fs);
}

static const struct disk_ops ops = {
    .open = disk_open,
    .close = disk_close,
    .read = disk_read,
    .write = disk_write,
    .append = disk_append,
    .collect = disk_collect,
    .write_polled = disk_write_polled,
    .cancel = disk_cancel,
    .sync = disk_sync,
    .rename = disk_rename,
    .remove = disk_remove,
    .truncate = disk_truncate,
    .make_dir = disk_make_dir,
    .list = disk_list,
    .stat = disk_stat,
    .fstat = disk_fstat,
    .links = disk_links,
    .lock = disk_lock,
};

void loop_disk_init(struct loop_disk *disk, struct loop *loop)
{
    *disk = (struct loop_disk){.disk.ops = &ops, .loop = loop};
}

void loop_disk_close(struct loop_disk *disk)
{
    if (disk->appends)
        disk_appends_close(disk->appends);
    disk->appends = NULL;
}
