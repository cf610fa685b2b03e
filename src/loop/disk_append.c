/*
 * disk_append.c - when the results of appends through io_uring are read and delivered.
 *
 * Normal path: start, collect: the result is there, done() is called. Otherwise a timer reads it. While a
 * user waits for a write in progress, the loop polls for results.
 *
 * A write that io_uring refuses for this file (-EAGAIN on a file with O_NONBLOCK, an operation that the
 * administrator has forbidden) is repeated on the pool. All other results are those of write(2).
 */
#include "loop/disk_append.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "loop/disk_ring.h"

enum append_state {
    APPEND_WRITING,
    APPEND_AWAITED, /* the same, and the user has called collect() */
    APPEND_ENDED,   /* the result is known and not delivered yet */
};

struct append {
    struct list node;
    enum append_state state;
    struct disk_op *op;
    int fd;
    const char *bytes; /* borrowed */
    size_t len;
    int64_t result;
};

struct disk_appends {
    struct loop *loop;
    struct disk *disk;
    struct disk_ring *ring;
    struct list appends; /* of struct append, in the order of their start */
    struct timer lazy;
    struct io_task deliver;
    uv_poll_t *poll; /* active while an append is awaited */
};

static bool is_refused(int64_t result)
{
    return result == -EAGAIN || result == -EINVAL || result == -EOPNOTSUPP;
}

static void append_end(struct disk_appends *a, struct append *append)
{
    struct append ended = *append;
    list_remove(&append->node);
    free(append);
    if (is_refused(ended.result))
        a->disk->ops->write(a->disk, ended.op, ended.fd, ended.bytes, ended.len, -1);
    else
        ended.op->done(ended.op, ended.result);
}

static bool is_any(const struct disk_appends *a, enum append_state state)
{
    list_for_each(node, &a->appends)
        if (container_of(node, struct append, node)->state == state)
            return true;
    return false;
}

/* Reads the results that are available. Awaited ones are delivered in this tick, or by the caller. */
static void read_results(struct disk_appends *a)
{
    struct append *append;
    void *data;
    int64_t result;
    while (disk_ring_take(a->ring, &data, &result)) {
        append = data;
        if (append->state == APPEND_AWAITED)
            loop_schedule(a->loop, &a->deliver);
        append->state = APPEND_ENDED;
        append->result = result;
    }
    if (uv_is_active((uv_handle_t *)a->poll) && !is_any(a, APPEND_AWAITED))
        uv_poll_stop(a->poll); /* one that is stopped already would cost a system call */
}

static struct append *next_ended(const struct disk_appends *a)
{
    list_for_each(node, &a->appends)
        if (container_of(node, struct append, node)->state == APPEND_ENDED)
            return container_of(node, struct append, node);
    return NULL;
}

/* done() may start another append, which is not ended yet: see disk_appends_start(). */
static void deliver_ended(struct disk_appends *a)
{
    struct append *append;
    while ((append = next_ended(a)))
        append_end(a, append);
}

static void on_deliver(struct io_task *task)
{
    deliver_ended(container_of(task, struct disk_appends, deliver));
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct disk_appends *a = handle->data;
    (void)status;
    (void)events;
    loop_busy(a->loop);
    disk_ring_clear_event(a->ring);
    read_results(a);
    deliver_ended(a);
}

/* What is not written by now takes long: it is awaited. */
static void on_lazy(struct timer *timer)
{
    struct disk_appends *a = container_of(timer, struct disk_appends, lazy);
    read_results(a);
    list_for_each(node, &a->appends) {
        struct append *append = container_of(node, struct append, node);
        if (append->state == APPEND_WRITING)
            append->state = APPEND_AWAITED;
    }
    if (is_any(a, APPEND_AWAITED))
        uv_poll_start(a->poll, UV_READABLE, on_readable);
    loop_schedule(a->loop, &a->deliver);
}

bool disk_appends_start(struct disk_appends *a, struct disk_op *op, int fd, const char *bytes,
                        size_t len)
{
    struct append *append = NEW(struct append);
    *append = (struct append){.op = op, .fd = fd, .bytes = bytes, .len = len};
    if (!disk_ring_append(a->ring, fd, bytes, len, append)) {
        free(append);
        return false;
    }
    list_push(&a->appends, &append->node);
    timer_start(&a->loop->clock, &a->lazy, DISK_APPEND_LAZY_MS);
    return true;
}

static struct append *append_of(const struct disk_appends *a, const struct disk_op *op)
{
    list_for_each(node, &a->appends)
        if (container_of(node, struct append, node)->op == op)
            return container_of(node, struct append, node);
    return NULL;
}

bool disk_appends_collect(struct disk_appends *a, struct disk_op *op)
{
    struct append *append = append_of(a, op);
    if (!append)
        return false;
    read_results(a);
    if (append->state == APPEND_ENDED) {
        append_end(a, append);
    } else {
        append->state = APPEND_AWAITED;
        uv_poll_start(a->poll, UV_READABLE, on_readable);
    }
    return true;
}

struct disk_appends *disk_appends_new(struct loop *loop, struct disk *disk)
{
    struct disk_ring *ring = disk_ring_new();
    struct disk_appends *a;
    uv_poll_t *poll;
    if (!ring)
        return NULL;
    poll = NEW(uv_poll_t);
    if (uv_poll_init(loop->uv, poll, disk_ring_event_fd(ring)) <
        0) { /* UNTESTED: the ring can be polled */
        free(poll);
        disk_ring_free(ring);
        return NULL;
    }
    a = NEW(struct disk_appends);
    *a = (struct disk_appends){.loop = loop, .disk = disk, .ring = ring, .poll = poll};
    poll->data = a;
    list_init(&a->appends);
    a->lazy.fire = on_lazy;
    a->deliver.run = on_deliver;
    list_init(&a->deliver.node);
    return a;
}

void disk_appends_close(struct disk_appends *a)
{
    timer_stop(&a->loop->clock, &a->lazy);
    list_remove(&a->deliver.node);
    loop_discard(a->loop, (uv_handle_t *)a->poll);
    disk_ring_free(a->ring);
    free(a);
}
