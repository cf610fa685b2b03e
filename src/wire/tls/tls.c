/*
 * tls.c - the filter: ciphertext below, plaintext above.
 *
 *     opening -> handshaking -> open -> ending -> ended        and from everywhere: closed
 *
 * Normal path: the stream below opens (an accepted one is open), OpenSSL does the handshake over it,
 * bytes written meanwhile are sent, the user gets on_open. Then each on_bytes from below is decrypted record by record and
 * delivered. close_notify from the peer ends the stream properly.
 *
 * Yields: if the user takes only part of a record, the rest stays in `kept` (at most one record)
 * and nothing more is decrypted until it is taken; ciphertext that is not decrypted stays below.
 * Between records the budget is checked, and we yield when it is used up.
 *
 * Failures: a rejected certificate, a peer that does not speak TLS, an alert, a FIN without
 * close_notify. They set `why` and the state `ending`, and are reported as soon as the rules of
 * stream.h allow: everything taken, no call owed, not paused. A failure inside a call from above
 * (write) is reported by the next call from below, which we request.
 *
 * The user may close in any callback: the state is checked after each of them.
 */
#include "wire/tls/tls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/sm.h"
#include "seam/peer.h"
#include "wire/tls/tls_internal.h"

enum tls_state {
    TLS_OPENING,
    TLS_HANDSHAKING,
    TLS_OPEN,
    TLS_ENDING, /* `why` is set and not reported yet */
    TLS_ENDED,
    TLS_CLOSED,
};

static const struct sm_state tls_states[] = {
    [TLS_OPENING] = {"opening", SM_TO(TLS_HANDSHAKING) | SM_TO(TLS_ENDING) | SM_TO(TLS_CLOSED)},
    [TLS_HANDSHAKING] = {"handshaking", SM_TO(TLS_OPEN) | SM_TO(TLS_ENDING) | SM_TO(TLS_CLOSED)},
    [TLS_OPEN] = {"open", SM_TO(TLS_ENDING) | SM_TO(TLS_CLOSED)},
    [TLS_ENDING] = {"ending", SM_TO(TLS_ENDED) | SM_TO(TLS_CLOSED)},
    [TLS_ENDED] = {"ended", SM_TO(TLS_CLOSED)},
    [TLS_CLOSED] = {"closed", 0},
};

struct tls {
    struct stream stream;          /* the user's handle */
    struct stream_user lower_user; /* callbacks of the stream below */
    struct stream *lower;
    struct clock *clock;
    struct tls_context *context;
    struct sm sm;
    SSL *ssl; /* NULL until the stream below is open */
    struct tls_wire wire;
    struct tls_check check;
    char *peer;
    char *name;
    struct buf unsent; /* bytes written before the handshake was done */
    struct buf kept;   /* plaintext not taken yet: at most one record */
    bool is_server;
    bool opened; /* on_open was called */
    bool paused;
    bool owed;    /* the user called resume() and must get a call */
    bool offered; /* it got one in the current call from below */
    struct inf_error why;
    struct deferred_free deferred_free;
};

static struct tls *tls_of_user(struct stream_user *user)
{
    return container_of(user, struct tls, lower_user);
}

static struct tls *tls_of(struct stream *stream)
{
    return container_of(stream, struct tls, stream);
}

/* Sends OpenSSL's output in one write. */
static void tls_flush(struct tls *t)
{
    if (t->wire.out.len)
        stream_write(t->lower, t->wire.out.bytes, t->wire.out.len);
    buf_free(&t->wire.out); /* watches are idle most of the time: hold no memory for them */
}

/* --- the end ---------------------------------------------------------------------------------- */

static void tls_report_end(struct tls *t)
{
    if (t->sm.state != TLS_ENDING || t->paused || t->owed || t->kept.len)
        return;
    sm_move(&t->sm, TLS_ENDED, "%s", t->why.text);
    t->stream.user->ops->on_end(t->stream.user, &t->why);
}

/* After an OpenSSL call failed. The next flush sends the alert to the peer. */
static void tls_fail(struct tls *t)
{
    if (t->is_server)
        err_set(&t->why, INF_ETLS, "TLS with %s: %s", t->peer, tls_reason());
    else
        tls_check_explain(&t->check, &t->wire, &t->why);
    sm_move(&t->sm, TLS_ENDING, "failed");
}

/* --- upwards ---------------------------------------------------------------------------------- */

/* Whether to continue after a callback. */
static bool tls_may_go_on(const struct tls *t)
{
    return t->sm.state == TLS_OPEN && !t->paused && !t->owed && t->kept.len == 0;
}

static size_t tls_offer(struct tls *t, const char *bytes, size_t len)
{
    size_t taken = t->stream.user->ops->on_bytes(t->stream.user, bytes, len);
    assert(taken <= len);
    t->offered = true;
    return taken;
}

/* Offers what the user did not take before anything new. */
static void tls_offer_kept(struct tls *t)
{
    size_t taken;
    if (t->sm.state == TLS_CLOSED || t->kept.len == 0)
        return;
    taken = tls_offer(t, t->kept.bytes, t->kept.len);
    if (t->sm.state == TLS_CLOSED)
        return;
    buf_consume(&t->kept, taken);
    if (t->kept.len == 0)
        buf_free(&t->kept);
    else if (!t->paused)
        stream_resume(t->lower); /* to be called again even if nothing arrives */
}

static void tls_offer_record(struct tls *t, const char *bytes, size_t len)
{
    size_t taken = tls_offer(t, bytes, len);
    if (t->sm.state == TLS_CLOSED || taken == len)
        return;
    t->kept.secret = true;
    buf_put(&t->kept, bytes + taken, len - taken);
    if (!t->paused)
        stream_resume(t->lower);
}

/* All input is read, all output is written: saves about 30 KB per idle connection.
 * (SSL_MODE_RELEASE_BUFFERS would do it after each record, wiping the whole buffer each time, and
 * would miss a buffer that OpenSSL 3.0 allocates when it processes a ticket.) Not within a record ("RB"
 * is "read body"): versions without the fix of CVE-2024-4741 would lose its first part. */
static void tls_free_buffers(struct tls *t)
{
    if (strcmp(SSL_rstate_string(t->ssl), "RH") == 0)
        SSL_free_buffers(t->ssl);
}

/* Decrypts the next record into the context's buffer. Returns 0 if there is none now; the state
 * shows whether the stream has ended. */
static size_t tls_decrypt(struct tls *t)
{
    int n, error;
    ERR_clear_error();
    n = SSL_read(t->ssl, t->context->record, sizeof(t->context->record));
    error = SSL_get_error(t->ssl, n);
    if (error == SSL_ERROR_ZERO_RETURN) {
        err_set(&t->why, INF_EEOF, "%s closed the connection", t->peer);
        sm_move(&t->sm, TLS_ENDING, "close_notify");
    } else if (error == SSL_ERROR_WANT_READ) {
        tls_free_buffers(t);
    } else if (error != SSL_ERROR_NONE) {
        tls_fail(t);
    }
    tls_flush(t); /* a key update may need a response */
    return n > 0 ? (size_t)n : 0;
}

static void tls_read(struct tls *t)
{
    size_t len;
    while (tls_may_go_on(t) && (len = tls_decrypt(t)) > 0) {
        tls_offer_record(t, t->context->record, len);
        secret_wipe(t->context->record,
                    len); /* also if closed: the context stays valid during this call */
        if (tls_may_go_on(t) && clock_over_budget(t->clock)) {
            if (SSL_has_pending(t->ssl))
                stream_resume(t->lower);
            break;
        }
    }
}

/* --- the handshake ---------------------------------------------------------------------------- */

static void tls_encrypt(struct tls *t, const char *bytes, size_t len)
{
    size_t written;
    ERR_clear_error();
    if (len && SSL_write_ex(t->ssl, bytes, len, &written) != 1)
        tls_fail(t);
}

static void tls_on_handshake_done(struct tls *t)
{
    if (t->check.why.code) {
        tls_fail(t); /* UNTESTED: a protocol we did not offer, with an OpenSSL that lets it pass */
        return;
    }
    sm_move(&t->sm, TLS_OPEN, "%s%s", SSL_get_version(t->ssl),
            SSL_session_reused(t->ssl) ? ", resumed" : "");
    if (!t->is_server)
        tls_session_store_reusable(t->ssl);
    tls_encrypt(t, t->unsent.bytes, t->unsent.len);
    buf_free(&t->unsent);
    tls_flush(t);
    if (t->sm.state != TLS_OPEN)
        return; /* UNTESTED: as in tls_write() */
    t->opened = true;
    t->stream.user->ops->on_open(t->stream.user);
}

static void tls_handshake(struct tls *t)
{
    int rc;
    ERR_clear_error();
    rc = SSL_do_handshake(t->ssl);
    if (rc == 1)
        tls_on_handshake_done(t);
    else if (SSL_get_error(t->ssl, rc) != SSL_ERROR_WANT_READ)
        tls_fail(t);
    if (t->sm.state != TLS_CLOSED)
        tls_flush(t);
}

static int tls_create_ssl(struct tls *t)
{
    BIO *bio = tls_bio_new(t->context->bio_method, &t->wire);
    ERR_clear_error();
    t->ssl = SSL_new(t->context->ssl_ctx);
    if (!bio || !t->ssl) {
        BIO_free(bio); /* UNTESTED: only out of memory leads here */
        return err_set(&t->why, INF_ETLS, "TLS with %s: %s", t->peer, tls_reason());
    }
    SSL_set_bio(t->ssl, bio, bio); /* takes ownership */
    return 0;
}

static int tls_prepare_client(struct tls *t)
{
    if (tls_create_ssl(t) < 0)
        return -t->why.code; /* UNTESTED: only out of memory leads here */
    SSL_set_connect_state(t->ssl);
    t->check.begun_us = clock_wall_us(t->clock);
    if (tls_check_init(t->ssl, &t->check, &t->why) < 0)
        return -t->why.code;
    tls_session_offer(t->ssl, &t->check);
    return 0;
}

/* --- what the stream below calls -------------------------------------------------------------- */

static void tls_on_lower_open(struct stream_user *user)
{
    struct tls *t = tls_of_user(user);
    if (tls_prepare_client(t) < 0) {
        sm_move(&t->sm, TLS_ENDING, "setup failed");
    } else {
        sm_move(&t->sm, TLS_HANDSHAKING, "connected");
        tls_handshake(t);
    }
    tls_report_end(t);
}

static size_t tls_on_lower_bytes(struct stream_user *user, const char *bytes, size_t len)
{
    struct tls *t = tls_of_user(user);
    bool owed = t->owed;
    t->owed = t->offered = false;
    t->wire.in = bytes;
    t->wire.in_len = len;
    t->wire.in_taken = 0;
    if (t->sm.state == TLS_HANDSHAKING)
        tls_handshake(t);
    tls_offer_kept(t);
    tls_read(t);
    if (owed && !t->offered && t->sm.state != TLS_CLOSED)
        tls_offer(t, "", 0);
    tls_report_end(t);
    t->wire.in = NULL;
    t->wire.in_len = 0;
    return t->sm.state == TLS_ENDED ? len
                                    : t->wire.in_taken; /* bytes after the end are discarded */
}

static void tls_on_lower_end(struct stream_user *user, const struct inf_error *why)
{
    struct tls *t = tls_of_user(user);
    if (t->sm.state >= TLS_ENDING) {
        tls_report_end(t);
        return;
    }
    if (why->code != INF_EEOF)
        t->why = *why;
    else if (t->sm.state == TLS_OPEN)
        err_set(&t->why, INF_ECUT, "%s: connection closed without TLS close_notify", t->peer);
    else
        err_set(&t->why, INF_ENET, "%s closed the connection during the TLS handshake", t->peer);
    sm_move(&t->sm, TLS_ENDING, "the connection ended");
    tls_report_end(t);
}

/* Also called for handshake messages and key updates: an extra on_drain is harmless. */
static void tls_on_lower_drain(struct stream_user *user)
{
    struct tls *t = tls_of_user(user);
    if (t->sm.state == TLS_OPEN || (t->sm.state >= TLS_ENDING && t->why.code == INF_EEOF))
        stream_call_on_drain(&t->stream);
}

static const struct stream_user_ops tls_lower_user_ops = {
    .on_open = tls_on_lower_open,
    .on_bytes = tls_on_lower_bytes,
    .on_end = tls_on_lower_end,
    .on_drain = tls_on_lower_drain,
};

/* --- what the user above calls ---------------------------------------------------------------- */

static void tls_write(struct stream *stream, const char *bytes, size_t len)
{
    struct tls *t = tls_of(stream);
    switch ((enum tls_state)t->sm.state) {
    case TLS_OPENING:
    case TLS_HANDSHAKING: buf_put(&t->unsent, bytes, len); break;
    case TLS_OPEN:
        tls_encrypt(t, bytes, len);
        tls_flush(t);
        if (t->sm.state == TLS_ENDING && !t->paused)
            stream_resume(
                t->lower); /* UNTESTED: OpenSSL refuses to encrypt only when out of memory */
        break;
    case TLS_ENDING:
    case TLS_ENDED:
    case TLS_CLOSED: break; /* on_end reports the reason, or has done so */
    }
}

/* A single record is not copied: saves 1 of 12 us of an event of 7 KB (make bench-api). */
static bool tls_write_now(struct stream *stream, const char *bytes, size_t len)
{
    struct tls *t = tls_of(stream);
    if (t->sm.state != TLS_OPEN || len > TLS_RECORD_MAX) {
        tls_write(stream, bytes, len);
        return false;
    }
    t->wire.direct = t->lower;
    t->wire.all_sent = true;
    tls_encrypt(t, bytes, len);
    t->wire.direct = NULL;
    tls_free_buffers(t);
    if (t->sm.state == TLS_ENDING && !t->paused)
        stream_resume(t->lower); /* UNTESTED: as in tls_write() */
    return t->sm.state == TLS_OPEN && t->wire.all_sent;
}

static void tls_pause(struct stream *stream)
{
    struct tls *t = tls_of(stream);
    t->paused = true;
    stream_pause(t->lower);
}

static void tls_resume(struct stream *stream)
{
    struct tls *t = tls_of(stream);
    t->paused = false;
    t->owed = t->opened && t->sm.state != TLS_ENDED; /* not before on_open */
    stream_resume(t->lower);
}

static void tls_free_deferred(struct deferred_free *deferred_free)
{
    struct tls *t = container_of(deferred_free, struct tls, deferred_free);
    SSL_free(t->ssl);
    tls_context_unref(t->context);
    buf_free(&t->wire.out);
    buf_free(&t->unsent);
    buf_free(&t->kept);
    free(t->peer);
    free(t->name);
    free(t);
}

static void tls_close(struct stream *stream)
{
    struct tls *t = tls_of(stream);
    ERR_clear_error();
    if (t->sm.state == TLS_OPEN) {
        SSL_shutdown(t->ssl); /* sends close_notify; does not wait for the peer's */
        tls_flush(t);
    } else if (t->ssl && t->why.code != INF_ETLS) {
        tls_session_spare(t->ssl);
    }
    sm_move(&t->sm, TLS_CLOSED, "by its user");
    stream_close(t->lower);
    clock_free_later(t->clock, &t->deferred_free, tls_free_deferred);
}

static size_t tls_unsent(struct stream *stream)
{
    struct tls *t = tls_of(stream);
    return t->unsent.len + stream_unsent(t->lower);
}

static void tls_gather(struct stream *stream, bool may_gather)
{
    stream_gather(tls_of(stream)->lower, may_gather);
}

static const struct stream_ops tls_stream_ops = {
    .write = tls_write,
    .write_now = tls_write_now,
    .pause = tls_pause,
    .resume = tls_resume,
    .close = tls_close,
    .unsent = tls_unsent,
    .gather = tls_gather,
};

/* --- the server ------------------------------------------------------------------------------- */

struct stream *tls_accept(struct stream *lower, struct clock *clock, struct tls_context *context)
{
    struct tls *t = NEW(struct tls);
    t->stream = (struct stream){.ops = &tls_stream_ops};
    t->lower_user.ops = &tls_lower_user_ops;
    t->clock = clock;
    t->context = tls_context_ref(context);
    t->peer = xstrdup("the client");
    t->is_server = true;
    t->lower = lower;
    lower->user = &t->lower_user;
    sm_init(&t->sm, tls_states, TLS_OPENING, t->peer, NULL);
    if (tls_create_ssl(t) == 0) {
        SSL_set_accept_state(t->ssl);
        sm_move(&t->sm, TLS_HANDSHAKING, "accepted");
    } else {
        sm_move(&t->sm, TLS_ENDING, "setup failed"); /* UNTESTED: only out of memory leads here */
        stream_resume(lower);
    }
    return &t->stream;
}

/* --- the dialer ------------------------------------------------------------------------------- */

static struct stream *tls_dial(struct dialer *dialer, const char *host, uint16_t port,
                               struct stream_user *user)
{
    struct tls_dialer *d = container_of(dialer, struct tls_dialer, dialer);
    const char *name = d->server_name ? d->server_name : host;
    size_t len = strlen(name);
    struct tls *t = NEW(struct tls);
    t->stream = (struct stream){.ops = &tls_stream_ops, .user = user};
    t->lower_user.ops = &tls_lower_user_ops;
    t->clock = d->clock;
    t->context = tls_context_ref(d->context);
    t->peer = peer_name(host, port);
    /* DNS allows "example.com."; certificates and SNI have no trailing dot. */
    t->name = xstrndup(name, len && name[len - 1] == '.' ? len - 1 : len);
    t->unsent.secret = true; /* requests contain tokens */
    t->check.peer = t->peer;
    t->check.name = t->name;
    t->check.sessions = &t->context->sessions;
    sm_init(&t->sm, tls_states, TLS_OPENING, t->peer, NULL);
    t->lower = dialer_dial(d->lower, host, port, &t->lower_user);
    return &t->stream;
}

void tls_dialer_init(struct tls_dialer *d, struct dialer *lower, struct clock *clock,
                     struct tls_context *context, const char *server_name)
{
    *d = (struct tls_dialer){
        .dialer = {.dial = tls_dial},
        .lower = lower,
        .clock = clock,
        .context = context,
        .server_name = server_name,
    };
}
