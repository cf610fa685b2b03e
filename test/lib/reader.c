#include "reader.h"

#include <assert.h>
#include <string.h>

#include "base/base.h"

void reader_write(struct reader *r, const char *bytes, size_t len)
{
    r->inside = true;
    stream_write(r->stream, bytes, len);
    r->inside = false;
}

void reader_pause(struct reader *r)
{
    r->inside = true;
    stream_pause(r->stream);
    r->inside = false;
    r->paused = true;
}

void reader_resume(struct reader *r)
{
    r->inside = true;
    stream_resume(r->stream);
    r->inside = false;
    r->paused = false;
}

void reader_close(struct reader *r)
{
    if (!r->stream)
        return;
    r->inside = true;
    stream_close(r->stream);
    r->inside = false;
    r->stream = NULL;
}

static struct reader *reader_of(struct stream_user *user)
{
    struct reader *r = container_of(user, struct reader, user);
    assert(r->stream && "nothing is called after close");
    assert(!r->inside && "rule 1: nothing is called inside a call");
    assert(!r->ended && "on_end comes last");
    return r;
}

static void reader_at(struct reader *r, enum reader_moment moment)
{
    if (r->pause_in == moment)
        reader_pause(r);
    if (r->close_in == moment)
        reader_close(r);
}

static void reader_on_open(struct stream_user *user)
{
    struct reader *r = reader_of(user);
    assert(!r->opened && "on_open comes once");
    r->opened++;
    if (r->write_in_open)
        reader_write(r, r->write_in_open, strlen(r->write_in_open));
    reader_at(r, IN_OPEN);
}

static size_t reader_on_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct reader *r = reader_of(user);
    size_t most = r->dice.state ? (size_t)rng_below(&r->dice, r->take + 1) : r->take;
    size_t taken = (most || r->dice.state) && most < len ? most : len;
    assert(!r->paused && "rule 2");
    assert(r->opened);
    if (r->take_none)
        taken = 0;
    r->calls++;
    r->empty_calls += len == 0;
    buf_put(&r->got, bytes, taken);
    if (r->ask_again && len)
        reader_resume(r);
    if (len) /* who pauses in the call that resume() promises will never hear of an end */
        reader_at(r, IN_BYTES);
    return taken;
}

static void reader_on_end(struct stream_user *user, const struct inf_error *why)
{
    struct reader *r = reader_of(user);
    assert(!r->paused && "rule 2");
    r->ended++;
    reader_at(r, IN_END);
    r->why = *why; /* good until we return, though we may have closed */
}

static void reader_on_drain(struct stream_user *user)
{
    struct reader *r = container_of(user, struct reader, user);
    assert(r->stream && !r->inside && "as for every callback");
    assert((!r->ended || r->why.code == INF_EEOF) && "rule 6");
    assert(!stream_unsent(r->stream) && "rule 6");
    r->drained++;
    reader_at(r, IN_DRAIN);
}

static const struct stream_user_ops reader_ops = {
    .on_open = reader_on_open,
    .on_bytes = reader_on_bytes,
    .on_end = reader_on_end,
    .on_drain = reader_on_drain,
};

void reader_init(struct reader *r)
{
    *r = (struct reader){.user = {.ops = &reader_ops}};
}

void reader_done(struct reader *r)
{
    reader_close(r);
    buf_free(&r->got);
}
