/*
 * durable.c - the steps in the order of enum durable_step; each end starts the next one.
 *
 * The first failure is kept, the open descriptor is closed, and done() gets the error. The
 * temporary file may remain; the next write replaces it.
 */
#include "daemon/journal/durable.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

static void begin_step(struct durable *d)
{
    const struct disk_ops *ops = d->disk->ops;
    switch (d->step) {
    case DURABLE_OPEN:
        ops->open(d->disk, &d->op, d->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                  d->mode);
        break;
    case DURABLE_WRITE:
        ops->write(d->disk, &d->op, d->fd, d->bytes + d->written, d->len - d->written, -1);
        break;
    case DURABLE_SYNC:
    case DURABLE_SYNC_DIR: ops->sync(d->disk, &d->op, d->fd); break;
    case DURABLE_CLOSE:
    case DURABLE_CLOSE_DIR: ops->close(d->disk, &d->op, d->fd); break;
    case DURABLE_RENAME: ops->rename(d->disk, &d->op, d->temp, d->path); break;
    case DURABLE_OPEN_DIR:
        ops->open(d->disk, &d->op, d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        break;
    case DURABLE_DONE:
        free(d->dir);
        free(d->path);
        free(d->temp);
        d->done(d, d->error);
        break;
    }
}

static void on_step(struct disk_op *op, int64_t result)
{
    struct durable *d = container_of(op, struct durable, op);
    bool repeat = false;
    switch (d->step) {
    case DURABLE_OPEN:
    case DURABLE_OPEN_DIR: d->fd = result < 0 ? -1 : (int)result; break;
    case DURABLE_CLOSE:
    case DURABLE_CLOSE_DIR: d->fd = -1; break; /* also if it failed */
    case DURABLE_WRITE:
        if (result == 0)
            result = -EIO; /* UNTESTED: no file system writes nothing and reports success */
        d->written += result < 0 ? 0 : (size_t)result;
        repeat = d->written < d->len;
        break;
    case DURABLE_SYNC:
    case DURABLE_RENAME:
    case DURABLE_SYNC_DIR:
    case DURABLE_DONE: break;
    }
    if (result < 0) {
        d->error = d->error ? d->error : (int)result;
        d->step = d->fd >= 0 ? DURABLE_CLOSE_DIR : DURABLE_DONE; /* closes either descriptor */
    } else if (!repeat) {
        d->step++;
    }
    begin_step(d);
}

void durable_write(struct durable *durable, struct disk *disk, const char *dir, const char *name,
                   int mode, struct str bytes, void (*done)(struct durable *durable, int error))
{
    assert(bytes.len <= DURABLE_MAX);
    *durable = (struct durable){
        .disk = disk, .op.done = on_step, .mode = mode, .len = bytes.len, .fd = -1, .done = done};
    memcpy(durable->bytes, bytes.at, bytes.len);
    durable->dir = xstrdup(dir);
    durable->path = xasprintf("%s/%s", dir, name);
    durable->temp = xasprintf("%s/%s.new", dir, name);
    begin_step(durable);
}
