/*
 * tls_internal.h - what the files of TLS share among themselves; nobody else includes it.
 *
 * OpenSSL's types appear by their struct names, so that only the tls*.c files include its headers.
 *
 *     tls_context.c   whom to trust and who we are: one SSL_CTX per set of credentials
 *     tls_bio.c       OpenSSL's reads and writes, turned into our bytes in hand
 *     tls_check.c     is this the server we meant? and every refusal in words
 *     tls_session.c   what a connection leaves for the next one, and when that may be used
 *     tls.c           the filter
 */
#ifndef WIRE_TLS_INTERNAL_H
#define WIRE_TLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/list.h"

struct bio_method_st;
struct bio_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;
struct x509_store_ctx_st;

#define TLS_PROTOCOL "http/1.1" /* as ALPN calls it */

enum {
    TLS_RECORD_MAX = 16384, /* plaintext in one record, by RFC 8446 */
    TLS_FIRST = 5,          /* enough of what a peer said first to tell what it speaks */
};

struct tls_sessions {
    struct list list; /* of struct tls_session, newest last */
    size_t count;
};

struct tls_context {
    unsigned refs;
    struct ssl_ctx_st *ssl_ctx;
    struct bio_method_st *bio_method;
    struct tls_sessions sessions;
    /* Where a record is decrypted to before it goes up. One for all streams: it is in use only
     * within one call. */
    char record[TLS_RECORD_MAX];
};

/* The last OpenSSL error in words. */
const char *tls_reason(void);

/* --- tls_bio.c -------------------------------------------------------------------------------- */

/* What OpenSSL sees as its socket. */
struct tls_wire {
    const char
        *in; /* ciphertext in hand; borrowed from whoever called on_bytes, NULL between calls */
    size_t in_len;
    size_t in_taken;
    struct buf out; /* what OpenSSL wants sent */
    char first[TLS_FIRST];
    size_t n_first;
};

struct bio_method_st *tls_bio_method_new(void);
struct bio_st *tls_bio_new(const struct bio_method_st *method, struct tls_wire *wire);

/* --- tls_check.c ------------------------------------------------------------------------------ */

/* The check of one server, and what came of it. Every SSL carries one as its app data. */
struct tls_check {
    const char *peer; /* host:port, for texts */
    char *name; /* what the certificate has to be good for; not changed (OpenSSL lacks a const) */
    struct tls_sessions *sessions; /* the context's */
    int64_t begun_us;              /* wall clock at the beginning: certificates are good then */
    int64_t good_until_us; /* of the session that was offered: until when its check may stand */
    bool cert_missing;     /* the server asked for a client certificate and we have none */
    struct inf_error why;  /* code 0 until the certificate or the protocol was found wanting */
};

/* Tells OpenSSL which name or address to check at which time, and names the server (SNI). */
int tls_check_init(struct ssl_st *ssl, struct tls_check *check, struct inf_error *err);

/* Callbacks for the SSL_CTX: the verdict over each certificate, and "the server asks who we are".
 */
int tls_check_verify(int ok, struct x509_store_ctx_st *store);
int tls_check_cert_asked(struct ssl_st *ssl, void *unused);

/* After a call to OpenSSL failed: why, in words. */
void tls_check_explain(const struct tls_check *check, const struct tls_wire *wire,
                       struct inf_error *ret_why);

/* --- tls_session.c ---------------------------------------------------------------------------- */

void tls_sessions_init(struct tls_sessions *sessions);
void tls_sessions_free(struct tls_sessions *sessions);

/* Before the handshake: offers the newest session that may still stand for @check, if there is one.
 */
void tls_session_offer(struct ssl_st *ssl, struct tls_check *check);

/* Callback for the SSL_CTX: a session has come. 1: kept, with the caller's reference. */
int tls_session_on_new(struct ssl_st *ssl, struct ssl_session_st *session);

/* After the handshake: a session that worked, and works again, is put back. */
void tls_session_worked(struct ssl_st *ssl);

/* The connection ended without our close_notify, but not for a failure of TLS: its sessions are
 * still good. OpenSSL would drop them. */
void tls_session_spare(struct ssl_st *ssl);

#endif
