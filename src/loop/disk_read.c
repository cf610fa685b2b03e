/*
 * disk_read.c - the only file that runs functions of ours on the pool.
 *
 * Normal path: run() reads and works, then on_end() calls done() on the loop. If libuv cannot start the job,
 * done() gets its error at once.
 */
#include "loop/disk_read.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"

struct read_job {
    uv_work_t uv;
    struct loop *loop; /* NULL: synchronous */
    struct disk_op *op;
    int fd;
    char *bytes;
    size_t len;
    int64_t at;
    int64_t result;
    void (*work)(void *ctx, size_t len);
    void *work_ctx;
};

/* On the pool: nothing but the job, its bytes and what belongs to the work. */
static void run(uv_work_t *uv)
{
    struct read_job *job = container_of(uv, struct read_job, uv);
    do
        job->result = pread(job->fd, job->bytes, job->len, job->at);
    while (job->result < 0 && errno == EINTR);
    if (job->result < 0)
        job->result = -errno;
    else if (job->result > 0)
        job->work(job->work_ctx, (size_t)job->result);
}

static void on_end(uv_work_t *uv, int status)
{
    struct read_job *job = container_of(uv, struct read_job, uv);
    struct disk_op *op = job->op;
    int64_t result = status < 0 ? status : job->result;
    if (job->loop)
        loop_busy(job->loop);
    op->request = NULL;
    free(job);
    op->done(op, result);
}

void disk_read_and_work(struct loop *loop, struct disk_op *op, int fd, char *bytes, size_t len,
                        int64_t at)
{
    struct read_job *job = NEW(struct read_job);
    int status = 0;
    *job = (struct read_job){.loop = loop,
                             .op = op,
                             .fd = fd,
                             .bytes = bytes,
                             .len = len,
                             .at = at,
                             .work = op->work,
                             .work_ctx = op->work_ctx};
    op->request = job;
    if (!loop)
        run(&job->uv);
    else
        status = uv_queue_work(loop->uv, &job->uv, run, on_end);
    if (!loop || status < 0)
        on_end(&job->uv, status);
}
