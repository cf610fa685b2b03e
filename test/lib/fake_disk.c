/*
 * fake_disk.c - passes each call to the real disk, unless it is to fail, and keeps its result until
 * the simulation delivers it.
 */
#include "fake_disk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

struct pending_op {
    struct list node;
    bool lazy;  /* ends when it is collected */
    bool local; /* as that of the disk */
    struct disk_op real;
    struct disk_op *op;
    enum fake_call call;
    int64_t result;
    char *names; /* of list() */
};

/* A copy of names as list() returns them. */
static char *copy_names(const char *names)
{
    const char *end = names;
    char *copy;
    while (*end)
        end += strlen(end) + 1;
    copy = xmalloc((size_t)(end - names) + 1);
    memcpy(copy, names, (size_t)(end - names) + 1);
    return copy;
}

static struct fake_disk *fake_of(struct disk *disk)
{
    return container_of(disk, struct fake_disk, disk);
}

static void on_real(struct disk_op *real, int64_t result)
{
    struct pending_op *e = container_of(real, struct pending_op, real);
    e->op->stat = real->stat;
    e->op->lock_holder = real->lock_holder;
    e->op->is_local = e->local && real->is_local;
    if (real->names)
        e->names = copy_names(real->names);
    e->result = result;
}

static int failure_of(struct fake_disk *fake, enum fake_call call)
{
    if (!fake->fail[call])
        return 0;
    if (fake->skip[call]) {
        fake->skip[call]--;
        return 0;
    }
    if (fake->times[call] && --fake->times[call] == 0) {
        int last = fake->fail[call];
        fake->fail[call] = 0;
        return last;
    }
    return fake->fail[call];
}

/* Records the call. NULL: it fails, and nothing else happens. */
static struct pending_op *begin_op(struct disk *disk, struct disk_op *op, enum fake_call call)
{
    struct fake_disk *fake = fake_of(disk);
    struct pending_op *e = NEW(struct pending_op);
    e->op = op;
    e->local = fake->local;
    e->call = call;
    e->real.done = on_real;
    if (fake->before_call)
        fake->before_call(fake, call);
    e->result = failure_of(fake, call);
    fake->calls[call]++;
    list_push(&fake->pending, &e->node);
    return e->result ? NULL : e;
}

#define REAL(disk) (&fake_of(disk)->real.disk)

static void fake_open(struct disk *disk, struct disk_op *op, const char *path, int flags, int mode)
{
    struct pending_op *e = begin_op(disk, op, FAKE_OPEN);
    if (e)
        REAL(disk)->ops->open(REAL(disk), &e->real, path, flags, mode);
}

/* The descriptor is closed even if the call fails, as on Linux. */
static void fake_close(struct disk *disk, struct disk_op *op, int fd)
{
    struct disk_op ignored = {.done = on_real};
    struct pending_op *e = begin_op(disk, op, FAKE_CLOSE);
    struct pending_op other = {.op = &ignored, .real.done = on_real};
    REAL(disk)->ops->close(REAL(disk), e ? &e->real : &other.real, fd);
}

static void fake_read(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                      int64_t at)
{
    struct pending_op *e = begin_op(disk, op, FAKE_READ);
    size_t max = fake_of(disk)->read_max;
    len = max && len > max ? max : len;
    if (!e)
        return;
    e->real.work = op->work;
    e->real.work_ctx = op->work_ctx;
    REAL(disk)->ops->read(REAL(disk), &e->real, fd, bytes, len, at);
}

static void fake_write(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len,
                       int64_t at)
{
    struct fake_disk *fake = fake_of(disk);
    struct pending_op *e = begin_op(disk, op, FAKE_WRITE);
    if (!e)
        return;
    if (!fake->space) {
        e->result = fake->space_error;
        return;
    }
    len = len < fake->space ? len : fake->space;
    fake->space -= len;
    REAL(disk)->ops->write(REAL(disk), &e->real, fd, bytes, len, at);
}

static struct pending_op *pending_of(struct disk *disk, const struct disk_op *op)
{
    list_for_each(node, &fake_of(disk)->pending)
        if (container_of(node, struct pending_op, node)->op == op)
            return container_of(node, struct pending_op, node);
    return NULL;
}

static void end_op(struct pending_op *e)
{
    list_remove(&e->node);
    e->op->names = e->names;
    e->op->done(e->op, e->result);
    free(e->names);
    free(e);
}

static void fake_append(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                        size_t len)
{
    fake_write(disk, op, fd, bytes, len, -1);
    pending_of(disk, op)->lazy = fake_of(disk)->lazy;
}

static void fake_collect(struct disk *disk, struct disk_op *op)
{
    struct pending_op *e = pending_of(disk, op);
    if (e->lazy && fake_of(disk)->lazy)
        end_op(e);
    else
        e->lazy = false;
}

static void fake_write_polled(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                              size_t len)
{
    fake_write(disk, op, fd, bytes, len, -1);
}

/* Cancels nothing, as a pool that already runs the operation. */
static void fake_cancel(struct disk *disk, struct disk_op *op)
{
    (void)disk;
    (void)op;
}

static void fake_sync(struct disk *disk, struct disk_op *op, int fd)
{
    struct pending_op *e = begin_op(disk, op, FAKE_SYNC);
    if (e)
        REAL(disk)->ops->sync(REAL(disk), &e->real, fd);
}

static void fake_rename(struct disk *disk, struct disk_op *op, const char *from, const char *to)
{
    struct pending_op *e = begin_op(disk, op, FAKE_RENAME);
    if (e)
        REAL(disk)->ops->rename(REAL(disk), &e->real, from, to);
}

static void fake_remove(struct disk *disk, struct disk_op *op, const char *path)
{
    struct pending_op *e = begin_op(disk, op, FAKE_REMOVE);
    if (e)
        REAL(disk)->ops->remove(REAL(disk), &e->real, path);
}

static void fake_truncate(struct disk *disk, struct disk_op *op, int fd, int64_t len)
{
    struct pending_op *e = begin_op(disk, op, FAKE_TRUNCATE);
    if (e)
        REAL(disk)->ops->truncate(REAL(disk), &e->real, fd, len);
}

static void fake_make_dir(struct disk *disk, struct disk_op *op, const char *path, int mode)
{
    struct pending_op *e = begin_op(disk, op, FAKE_MAKE_DIR);
    if (e)
        REAL(disk)->ops->make_dir(REAL(disk), &e->real, path, mode);
}

static void fake_list(struct disk *disk, struct disk_op *op, const char *path)
{
    struct pending_op *e = begin_op(disk, op, FAKE_LIST);
    if (e)
        REAL(disk)->ops->list(REAL(disk), &e->real, path);
}

static void fake_stat(struct disk *disk, struct disk_op *op, const char *path)
{
    struct pending_op *e = begin_op(disk, op, FAKE_STAT);
    if (e)
        REAL(disk)->ops->stat(REAL(disk), &e->real, path);
}

static void fake_fstat(struct disk *disk, struct disk_op *op, int fd)
{
    struct pending_op *e = begin_op(disk, op, FAKE_STAT);
    if (e)
        REAL(disk)->ops->fstat(REAL(disk), &e->real, fd);
}

static int64_t fake_links(struct disk *disk, int fd)
{
    struct fake_disk *fake = fake_of(disk);
    int failure = failure_of(fake, FAKE_STAT);
    if (fake->before_call)
        fake->before_call(fake, FAKE_STAT);
    fake->calls[FAKE_STAT]++;
    return failure ? failure : REAL(disk)->ops->links(REAL(disk), fd);
}

static void fake_lock(struct disk *disk, struct disk_op *op, int fd, const char *path,
                      bool exclusive)
{
    struct pending_op *e = begin_op(disk, op, FAKE_LOCK);
    if (e)
        REAL(disk)->ops->lock(REAL(disk), &e->real, fd, path, exclusive);
}

static const struct disk_ops fake_ops = {
    .open = fake_open,
    .close = fake_close,
    .read = fake_read,
    .write = fake_write,
    .append = fake_append,
    .collect = fake_collect,
    .write_polled = fake_write_polled,
    .cancel = fake_cancel,
    .sync = fake_sync,
    .rename = fake_rename,
    .remove = fake_remove,
    .truncate = fake_truncate,
    .make_dir = fake_make_dir,
    .list = fake_list,
    .stat = fake_stat,
    .fstat = fake_fstat,
    .links = fake_links,
    .lock = fake_lock,
};

static struct pending_op *next_to_end(struct fake_disk *fake)
{
    list_for_each(node, &fake->pending) {
        struct pending_op *e = container_of(node, struct pending_op, node);
        if (!fake->frozen && !e->lazy && e->op != fake->stuck && e->call != fake->stuck_all)
            return e;
    }
    return NULL;
}

static bool end_next_op(struct sim_io *io)
{
    struct pending_op *e = next_to_end(container_of(io, struct fake_disk, io));
    if (!e)
        return false;
    end_op(e);
    return true;
}

void fake_disk_init(struct fake_disk *disk, struct sim *sim)
{
    *disk = (struct fake_disk){.disk.ops = &fake_ops,
                               .space = (size_t)-1,
                               .space_error = -ENOSPC,
                               .stuck_all = FAKE_CALLS};
    loop_disk_init(&disk->real, NULL);
    list_init(&disk->pending);
    sim_io_add(sim, &disk->io, end_next_op);
}

void fake_disk_done(struct fake_disk *disk)
{
    assert(list_empty(&disk->pending));
    sim_io_remove(&disk->io);
}
