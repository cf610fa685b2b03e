/*
 * disk.c - file operations with libuv: on its pool, or without a loop before the call returns.
 *
 * FIFOs and terminals are polled by the loop. disk_lock() looks up the type of the file system on
 * the pool, then locks on the loop. An operation that libuv can't start ends with its error at
 * once.
 */
#include "daemon/journal/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/journal/disk_lock.h"

/* After statfs(2), which may take long and therefore ran on the pool. */
static int64_t lock_if_local(struct disk_op *op, int64_t result, const uv_statfs_t *found)
{
    op->lock_holder = 0;
    if (result < 0 || !disk_lock_is_local(found->f_type))
        return 0;
    return disk_lock_take(op->lock_fd, op->lock_exclusive, &op->lock_holder);
}

static void on_done(uv_fs_t *request)
{
    struct disk_op *op = container_of(request, struct disk_op, request);
    int64_t result = request->result;
    if (request->data)
        loop_busy(request->data);
    if (result >= 0 && (request->fs_type == UV_FS_STAT || request->fs_type == UV_FS_FSTAT))
        op->file = (struct disk_file){
            .device = request->statbuf.st_dev,
            .inode = request->statbuf.st_ino,
            .size = request->statbuf.st_size,
            .links = request->statbuf.st_nlink,
            .regular = (request->statbuf.st_mode & S_IFMT) == S_IFREG,
        };
    if (request->fs_type == UV_FS_STATFS)
        result = lock_if_local(op, result, request->ptr);
    uv_fs_req_cleanup(request);
    op->done(op, result);
}

/* libuv does not call back if the operation ran synchronously or could not be started. */
static void end_if_synchronous(struct disk *disk, struct disk_op *op, int started)
{
    op->request.data = disk->loop;
    if (!disk->loop || started < 0)
        on_done(&op->request);
}

static uv_fs_cb callback_for(const struct disk *disk)
{
    return disk->loop ? on_done : NULL;
}

static uv_loop_t *uv_of(const struct disk *disk)
{
    return disk->loop ? disk->loop->uv : NULL;
}

static void disk_open(struct disk *disk, struct disk_op *op, const char *path, int flags, int mode)
{
    end_if_synchronous(
        disk, op, uv_fs_open(uv_of(disk), &op->request, path, flags, mode, callback_for(disk)));
}

static void disk_close(struct disk *disk, struct disk_op *op, int fd)
{
    end_if_synchronous(disk, op, uv_fs_close(uv_of(disk), &op->request, fd, callback_for(disk)));
}

static void disk_read(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                      int64_t at)
{
    uv_buf_t piece = {.base = bytes, .len = len};
    end_if_synchronous(
        disk, op, uv_fs_read(uv_of(disk), &op->request, fd, &piece, 1, at, callback_for(disk)));
}

static void disk_write(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len,
                       int64_t at)
{
    uv_buf_t piece = {.base = (char *)(uintptr_t)bytes, .len = len}; /* libuv only reads it */
    end_if_synchronous(
        disk, op, uv_fs_write(uv_of(disk), &op->request, fd, &piece, 1, at, callback_for(disk)));
}

/* ---- FIFOs and terminals ---- */

/* Allocated separately: libuv needs the handle until it is closed, which is after the end of the
 * operation. */
struct polled_write {
    uv_poll_t handle; /* first: loop_discard() frees it */
    struct loop *loop;
    struct disk_op *op;
    int fd;
    const char *bytes; /* lent */
    size_t len;
};

static void end_polled(struct polled_write *w, int64_t result)
{
    struct disk_op *op = w->op;
    op->polled = NULL;
    loop_discard(w->loop, (uv_handle_t *)&w->handle);
    op->done(op, result);
}

/* An error of polling (no reader) is returned by write(2) again. */
static void on_writable(uv_poll_t *handle, int status, int events)
{
    struct polled_write *w = container_of(handle, struct polled_write, handle);
    ssize_t n;
    (void)events;
    loop_busy(w->loop);
    n = write(w->fd, w->bytes, w->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR) && status == 0)
        return; /* another process has filled it */
    end_polled(w, n < 0 ? -errno : n);
}

static void disk_write_polled(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                              size_t len)
{
    struct polled_write *w = disk->loop ? NEW(struct polled_write) : NULL;
    if (!w || uv_poll_init(disk->loop->uv, &w->handle, fd) < 0) {
        free(w);
        disk_write(disk, op, fd, bytes, len, -1);
        return;
    }
    w->loop = disk->loop;
    w->op = op;
    w->fd = fd;
    w->bytes = bytes;
    w->len = len;
    op->polled = w;
    uv_poll_start(&w->handle, UV_WRITABLE, on_writable);
}

static void disk_cancel(struct disk *disk, struct disk_op *op)
{
    (void)disk;
    if (op->polled)
        end_polled(op->polled, UV_ECANCELED);
    else
        uv_cancel((uv_req_t *)&op->request);
}

static void disk_sync(struct disk *disk, struct disk_op *op, int fd)
{
    end_if_synchronous(disk, op, uv_fs_fsync(uv_of(disk), &op->request, fd, callback_for(disk)));
}

static void disk_rename(struct disk *disk, struct disk_op *op, const char *from, const char *to)
{
    end_if_synchronous(disk, op,
                       uv_fs_rename(uv_of(disk), &op->request, from, to, callback_for(disk)));
}

static void disk_remove(struct disk *disk, struct disk_op *op, const char *path)
{
    end_if_synchronous(disk, op, uv_fs_unlink(uv_of(disk), &op->request, path, callback_for(disk)));
}

static void disk_look(struct disk *disk, struct disk_op *op, const char *path)
{
    end_if_synchronous(disk, op, uv_fs_stat(uv_of(disk), &op->request, path, callback_for(disk)));
}

static void disk_look_at(struct disk *disk, struct disk_op *op, int fd)
{
    end_if_synchronous(disk, op, uv_fs_fstat(uv_of(disk), &op->request, fd, callback_for(disk)));
}

static void disk_lock(struct disk *disk, struct disk_op *op, int fd, const char *path,
                      bool exclusive)
{
    op->lock_fd = fd;
    op->lock_exclusive = exclusive;
    end_if_synchronous(disk, op, uv_fs_statfs(uv_of(disk), &op->request, path, callback_for(disk)));
}

static const struct disk_ops ops = {
    .open = disk_open,
    .close = disk_close,
    .read = disk_read,
    .write = disk_write,
    .write_polled = disk_write_polled,
    .cancel = disk_cancel,
    .sync = disk_sync,
    .rename = disk_rename,
    .remove = disk_remove,
    .look = disk_look,
    .look_at = disk_look_at,
    .lock = disk_lock,
};

void disk_init(struct disk *disk, struct loop *loop)
{
    *disk = (struct disk){.ops = &ops, .loop = loop};
}

/* On all supported systems, libuv's errors are negated errno values. */
const char *disk_error_text(int error)
{
    return strerror(-error);
}
