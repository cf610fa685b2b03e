#include "pipe_stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

enum {
    CALLS_PER_TICK = 32, /* libuv reads at most this often in a row */
};

struct pipe_stream {
    struct stream stream;
    struct sim_io io;
    struct deferred_free deferred_free;
    struct pipe *pipe;
    bool paused;
    bool owed; /* a call of rule 3 */
    bool closed;
};

static struct pipe_stream *pipe_stream_of(struct stream *stream)
{
    struct pipe_stream *s = container_of(stream, struct pipe_stream, stream);
    assert(!s->closed && "no call after close");
    return s;
}

/* --- called by the user ----------------------------------------------------------------------- */

static void pipe_write(struct stream *stream, const char *bytes, size_t len)
{
    struct pipe *pipe = pipe_stream_of(stream)->pipe;
    pipe->n_writes++;
    pipe->unsent += len;
    buf_put(&pipe->written, bytes, len);
}

static void pipe_pause(struct stream *stream)
{
    pipe_stream_of(stream)->paused = true;
}

static void pipe_resume(struct stream *stream)
{
    struct pipe_stream *s = pipe_stream_of(stream);
    s->paused = false;
    s->owed = !s->pipe->ended;
}

static void pipe_free_deferred(struct deferred_free *deferred_free)
{
    free(container_of(deferred_free, struct pipe_stream, deferred_free));
}

static void pipe_close(struct stream *stream)
{
    struct pipe_stream *s = pipe_stream_of(stream);
    s->closed = true;
    s->pipe->stream = NULL;
    sim_io_remove(&s->io);
    clock_free_later(&s->pipe->sim->clock, &s->deferred_free, pipe_free_deferred);
}

static size_t pipe_unsent(struct stream *stream)
{
    return pipe_stream_of(stream)->pipe->unsent;
}

static const struct stream_ops pipe_stream_ops = {
    .write = pipe_write,
    .pause = pipe_pause,
    .resume = pipe_resume,
    .close = pipe_close,
    .unsent = pipe_unsent,
};

/* --- callbacks of the user -------------------------------------------------------------------- */

static size_t pipe_next_len(struct pipe *pipe)
{
    size_t len = pipe->to_read.len - pipe->taken, most = pipe->cut;
    if (most && pipe->random)
        most = 1 + (size_t)rng_below(&pipe->rng, most);
    return most && most < len ? most : len;
}

/* True: the user took all of it. */
static bool pipe_deliver(struct pipe_stream *s)
{
    struct pipe *pipe = s->pipe;
    size_t len = pipe_next_len(pipe), taken;
    char *block = xmalloc(len);
    if (len)
        memcpy(block, pipe->to_read.bytes + pipe->taken, len);
    s->owed = false;
    pipe->n_calls++;
    taken = s->stream.user->ops->on_bytes(s->stream.user, block, len);
    free(block);
    assert(s->closed || taken <= len);
    if (!s->closed)
        pipe->taken += taken;
    return !s->closed && taken == len;
}

static bool pipe_deliver_some(struct pipe_stream *s)
{
    int calls = 0;
    bool owed = s->owed;
    struct pipe *pipe = s->pipe;
    while (!s->closed && !s->paused && (pipe->to_read.len > pipe->taken || (owed && calls == 0)))
        if (++calls > CALLS_PER_TICK || !pipe_deliver(s))
            break;
    buf_consume(&pipe->to_read, pipe->taken); /* once: it moves the rest of a long response */
    pipe->taken = 0;
    return calls > 0;
}

static bool pipe_deliver_end(struct pipe_stream *s)
{
    struct pipe *pipe = s->pipe;
    if (s->closed || s->paused || s->owed || pipe->to_read.len || !pipe->ending || pipe->ended)
        return false;
    pipe->ended = true;
    s->stream.user->ops->on_end(s->stream.user, &pipe->why);
    return true;
}

/* Returns true only if the user has an on_drain: otherwise nothing happened. */
static bool pipe_drain(struct pipe_stream *s)
{
    struct pipe *pipe = s->pipe;
    bool dead = pipe->ended && pipe->why.code != INF_EEOF;
    bool called = s->stream.user->ops->on_drain != NULL;
    if (s->closed || !pipe->open || pipe->clogged || dead || !pipe->unsent)
        return false;
    pipe->unsent = 0;
    stream_call_on_drain(&s->stream);
    return called;
}

static bool pipe_poll(struct sim_io *io)
{
    struct pipe_stream *s = container_of(io, struct pipe_stream, io);
    struct pipe *pipe = s->pipe;
    bool busy;
    if (pipe->on_tick)
        pipe->on_tick(pipe);
    if (!pipe->open && !pipe->held && !pipe->ending) {
        pipe->open = true;
        s->stream.user->ops->on_open(s->stream.user);
        return true;
    }
    busy = pipe_drain(s);
    busy |= pipe->open && pipe_deliver_some(s);
    return pipe_deliver_end(s) || busy;
}

/* --- dialling --------------------------------------------------------------------------------- */

static struct stream *pipe_dial(struct dialer *dialer, const char *host, uint16_t port,
                                struct stream_user *user)
{
    struct pipe_dialer *d = container_of(dialer, struct pipe_dialer, dialer);
    struct pipe *pipe = NEW(struct pipe);
    pipe->sim = d->sim;
    pipe->host = xstrdup(host);
    pipe->port = port;
    pipe->cut = d->cut;
    pipe->random = d->seed != 0;
    pipe->rng.state = d->seed;
    pipe->on_tick = d->on_tick;
    pipe->peer = d->peer;
    pipe->held = d->hold;
    pipe->stream = NEW(struct pipe_stream);
    pipe->stream->stream = (struct stream){.ops = &pipe_stream_ops, .user = user};
    pipe->stream->pipe = pipe;
    sim_io_add(d->sim, &pipe->stream->io, pipe_poll);
    list_push(&d->pipes, &pipe->node);
    d->last = pipe;
    d->n_dialled++;
    return &pipe->stream->stream;
}

void pipe_dialer_init(struct pipe_dialer *d, struct sim *sim)
{
    *d = (struct pipe_dialer){.dialer = {.dial = pipe_dial}, .sim = sim};
    list_init(&d->pipes);
}

void pipe_dialer_done(struct pipe_dialer *d)
{
    struct list *node;
    while ((node = list_pop(&d->pipes))) {
        struct pipe *pipe = container_of(node, struct pipe, node);
        assert(pipe_closed(pipe) && "every stream must be closed");
        buf_free(&pipe->written);
        buf_free(&pipe->to_read);
        free(pipe->host);
        free(pipe);
    }
}

/* --- the other side --------------------------------------------------------------------------- */

void pipe_send(struct pipe *pipe, const char *bytes, size_t len)
{
    assert(!pipe->ending && "nothing comes after the end");
    buf_put(&pipe->to_read, bytes, len);
}

void pipe_sends(struct pipe *pipe, const char *text)
{
    pipe_send(pipe, text, strlen(text));
}

void pipe_end(struct pipe *pipe, int code, const char *text)
{
    pipe->ending = true;
    err_set(&pipe->why, code, "%s", text);
}

void pipe_open(struct pipe *pipe)
{
    pipe->held = false;
}

bool pipe_wrote(struct pipe *pipe, const char *text)
{
    bool same = pipe->written.len == strlen(text) &&
                memcmp(pipe->written.bytes, text, pipe->written.len) == 0;
    buf_clear(&pipe->written);
    return same;
}
