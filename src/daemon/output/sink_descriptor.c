/*
 * sink_descriptor.c - lines to the standard output, which the process inherited.
 *
 * Normal path: each write is one operation on the pool. O_NONBLOCK is never set: the descriptor may
 * be shared with the parent process. If another process has set it, a full pipe is -EAGAIN. The
 * descriptor is not closed, and an error other than -EAGAIN is final.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/output/sink.h"

struct descriptor_sink {
    struct sink sink;
    struct disk *disk;
    struct disk_op op;
    int fd;
};

static bool descriptor_accepts(const char *target)
{
    return strcmp(target, "stdout") == 0;
}

static void on_written(struct disk_op *op, int64_t result)
{
    struct descriptor_sink *s = container_of(op, struct descriptor_sink, op);
    s->sink.on_done(&s->sink, result);
}

static struct sink *descriptor_make(const char *target, struct clock *clock, struct disk *disk)
{
    struct descriptor_sink *s = NEW(struct descriptor_sink);
    (void)target;
    (void)clock;
    s->sink.open = true;
    s->disk = disk;
    s->op.done = on_written;
    return &s->sink;
}

static void descriptor_free(struct sink *sink)
{
    free(container_of(sink, struct descriptor_sink, sink));
}

static void descriptor_configure(struct sink *sink, const struct sink_settings *settings)
{
    container_of(sink, struct descriptor_sink, sink)->fd = settings->fd;
}

static void descriptor_write(struct sink *sink, const char *bytes, size_t len)
{
    struct descriptor_sink *s = container_of(sink, struct descriptor_sink, sink);
    s->disk->ops->write(s->disk, &s->op, s->fd, bytes, len, -1);
}

static void descriptor_cancel_write(struct sink *sink)
{
    struct descriptor_sink *s = container_of(sink, struct descriptor_sink, sink);
    s->disk->ops->cancel(s->disk, &s->op);
}

const struct sink_type sink_descriptor = {
    .accepts = descriptor_accepts,
    .inherited = true,
    .make = descriptor_make,
    .free = descriptor_free,
    .configure = descriptor_configure,
    .write = descriptor_write,
    .cancel_write = descriptor_cancel_write,
};
