#include "fake_disk.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

struct ending {
    struct list node;
    struct disk_op real;
    struct disk_op *op;
    enum fake_call call;
    int64_t result;
};

static struct fake_disk *fake_of(struct disk *disk)
{
    return container_of(disk, struct fake_disk, disk);
}

static void on_real(struct disk_op *real, int64_t result)
{
    struct ending *e = container_of(real, struct ending, real);
    e->op->file = real->file;
    e->op->lock_holder = real->lock_holder;
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

/* Notes that @op was called. NULL: it fails, and that is all. */
static struct ending *begin(struct disk *disk, struct disk_op *op, enum fake_call call)
{
    struct fake_disk *fake = fake_of(disk);
    struct ending *e = NEW(struct ending);
    e->op = op;
    e->call = call;
    e->real.done = on_real;
    if (fake->before_call)
        fake->before_call(fake, call);
    e->result = failure_of(fake, call);
    fake->calls[call]++;
    list_push(&fake->told_later, &e->node);
    return e->result ? NULL : e;
}

#define REAL(disk) (&fake_of(disk)->real)

static void fake_open(struct disk *disk, struct disk_op *op, const char *path, int flags, int mode)
{
    struct ending *e = begin(disk, op, FAKE_OPEN);
    if (e)
        REAL(disk)->ops->open(REAL(disk), &e->real, path, flags, mode);
}

/* What can't be closed is gone all the same. */
static void fake_close(struct disk *disk, struct disk_op *op, int fd)
{
    struct disk_op ignored = {.done = on_real};
    struct ending *e = begin(disk, op, FAKE_CLOSE);
    struct ending other = {.op = &ignored, .real.done = on_real};
    REAL(disk)->ops->close(REAL(disk), e ? &e->real : &other.real, fd);
}

static void fake_read(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                      int64_t at)
{
    struct ending *e = begin(disk, op, FAKE_READ);
    size_t max = fake_of(disk)->read_max;
    len = max && len > max ? max : len;
    if (e)
        REAL(disk)->ops->read(REAL(disk), &e->real, fd, bytes, len, at);
}

static void fake_write(struct disk *disk, struct disk_op *op, int fd, const char *bytes, size_t len,
                       int64_t at)
{
    struct fake_disk *fake = fake_of(disk);
    struct ending *e = begin(disk, op, FAKE_WRITE);
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

static void fake_write_polled(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                              size_t len)
{
    fake_write(disk, op, fd, bytes, len, -1);
}

/* What is under way can't be ended, as on a pool that is busy with it. */
static void fake_cancel(struct disk *disk, struct disk_op *op)
{
    (void)disk;
    (void)op;
}

static void fake_sync(struct disk *disk, struct disk_op *op, int fd)
{
    struct ending *e = begin(disk, op, FAKE_SYNC);
    if (e)
        REAL(disk)->ops->sync(REAL(disk), &e->real, fd);
}

static void fake_rename(struct disk *disk, struct disk_op *op, const char *from, const char *to)
{
    struct ending *e = begin(disk, op, FAKE_RENAME);
    if (e)
        REAL(disk)->ops->rename(REAL(disk), &e->real, from, to);
}

static void fake_remove(struct disk *disk, struct disk_op *op, const char *path)
{
    struct ending *e = begin(disk, op, FAKE_REMOVE);
    if (e)
        REAL(disk)->ops->remove(REAL(disk), &e->real, path);
}

static void fake_look(struct disk *disk, struct disk_op *op, const char *path)
{
    struct ending *e = begin(disk, op, FAKE_LOOK);
    if (e)
        REAL(disk)->ops->look(REAL(disk), &e->real, path);
}

static void fake_look_at(struct disk *disk, struct disk_op *op, int fd)
{
    struct ending *e = begin(disk, op, FAKE_LOOK);
    if (e)
        REAL(disk)->ops->look_at(REAL(disk), &e->real, fd);
}

static void fake_lock(struct disk *disk, struct disk_op *op, int fd, const char *path,
                      bool exclusive)
{
    struct ending *e = begin(disk, op, FAKE_LOCK);
    if (e)
        REAL(disk)->ops->lock(REAL(disk), &e->real, fd, path, exclusive);
}

static const struct disk_ops fake_ops = {
    .open = fake_open,
    .close = fake_close,
    .read = fake_read,
    .write = fake_write,
    .write_polled = fake_write_polled,
    .cancel = fake_cancel,
    .sync = fake_sync,
    .rename = fake_rename,
    .remove = fake_remove,
    .look = fake_look,
    .look_at = fake_look_at,
    .lock = fake_lock,
};

static struct ending *next_to_tell(struct fake_disk *fake)
{
    list_for_each(node, &fake->told_later) {
        struct ending *e = container_of(node, struct ending, node);
        if (!fake->frozen && e->op != fake->stuck && e->call != fake->stuck_all)
            return e;
    }
    return NULL;
}

static bool tell(struct sim_io *io)
{
    struct ending *e = next_to_tell(container_of(io, struct fake_disk, io));
    if (!e)
        return false;
    list_remove(&e->node);
    e->op->done(e->op, e->result);
    free(e);
    return true;
}

void fake_disk_init(struct fake_disk *disk, struct sim *sim)
{
    *disk = (struct fake_disk){.disk.ops = &fake_ops,
                               .space = (size_t)-1,
                               .space_error = UV_ENOSPC,
                               .stuck_all = FAKE_CALLS};
    disk_init(&disk->real, NULL);
    list_init(&disk->told_later);
    sim_io_add(sim, &disk->io, tell);
}

void fake_disk_done(struct fake_disk *disk)
{
    assert(list_empty(&disk->told_later));
    sim_io_remove(&disk->io);
}
