/*
 * nats_greeting.c - waits for INFO.
 *
 *     reading -> open          ended: failed before it was open          closed
 *
 * Normal path: the server's first line is INFO; the stream below is handed over, with the bytes after that line. Any
 * other line, or the end of the connection, is an error. There is no timeout here: the user has one and closes.
 */
#include "wire/nats/nats_greeting.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/sm.h"
#include "wire/nats/nats_parser.h"

enum greeting_state {
    GREETING_READING,
    GREETING_OPEN, /* the lower stream is handed over */
    GREETING_ENDED,
    GREETING_CLOSED,
};

/* clang-format off */
static const struct sm_state greeting_states[] = {
    [GREETING_READING] = {"reading", SM_TO(GREETING_OPEN) | SM_TO(GREETING_ENDED) | SM_TO(GREETING_CLOSED)},
    [GREETING_OPEN]    = {"open",    SM_TO(GREETING_CLOSED)},
    [GREETING_ENDED]   = {"ended",   SM_TO(GREETING_CLOSED)},
    [GREETING_CLOSED]  = {"closed",  0},
};
/* clang-format on */

struct greeting {
    struct stream stream; /* the user's handle */
    struct stream_user lower_user;
    struct stream *lower;
    struct nats_greeting_dialer *dialer;
    struct sm sm;
    struct nats_parser parser;
    struct buf unsent; /* bytes written before it was open */
    struct deferred_free deferred_free;
};

static struct greeting *greeting_of_user(struct stream_user *user)
{
    return container_of(user, struct greeting, lower_user);
}

static struct greeting *greeting_of(struct stream *stream)
{
    return container_of(stream, struct greeting, stream);
}

/* ---- what the stream below calls ---- */

static void greeting_end(struct greeting *g, const struct inf_error *why)
{
    sm_move(&g->sm, GREETING_ENDED, "%s", why->text);
    g->stream.user->ops->on_end(g->stream.user, why);
}

static void greeting_hand_over(struct greeting *g, struct str info)
{
    sm_move(&g->sm, GREETING_OPEN, "INFO");
    buf_put(&g->dialer->info, info.at, info.len);
    nats_parser_free(&g->parser);
    if (g->unsent.len)
        stream_write(g->lower, g->unsent.bytes, g->unsent.len);
    buf_free(&g->unsent);
    g->lower->user = g->stream.user;
    g->stream.user->ops->on_open(g->stream.user);
}

static void greeting_on_open(struct stream_user *user)
{
    (void)user; /* the server speaks first */
}

static size_t greeting_on_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct greeting *g = greeting_of_user(user);
    struct str input = {bytes, len};
    struct nats_message message;
    struct inf_error why;
    int rc;
    if (g->sm.state == GREETING_ENDED)
        return len; /* discarded */
    rc = nats_parser_next(&g->parser, &input, &message, &why);
    if (rc == 1 && message.op != NATS_INFO)
        rc = err_set(&why, INF_EPROTO, "the server did not send INFO first%s%.*s",
                     message.op == NATS_ERR ? ", but: " : "",
                     (int)(message.text.len < 200 ? message.text.len : 200), message.text.at);
    if (rc < 0)
        greeting_end(g, &why);
    else if (rc == 1)
        greeting_hand_over(g, message.text);
    return len - input.len;
}

static void greeting_on_end(struct stream_user *user, const struct inf_error *why)
{
    struct greeting *g = greeting_of_user(user);
    if (g->sm.state == GREETING_READING)
        greeting_end(g, why);
}

static const struct stream_user_ops lower_user_ops = {
    .on_open = greeting_on_open, .on_bytes = greeting_on_bytes, .on_end = greeting_on_end};

/* ---- what the user above calls ---- */

static void greeting_write(struct stream *stream, const char *bytes, size_t len)
{
    struct greeting *g = greeting_of(stream);
    if (g->sm.state < GREETING_OPEN)
        buf_put(&g->unsent, bytes, len);
    else
        stream_write(g->lower, bytes, len);
}

static void greeting_pause(struct stream *stream)
{
    stream_pause(greeting_of(stream)->lower);
}

static void greeting_resume(struct stream *stream)
{
    stream_resume(greeting_of(stream)->lower);
}

static void greeting_free(struct deferred_free *deferred_free)
{
    struct greeting *g = container_of(deferred_free, struct greeting, deferred_free);
    nats_parser_free(&g->parser);
    buf_free(&g->unsent);
    free(g);
}

static void greeting_close(struct stream *stream)
{
    struct greeting *g = greeting_of(stream);
    sm_move(&g->sm, GREETING_CLOSED, "by its user");
    stream_close(g->lower);
    clock_free_later(g->dialer->clock, &g->deferred_free, greeting_free);
}

static size_t greeting_unsent(struct stream *stream)
{
    struct greeting *g = greeting_of(stream);
    return g->unsent.len + stream_unsent(g->lower);
}

static const struct stream_ops greeting_ops = {
    .write = greeting_write,
    .pause = greeting_pause,
    .resume = greeting_resume,
    .close = greeting_close,
    .unsent = greeting_unsent,
};

static struct stream *greeting_dial(struct dialer *dialer, const char *host, uint16_t port,
                                    struct stream_user *user)
{
    struct nats_greeting_dialer *d = container_of(dialer, struct nats_greeting_dialer, dialer);
    struct greeting *g = NEW(struct greeting);
    g->stream = (struct stream){.ops = &greeting_ops, .user = user};
    g->lower_user.ops = &lower_user_ops;
    g->dialer = d;
    sm_init(&g->sm, greeting_states, GREETING_READING, "greeting", NULL);
    g->lower = dialer_dial(d->lower, host, port, &g->lower_user);
    return &g->stream;
}

void nats_greeting_dialer_init(struct nats_greeting_dialer *d, struct dialer *lower,
                               struct clock *clock)
{
    *d = (struct nats_greeting_dialer){
        .dialer = {.dial = greeting_dial}, .lower = lower, .clock = clock};
}
