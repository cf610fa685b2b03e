/*
 * tls_session.c - sessions kept for later connections: halves the work of a handshake for both
 * sides.
 *
 * A resumed connection is not verified again: the server proves that it is the one of the earlier
 * connection, and OpenSSL checks no certificate. A session is therefore only as trustworthy as the
 * verification it came from, and is used only
 *   - by the same context: other credentials or authorities mean another context, without sessions;
 *   - for the same server and name;
 *   - until the first certificate of the chain expires, and for at most one day. Sessions from a
 *     resumed connection inherit that time: however many follow each other, the verification does
 *     not become newer.
 * The newest session is offered first and removed at the same time: a ticket used twice would let
 * an observer recognize us (RFC 8446, C.4), and a session that leads to a failure must not be used
 * again. Only sessions of TLS 1.2, which are issued once and can be reused, are stored again after
 * they worked.
 *
 * Nothing fails here: without a session, or with one that the server no longer accepts, the
 * handshake is a full one.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/ssl.h>

#include "base/alloc.h"
#include "base/base.h"
#include "wire/tls/tls_internal.h"

enum {
    SESSIONS_MAX = 256,   /* LIMIT: sessions per context, for so many connections cut at once; the
                             oldest is dropped */
    TICKET_MAX = 16384,   /* LIMIT: a session with a larger ticket is not kept */
    CHECK_HOURS_MAX = 24, /* maximum age of a verification */
};

struct tls_session {
    struct list node;
    char *peer, *name;
    SSL_SESSION *session;
    int64_t good_until_us;
};

static struct tls_session *session_of(struct list *node)
{
    return container_of(node, struct tls_session, node);
}

static void session_drop(struct tls_sessions *all, struct tls_session *s)
{
    list_remove(&s->node);
    all->count--;
    SSL_SESSION_free(s->session);
    free(s->peer);
    free(s->name);
    free(s);
}

void tls_sessions_init(struct tls_sessions *sessions)
{
    list_init(&sessions->list);
}

void tls_sessions_free(struct tls_sessions *sessions)
{
    list_for_each_safe(n, &sessions->list)
        session_drop(sessions, session_of(n));
}

/* --- storing ---------------------------------------------------------------------------------- */

/* The expiry of the verification of @ssl, done now or when its session was made. */
static int64_t check_end_us(const SSL *ssl, const struct tls_check *check)
{
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    int64_t end = check->begun_us + INT64_C(3600000000) * CHECK_HOURS_MAX;
    if (SSL_session_reused(ssl))
        return check->good_until_us;
    for (int i = 0; i < sk_X509_num(chain); i++) {
        struct tm tm;
        int64_t cert_end;
        if (ASN1_TIME_to_tm(X509_get0_notAfter(sk_X509_value(chain, i)), &tm) != 1)
            return 0; /* UNTESTED: a certificate with such a date is refused before */
        cert_end = (int64_t)timegm(&tm) * 1000000;
        end = cert_end < end ? cert_end : end;
    }
    return end;
}

static bool session_is_cacheable(const SSL_SESSION *session)
{
    const unsigned char *ticket;
    size_t len = 0;
    SSL_SESSION_get0_ticket(session, &ticket, &len);
    return SSL_SESSION_is_resumable(session) && len <= TICKET_MAX;
}

int tls_session_on_new(SSL *ssl, SSL_SESSION *session)
{
    const struct tls_check *check = SSL_get_app_data(ssl);
    struct tls_sessions *all = check->sessions;
    struct tls_session *s;
    if (!session_is_cacheable(session))
        return 0;
    s = NEW(struct tls_session);
    s->peer = xstrdup(check->peer);
    s->name = xstrdup(check->name);
    s->session = session; /* we own the reference */
    s->good_until_us = check_end_us(ssl, check);
    list_push(&all->list, &s->node);
    if (++all->count > SESSIONS_MAX)
        session_drop(all, session_of(all->list.next));
    return 1;
}

void tls_session_store_reusable(SSL *ssl)
{
    SSL_SESSION *session;
    if (!SSL_session_reused(ssl) || SSL_version(ssl) >= TLS1_3_VERSION)
        return;
    session = SSL_get1_session(ssl);
    if (!tls_session_on_new(ssl, session))
        SSL_SESSION_free(session);
}

/* --- offering --------------------------------------------------------------------------------- */

/* The newest session for @check. Drops expired sessions. */
static struct tls_session *session_find(const struct tls_check *check)
{
    struct tls_session *newest = NULL;
    list_for_each_safe(n, &check->sessions->list) {
        struct tls_session *s = session_of(n);
        if (check->begun_us >= s->good_until_us || !SSL_SESSION_is_resumable(s->session))
            session_drop(check->sessions, s);
        else if (strcmp(s->peer, check->peer) == 0 && strcmp(s->name, check->name) == 0)
            newest = s;
    }
    return newest;
}

void tls_session_offer(SSL *ssl, struct tls_check *check)
{
    struct tls_session *s = session_find(check);
    if (!s)
        return;
    check->good_until_us = s->good_until_us;
    SSL_set_session(ssl, s->session); /* takes a reference; a failure (out of memory) is harmless */
    session_drop(check->sessions, s);
}

void tls_session_spare(SSL *ssl)
{
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}
