#include "stream_reader.h"

#include <assert.h>
#include <string.h>

#include "base/base.h"

void stream_reader_write(struct stream_reader *r, const char *bytes, size_t len)
{
    r->inside = true;
    stream_write(r->stream, bytes, len);
    r->inside = false;
}

void stream_reader_pause(struct stream_reader *r)
{
    r->inside = true;
    stream_pause(r->stream);
    r->inside = false;
    r->paused = true;
}

void stream_reader_resume(struct stream_reader *r)
{
    r->inside = true;
    stream_resume(r->stream);
    r->inside = false;
    r->paused = false;
}

void stream_reader_close(struct stream_reader *r)
{
    if (!r->stream)
        return;
    r->inside = true;
    stream_close(r->stream);
    r->inside = false;
    r->stream = NULL;
}

static struct stream_reader *stream_reader_of(struct stream_user *user)
{
    struct stream_reader *r = container_of(user, struct stream_reader, user);
    assert(r->stream && "no callback after close");
    assert(!r->inside && "rule 1: no callback inside a call");
    assert(!r->ended && "on_end is the last callback");
    return r;
}

static void stream_reader_at(struct stream_reader *r, enum stream_reader_moment moment)
{
    if (r->pause_in == moment)
        stream_reader_pause(r);
    if (r->close_in == moment)
        stream_reader_close(r);
}

static void stream_reader_on_open(struct stream_user *user)
{
    struct stream_reader *r = stream_reader_of(user);
    assert(!r->opened && "on_open is called once");
    r->opened++;
    if (r->write_in_open)
        stream_reader_write(r, r->write_in_open, strlen(r->write_in_open));
    stream_reader_at(r, IN_OPEN);
}

static size_t stream_reader_on_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct stream_reader *r = stream_reader_of(user);
    size_t most = r->dice.state ? (size_t)rng_below(&r->dice, r->take + 1) : r->take;
    size_t taken = (most || r->dice.state) && most < len ? most : len;
    assert(!r->paused && "rule 2");
    assert(r->opened);
    if (r->take_none)
        taken = 0;
    r->calls++;
    r->empty_calls += len == 0;
    buf_put(&r->got, bytes, taken);
    if (r->resume_again && len)
        stream_reader_resume(r);
    if (len) /* pausing in each call that follows a resume() would delay the end forever */
        stream_reader_at(r, IN_BYTES);
    return taken;
}

static void stream_reader_on_end(struct stream_user *user, const struct inf_error *why)
{
    struct stream_reader *r = stream_reader_of(user);
    assert(!r->paused && "rule 2");
    r->ended++;
    stream_reader_at(r, IN_END);
    r->why = *why; /* valid until we return, even if we have closed */
}

static void stream_reader_on_drain(struct stream_user *user)
{
    struct stream_reader *r = container_of(user, struct stream_reader, user);
    assert(r->stream && !r->inside && "as for every callback");
    assert((!r->ended || r->why.code == INF_EEOF) && "rule 6");
    assert(!stream_unsent(r->stream) && "rule 6");
    r->drained++;
    stream_reader_at(r, IN_DRAIN);
}

static const struct stream_user_ops stream_reader_ops = {
    .on_open = stream_reader_on_open,
    .on_bytes = stream_reader_on_bytes,
    .on_end = stream_reader_on_end,
    .on_drain = stream_reader_on_drain,
};

void stream_reader_init(struct stream_reader *r)
{
    *r = (struct stream_reader){.user = {.ops = &stream_reader_ops}};
}

void stream_reader_done(struct stream_reader *r)
{
    stream_reader_close(r);
    buf_free(&r->got);
}
