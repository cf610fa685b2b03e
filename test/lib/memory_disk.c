/*
 * memory_disk.c - files in memory, and what a power loss leaves of them.
 */
#include "memory_disk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

enum {
    BLOCK = 512,
    FD_BASE = 100,
    DIR_FD = 99,
};

struct memory_file {
    struct list node;
    int fd; /* -1: not open */
    char name[64];
    bool exists;         /* in the directory */
    bool exists_durably; /* in the directory after a power loss */
    struct buf bytes;
    struct buf synced; /* what remains after a power loss */
};

struct memory_op {
    struct list node;
    struct disk_op *op;
    enum memory_call call;
    int64_t result;
    struct buf names;
    struct memory_file *written; /* write: the file, ... */
    size_t from, len;            /* ... and the bytes */
};

static struct memory_disk *disk_of(struct disk *disk)
{
    return container_of(disk, struct memory_disk, disk);
}

/* ---- files ---- */

static struct memory_file *file_named(struct memory_disk *disk, const char *name)
{
    list_for_each(node, &disk->files) {
        struct memory_file *file = container_of(node, struct memory_file, node);
        if (file->exists && strcmp(file->name, name) == 0)
            return file;
    }
    return NULL;
}

static struct memory_file *file_of_fd(struct memory_disk *disk, int fd)
{
    list_for_each(node, &disk->files) {
        struct memory_file *file = container_of(node, struct memory_file, node);
        if (file->fd == fd)
            return file;
    }
    assert(false && "an open file");
    return NULL;
}

static struct memory_file *file_make(struct memory_disk *disk, const char *name)
{
    struct memory_file *file = NEW(struct memory_file);
    snprintf(file->name, sizeof(file->name), "%s", name);
    file->fd = -1;
    file->exists = true;
    list_push(&disk->files, &file->node);
    return file;
}

static void file_free(struct memory_file *file)
{
    list_remove(&file->node);
    buf_free(&file->bytes);
    buf_free(&file->synced);
    free(file);
}

static void set_bytes(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_put(to, from->bytes, from->len);
}

/* Bytes after the end become zero. */
static void set_len(struct buf *bytes, size_t len)
{
    while (bytes->len < len)
        buf_putc(bytes, '\0');
    bytes->len = len;
}

static void write_bytes(struct buf *to, const char *bytes, size_t len, size_t at)
{
    if (to->len < at + len)
        set_len(to, at + len);
    memcpy(to->bytes + at, bytes, len);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- operations ---- */

/* Records the call. NULL: it fails. */
static struct memory_op *begin_op(struct disk *disk, struct disk_op *op, enum memory_call call)
{
    struct memory_disk *d = disk_of(disk);
    struct memory_op *e = NEW(struct memory_op);
    e->op = op;
    e->call = call;
    e->result = d->fail[call];
    d->calls[call]++;
    list_push(&d->pending, &e->node);
    return e->result ? NULL : e;
}

static void memory_open(struct disk *disk, struct disk_op *op, const char *path, int flags,
                        int mode)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_OPEN);
    struct memory_file *file = file_named(disk_of(disk), name_of(path));
    (void)mode;
    if (!e)
        return;
    if (flags & O_DIRECTORY) {
        e->result = DIR_FD;
        disk_of(disk)->open_files++;
        return;
    }
    if (!file && !(flags & O_CREAT)) {
        e->result = -ENOENT;
        return;
    }
    if (!file)
        file = file_make(disk_of(disk), name_of(path));
    assert(file->fd < 0);
    if (flags & O_TRUNC)
        buf_clear(&file->bytes);
    for (file->fd = FD_BASE;; file->fd++) {
        bool used = false;
        list_for_each(node, &disk_of(disk)->files) {
            struct memory_file *other = container_of(node, struct memory_file, node);
            used |= other != file && other->fd == file->fd;
        }
        if (!used)
            break;
    }
    disk_of(disk)->open_files++;
    e->result = file->fd;
}

static void memory_close(struct disk *disk, struct disk_op *op, int fd)
{
    struct memory_file *file;
    begin_op(disk, op, MEMORY_CLOSE);
    disk_of(disk)->open_files--;
    if (fd == DIR_FD)
        return;
    file = file_of_fd(disk_of(disk), fd);
    file->fd = -1;
    if (!file->exists && !file->exists_durably)
        file_free(file);
}

static void memory_read(struct disk *disk, struct disk_op *op, int fd, char *bytes, size_t len,
                        int64_t at)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_READ);
    struct memory_file *file = file_of_fd(disk_of(disk), fd);
    size_t max = disk_of(disk)->read_max, from = (size_t)at;
    if (!e || from >= file->bytes.len)
        return;
    if (len > file->bytes.len - from)
        len = file->bytes.len - from;
    len = max && len > max ? max : len;
    memcpy(bytes, file->bytes.bytes + from, len);
    e->result = (int64_t)len;
    if (op->work && len)
        op->work(op->work_ctx, len);
}

static void memory_write(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                         size_t len, int64_t at)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_WRITE);
    struct memory_disk *d = disk_of(disk);
    struct memory_file *file = file_of_fd(d, fd);
    if (!e)
        return;
    if (len && !d->space) {
        e->result = -ENOSPC;
        return;
    }
    len = len < d->space ? len : (size_t)d->space;
    d->space -= len;
    e->written = file;
    e->from = (size_t)at;
    e->len = len;
    write_bytes(&file->bytes, bytes, len, e->from);
    e->result = (int64_t)len;
}

static void memory_append(struct disk *disk, struct disk_op *op, int fd, const char *bytes,
                          size_t len)
{
    memory_write(disk, op, fd, bytes, len, (int64_t)file_of_fd(disk_of(disk), fd)->bytes.len);
}

/* It ends in a later tick in any case. */
static void memory_collect(struct disk *disk, struct disk_op *op)
{
    (void)disk;
    (void)op;
}

static void sync_directory(struct memory_disk *disk)
{
    list_for_each_safe(node, &disk->files) {
        struct memory_file *file = container_of(node, struct memory_file, node);
        file->exists_durably = file->exists;
        if (!file->exists && file->fd < 0)
            file_free(file);
    }
}

static void memory_sync(struct disk *disk, struct disk_op *op, int fd)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_SYNC);
    struct memory_file *file;
    if (!e)
        return;
    if (fd == DIR_FD) {
        sync_directory(disk_of(disk));
        return;
    }
    file = file_of_fd(disk_of(disk), fd);
    set_bytes(&file->synced, &file->bytes);
    if (disk_of(disk)->on_sync && strstr(file->name, ".seg"))
        disk_of(disk)->on_sync(disk_of(disk));
}

static void memory_remove(struct disk *disk, struct disk_op *op, const char *path)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_REMOVE);
    struct memory_file *file = file_named(disk_of(disk), name_of(path));
    if (!e)
        return;
    if (!file) {
        e->result = -ENOENT;
        return;
    }
    file->exists = false;
    if (file->fd < 0 && !file->exists_durably)
        file_free(file);
}

static void memory_truncate(struct disk *disk, struct disk_op *op, int fd, int64_t len)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_TRUNCATE);
    if (e)
        set_len(&file_of_fd(disk_of(disk), fd)->bytes, (size_t)len);
}

static void memory_make_dir(struct disk *disk, struct disk_op *op, const char *path, int mode)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_MAKE_DIR);
    (void)path;
    (void)mode;
    if (e)
        e->result = -EEXIST;
}

static void memory_list(struct disk *disk, struct disk_op *op, const char *path)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_LIST);
    (void)path;
    if (!e)
        return;
    list_for_each(node, &disk_of(disk)->files) {
        struct memory_file *file = container_of(node, struct memory_file, node);
        if (file->exists)
            buf_put(&e->names, file->name, strlen(file->name) + 1);
    }
    buf_putc(&e->names, '\0');
}

static void memory_fstat(struct disk *disk, struct disk_op *op, int fd)
{
    struct memory_op *e = begin_op(disk, op, MEMORY_STAT);
    struct memory_file *file = file_of_fd(disk_of(disk), fd);
    if (e)
        op->stat =
            (struct disk_stat){.size = file->bytes.len, .links = file->exists, .regular = true};
}

static const struct disk_ops memory_ops = {
    .open = memory_open,
    .close = memory_close,
    .read = memory_read,
    .write = memory_write,
    .append = memory_append,
    .collect = memory_collect,
    .sync = memory_sync,
    .remove = memory_remove,
    .truncate = memory_truncate,
    .make_dir = memory_make_dir,
    .list = memory_list,
    .fstat = memory_fstat,
};

/* ---- the end of operations ---- */

static struct memory_op *next_to_end(struct memory_disk *disk)
{
    list_for_each(node, &disk->pending) {
        struct memory_op *e = container_of(node, struct memory_op, node);
        if (!disk->stuck && e->call != disk->stuck_call)
            return e;
    }
    return NULL;
}

static void op_free(struct memory_op *e)
{
    list_remove(&e->node);
    buf_free(&e->names);
    free(e);
}

static bool end_next_op(struct sim_io *io)
{
    struct memory_op *e = next_to_end(container_of(io, struct memory_disk, io));
    if (!e)
        return false;
    list_remove(&e->node);
    e->op->names = e->names.bytes;
    e->op->done(e->op, e->result);
    op_free(e);
    return true;
}

/* ---- crashes ---- */

static void remove_all(struct memory_disk *disk)
{
    list_for_each_safe(node, &disk->files)
        file_free(container_of(node, struct memory_file, node));
}

/* How long @file is if only the beginning of a write in flight was done. */
static size_t torn_len(struct memory_disk *disk, const struct memory_file *file, struct rng *rng)
{
    size_t len = file->bytes.len;
    list_for_each(node, &disk->pending) {
        const struct memory_op *e = container_of(node, const struct memory_op, node);
        if (rng && e->written == file && e->from + e->len == len)
            len = e->from + (size_t)rng_below(rng, e->len + 1);
    }
    return len;
}

void memory_disk_crash(struct memory_disk *to, struct memory_disk *from, struct rng *rng)
{
    remove_all(to);
    list_for_each(node, &from->files) {
        struct memory_file *file = container_of(node, struct memory_file, node), *copy;
        if (!file->exists && !file->exists_durably)
            continue;
        copy = file_make(to, file->name);
        copy->exists = file->exists;
        copy->exists_durably = file->exists_durably;
        set_bytes(&copy->bytes, &file->bytes);
        set_bytes(&copy->synced, &file->synced);
        copy->bytes.len = torn_len(from, file, rng);
    }
}

/* Blocks that were not synced arrive by chance. */
static void lose_blocks(struct memory_file *file, struct rng *rng)
{
    struct buf left = {0};
    size_t unsynced = file->bytes.len > file->synced.len ? file->bytes.len - file->synced.len : 0;
    size_t len = file->synced.len + (size_t)rng_below(rng, unsynced + 1);
    if (file->bytes.len < file->synced.len && rng_below(rng, 2))
        len = file->bytes.len; /* it was truncated */
    set_len(&left, len);
    for (size_t at = 0; at < len; at += BLOCK) {
        const struct buf *from = rng_below(rng, 2) ? &file->bytes : &file->synced;
        size_t end = at + BLOCK < len ? at + BLOCK : len;
        for (size_t i = at; i < end; i++)
            left.bytes[i] = i < from->len ? from->bytes[i] : '\0';
    }
    buf_free(&file->bytes);
    file->bytes = left;
    set_bytes(&file->synced, &file->bytes);
}

void memory_disk_power_loss(struct memory_disk *disk, struct rng *rng)
{
    list_for_each_safe(node, &disk->files) {
        struct memory_file *file = container_of(node, struct memory_file, node);
        if (file->exists != file->exists_durably)
            file->exists = rng_below(rng, 2);
        file->exists_durably = file->exists;
        if (file->exists)
            lose_blocks(file, rng);
        else
            file_free(file);
    }
}

void memory_disk_settle(struct memory_disk *disk)
{
    sync_directory(disk);
    list_for_each(node, &disk->files) {
        struct memory_file *file = container_of(node, struct memory_file, node);
        set_bytes(&file->synced, &file->bytes);
    }
}

/* ---- files for tests ---- */

struct buf *memory_disk_file(struct memory_disk *disk, const char *name)
{
    struct memory_file *file = file_named(disk, name);
    return file ? &file->bytes : NULL;
}

bool memory_disk_has(struct memory_disk *disk, const char *name)
{
    return file_named(disk, name) != NULL;
}

void memory_disk_remove(struct memory_disk *disk, const char *name)
{
    struct memory_file *file = file_named(disk, name);
    if (file)
        file_free(file);
}

void memory_disk_put(struct memory_disk *disk, const char *name, const char *bytes, size_t len)
{
    struct memory_file *file;
    memory_disk_remove(disk, name);
    file = file_make(disk, name);
    file->exists_durably = true;
    buf_put(&file->bytes, bytes, len);
    set_bytes(&file->synced, &file->bytes);
}

uint64_t memory_disk_size(struct memory_disk *disk)
{
    uint64_t size = 0;
    list_for_each(node, &disk->files) {
        struct memory_file *file = container_of(node, struct memory_file, node);
        if (file->exists)
            size += file->bytes.len;
    }
    return size;
}

void memory_disk_init(struct memory_disk *disk, struct sim *sim)
{
    *disk = (struct memory_disk){
        .disk.ops = &memory_ops, .stuck_call = MEMORY_CALLS, .space = UINT64_MAX};
    list_init(&disk->files);
    list_init(&disk->pending);
    sim_io_add(sim, &disk->io, end_next_op);
}

void memory_disk_done(struct memory_disk *disk)
{
    assert(list_empty(&disk->pending));
    assert(!disk->open_files);
    sim_io_remove(&disk->io);
    remove_all(disk);
}
