/*
 * stream.h - the seam for bytes: a connection, or a filter that looks like one.
 *
 * The chain of one HTTP request, with TLS and a proxy:
 *
 *      kube/source/api_source   decodes the body
 *           ^ on_body           wire/http_pool only gets the end of the response
 *      wire/http_conn           a user: parses the response
 *           ^ on_bytes
 *      wire/tls                 a filter: a user of what is below, a stream to what is above
 *           ^ on_bytes
 *      [wire/proxy              a filter until the proxy has connected, then handed over]
 *           ^ on_bytes
 *      loop/tcp, or a test's    a stream
 *
 * Every layer on the way of a byte transforms it. A filter that has no more work hands its lower
 * stream over: it sets lower->user to its own user, which the lower stream then calls directly. It
 * may do so in any callback; bytes that it leaves there are offered to the new user.
 *
 * Bytes go up through on_bytes(). A user returns how many bytes it consumed, and may consume fewer
 * than it was given: that is a *yield*. The stream keeps the rest and offers it again first, in a
 * later call from the loop: in the next tick at the latest, and not in this tick if its budget is
 * used up. In this way a time budget applies to all layers: no user buffers more than it can
 * process, and no stream calls its user in an endless loop.
 *
 * Only five calls go down: write, pause, resume, close, and gather, which is a hint.
 *
 * Rules for implementations and users of a stream:
 *   1. No callback runs inside a call to write, pause, resume or close. Callbacks are made in the
 *      loop's I/O phase only.
 *   2. pause: no on_bytes and no on_end until resume. Bytes that were offered and not consumed are
 *      kept.
 *   3. resume: continue, and call on_bytes at least once by the next tick, with len 0 if nothing new
 *      has arrived. A filter that keeps data of its own requests this call when its user yields.
 *      Harmless if the stream is not paused.
 *   4. on_end is called once, after all other callbacks except on_drain, and only when every byte was
 *      consumed, no call of rule 3 is outstanding, and the stream is not paused.
 *   5. close: no callback is made afterwards. It may be called at any time, also inside any callback
 *      and after on_end, exactly once. The caller may no longer use the stream; its memory is freed
 *      in the reap phase. Bytes that were written and not sent yet may be lost.
 *   6. After each write, unless write_now has sent everything, on_drain is called when no byte is
 *      unsent; one call may cover many writes. Pausing affects reading only and does not delay it.
 *      It is also called after an on_end with INF_EEOF: a peer that sends no more may still read, and
 *      TCP continues to send (TLS discards what is written then: it closes both directions together).
 *      After any other end nothing can be sent, and it is not called.
 */
#ifndef SEAM_STREAM_H
#define SEAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

struct stream;
struct stream_user;

struct stream_user_ops {
    /* Connected, or handshake complete. write() accepts bytes earlier and sends them when it can. */
    void (*on_open)(struct stream_user *user);

    /* @len bytes arrived. Returns how many were consumed, 0 to @len; see the rules. @bytes is valid
     * only during the call. */
    size_t (*on_bytes)(struct stream_user *user, const char *bytes, size_t len);

    /* No more bytes will arrive. why->code is INF_EEOF if the peer closed the stream properly. The
     * user must still call close. */
    void (*on_end)(struct stream_user *user, const struct inf_error *why);

    /* Everything written was sent: see rule 6. May be NULL for users that write little. */
    void (*on_drain)(struct stream_user *user);
};

/* The first member of every user of a stream. */
struct stream_user {
    const struct stream_user_ops *ops;
};

struct stream_ops {
    /* Sends @len bytes, copied before it returns. Failures are reported through on_end. */
    void (*write)(struct stream *stream, const char *bytes, size_t len);
    /* The same. Returns true if all bytes were sent at once: on_drain is not called for them. NULL:
     * never. */
    bool (*write_now)(struct stream *stream, const char *bytes, size_t len);
    void (*pause)(struct stream *stream);
    void (*resume)(struct stream *stream);
    void (*close)(struct stream *stream);
    /* The number of bytes that were written and not sent yet. May be NULL in a stream to which little
     * is written. */
    size_t (*unsent)(struct stream *stream);
    /* Whether bytes may be delivered some milliseconds late while many arrive, so that the loop is not
     * woken for each of them: for streams of events. Not at first. May be NULL. */
    void (*gather)(struct stream *stream, bool may_gather);
};

/* The first member of every stream. */
struct stream {
    const struct stream_ops *ops;
    struct stream_user *user; /* set by the opener before the first tick; replaced by a hand-over */
};

/* Opens streams: loop/tcp.c over TCP, wire/tls/tls.c as TLS over another dialer, tests as a pipe. */
struct dialer {
    /* Starts to connect and returns at once. All failures, bad host names included, are reported
     * through on_end. */
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

static inline bool stream_write_now(struct stream *stream, const char *bytes, size_t len)
{
    if (stream->ops->write_now)
        return stream->ops->write_now(stream, bytes, len);
    stream->ops->write(stream, bytes, len);
    return false;
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

/* How far a writer is ahead of its reader. A user that writes much waits for on_drain when this is
 * large. */
static inline size_t stream_unsent(struct stream *stream)
{
    return stream->ops->unsent ? stream->ops->unsent(stream) : 0;
}

static inline void stream_gather(struct stream *stream, bool may_gather)
{
    if (stream->ops->gather)
        stream->ops->gather(stream, may_gather);
}

/* For implementations of streams. */
static inline void stream_call_on_drain(struct stream *stream)
{
    if (stream->user->ops->on_drain)
        stream->user->ops->on_drain(stream->user);
}

#endif
