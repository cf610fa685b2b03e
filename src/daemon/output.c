#include "daemon/output.h"

#include "base/base.h"

static void write_on(struct output *output);

void output_init(struct output *output, uv_loop_t *uv, int fd)
{
    *output = (struct output){.uv = uv, .fd = fd};
}

bool output_idle(const struct output *output)
{
    return !output->busy && !output->collected.len;
}

static void weigh(struct output *output)
{
    bool hold =
        output->held ? output->collected.len > OUTPUT_LOW : output->collected.len >= OUTPUT_HIGH;
    if (hold == output->held)
        return;
    output->held = hold;
    output->on_hold(output, hold);
}

static void start_next(struct output *output)
{
    struct buf done = output->writing;
    buf_clear(&done);
    output->writing = output->collected;
    output->collected = done;
    output->written = 0;
    write_on(output);
}

static void on_written(uv_fs_t *request)
{
    struct output *output = container_of(request, struct output, request);
    ssize_t n = request->result;
    uv_fs_req_cleanup(request);
    output->busy = false;
    if (n < 0 && n != UV_EINTR) {
        output->error = (int)n;
        buf_clear(&output->collected);
    } else {
        output->written += n > 0 ? (size_t)n : 0;
        if (output->written < output->writing.len)
            write_on(output);
        else if (output->collected.len)
            start_next(output);
    }
    weigh(output);
    if (output_idle(output))
        output->on_idle(output);
}

static void write_on(struct output *output)
{
    uv_buf_t rest = uv_buf_init(output->writing.bytes + output->written,
                                (unsigned)(output->writing.len - output->written));
    output->busy = true;
    uv_fs_write(output->uv, &output->request, output->fd, &rest, 1, -1, on_written);
}

void output_flush(struct output *output)
{
    if (output->error)
        buf_clear(&output->collected);
    if (!output->busy && output->collected.len)
        start_next(output);
    else
        weigh(output);
}

void output_free(struct output *output)
{
    buf_free(&output->collected);
    buf_free(&output->writing);
}
