/*
 * stream.h - the seam for bytes: a connection, or a filter that looks like one.
 *
 *      kube/api_source          the last user
 *           ^ on_bytes
 *      wire/http_conn           a user
 *           ^ on_bytes
 *      wire/tls                 a user of what is below, a stream to what is above
 *           ^ on_bytes
 *      loop/tcp, or a test's    a stream
 *
 * Bytes go up by on_bytes(). A user says how much it took, and may take less than it was given:
 * that is a *yield*. The stream keeps the rest and offers it again, first, in another call from the
 * loop: in the next tick at the latest, and not in this one if its budget is used up. That is how a
 * time budget holds all the way down: nobody above ever buffers what it was not ready for, and
 * nobody below ever calls in a loop without end.
 *
 * Only four things travel down: write, pause, resume, close.
 *
 * The rules, for whoever implements or uses a stream:
 *   1. No callback runs inside a call to write, pause, resume or close. Callbacks come from the
 *      loop's I/O phase only.
 *   2. pause: no on_bytes and no on_end until resume. Bytes already given and not taken are kept.
 *   3. resume: go on, and call on_bytes by the next tick at least once, with len 0 if nothing new
 *      has come. A filter that kept something of its own asks for this call when its user yields.
 *      Harmless if not paused.
 *   4. on_end comes once, last of all but on_drain, and only when every byte was taken, no call of
 *      rule 3 is owed, and not paused.
 *   5. close: nothing is called afterwards. It may be called at any moment, also inside any
 *      callback, also after on_end, and exactly once: the stream is gone for the caller; its memory
 *      goes in the reap phase. What was written and is not sent yet may be lost.
 *   6. After each write on_drain comes once nothing is unsent any more; one call may answer for
 *      many writes. Pausing is about reading and does not hold it back. It still comes after an
 *      on_end of INF_EEOF: a peer that says no more may yet listen, and TCP goes on sending (TLS
 *      drops what is written then: its end is that of both ways). After any other end nothing can
 *      be sent, and it does not come.
 */
#ifndef SEAM_STREAM_H
#define SEAM_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

struct stream;
struct stream_user;

struct stream_user_ops {
    /* Connected, or handshake done. Before it, write() already takes bytes and sends them when it
     * can. */
    void (*on_open)(struct stream_user *user);

    /* @len bytes came. Returns how many were taken, 0 to @len; see the rules. @bytes is gone after
     * the call. */
    size_t (*on_bytes)(struct stream_user *user, const char *bytes, size_t len);

    /* No more will come. why->code is INF_EEOF if the peer ended in good order. The user still has
     * to close. */
    void (*on_end)(struct stream_user *user, const struct inf_error *why);

    /* All that was written is out: see rule 6. May be NULL, for who writes only a little. */
    void (*on_drain)(struct stream_user *user);
};

/* Embed as the first thing in whatever uses a stream. */
struct stream_user {
    const struct stream_user_ops *ops;
};

struct stream_ops {
    /* Sends @len bytes, copied before it returns. Failures come by on_end. */
    void (*write)(struct stream *stream, const char *bytes, size_t len);
    void (*pause)(struct stream *stream);
    void (*resume)(struct stream *stream);
    void (*close)(struct stream *stream);
    /* How many bytes were written and still wait for the peer or the network. May be NULL in a
     * stream nobody writes much to. */
    size_t (*unsent)(struct stream *stream);
};

/* Embed as the first thing in whatever is a stream. */
struct stream {
    const struct stream_ops *ops;
    struct stream_user
        *user; /* whom to call; set by whoever opens the stream, before the first tick */
};

/* Opens streams: loop/tcp.c by TCP, wire/tls.c by TLS over another dialer, a test by a pipe of its
 * own. */
struct dialer {
    /* Starts connecting and returns at once. What goes wrong, bad names included, comes by on_end.
     */
    struct stream *(*dial)(struct dialer *dialer, const char *host, uint16_t port,
                           struct stream_user *user);
};

static inline struct stream *dialer_dial(struct dialer *dialer, const char *host, uint16_t port,
                                         struct stream_user *user)
{
    return dialer->dial(dialer, host, port, user);
}

static inline void stream_write(struct stream *stream, const char *bytes, size_t len)
{
    stream->ops->write(stream, bytes, len);
}

static inline void stream_pause(struct stream *stream)
{
    stream->ops->pause(stream);
}

static inline void stream_resume(struct stream *stream)
{
    stream->ops->resume(stream);
}

static inline void stream_close(struct stream *stream)
{
    stream->ops->close(stream);
}

/* How much a writer is ahead of its reader. Who can make more than a little waits for on_drain when
 * this is large. */
static inline size_t stream_unsent(struct stream *stream)
{
    return stream->ops->unsent ? stream->ops->unsent(stream) : 0;
}

/* For whoever is a stream. */
static inline void stream_tell_drain(struct stream *stream)
{
    if (stream->user->ops->on_drain)
        stream->user->ops->on_drain(stream->user);
}

#endif
