/*
 * tls_internal.h - shared by the tls*.c files; not for other files.
 *
 * OpenSSL's types appear by their struct names, so that only the tls*.c files include its headers.
 *
 *     tls_context.c   credentials: one SSL_CTX per set
 *     tls_server.c    the same for servers
 *     tls_bio.c       OpenSSL's reads and writes on our buffers
 *     tls_check.c     verification of the server, and error texts
 *     tls_session.c   session resumption
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
#include "wire/tls/tls_context.h"

struct bio_method_st;
struct bio_st;
struct ssl_ctx_st;
struct stream;
struct ssl_session_st;
struct ssl_st;
struct x509_store_ctx_st;

#define TLS_PROTOCOL "http/1.1" /* its ALPN name */

enum {
    TLS_RECORD_MAX = 16384, /* plaintext in one record, by RFC 8446 */
    TLS_FIRST = 5,          /* bytes of the peer's first message, to recognize its protocol */
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
    /* The buffer for a decrypted record. One for all streams: it is used only within one call. */
    char record[TLS_RECORD_MAX];
};

/* The text of the last OpenSSL error. */
const char *tls_reason(void);

/* --- tls_context.c ---------------------------------------------------------------------------- */

/* Everything but the SSL_CTX; `bio_method` is NULL if there is not enough memory. */
struct tls_context *tls_context_new_empty(void);

/* Sets our certificate, its chain and its key; both NULL: none. */
int tls_context_set_identity(struct ssl_ctx_st *ctx, const struct tls_settings *settings,
                             struct inf_error *err);

/* --- tls_bio.c -------------------------------------------------------------------------------- */

/* The data of OpenSSL's socket. */
struct tls_wire {
    const char *in; /* ciphertext of the current on_bytes call, borrowed; NULL between calls */
    size_t in_len;
    size_t in_taken;
    struct buf out;        /* output of OpenSSL */
    struct stream *direct; /* not NULL: it is sent there instead, without a copy */
    bool all_sent;         /* since `direct` was set */
    char first[TLS_FIRST];
    size_t n_first;
};

struct bio_method_st *tls_bio_method_new(void);
struct bio_st *tls_bio_new(const struct bio_method_st *method, struct tls_wire *wire);

/* --- tls_check.c ------------------------------------------------------------------------------ */

/* The verification of one server and its result. The app data of every SSL. */
struct tls_check {
    const char *peer;              /* host:port, for messages */
    char *name;                    /* the expected name; not changed (OpenSSL lacks a const) */
    struct tls_sessions *sessions; /* the context's */
    int64_t begun_us;              /* wall clock at the start: the time of verification */
    int64_t good_until_us;         /* expiry of the verification of the offered session */
    bool cert_missing;             /* the server requested a client certificate and we have none */
    struct inf_error why;          /* code 0: certificate and protocol are valid so far */
};

/* Sets the name or address to verify, the time of verification, and SNI. */
int tls_check_init(struct ssl_st *ssl, struct tls_check *check, struct inf_error *err);

/* Callbacks for the SSL_CTX: verification of a certificate, and a request for a client
 * certificate. */
int tls_check_verify(int ok, struct x509_store_ctx_st *store);
int tls_check_on_cert_request(struct ssl_st *ssl, void *unused);

/* Describes the failure of the last OpenSSL call. */
void tls_check_explain(const struct tls_check *check, const struct tls_wire *wire,
                       struct inf_error *ret_why);

/* --- tls_session.c ---------------------------------------------------------------------------- */

void tls_sessions_init(struct tls_sessions *sessions);
void tls_sessions_free(struct tls_sessions *sessions);

/* Before the handshake: offers the newest session that is valid for @check, if any. */
void tls_session_offer(struct ssl_st *ssl, struct tls_check *check);

/* Callback for the SSL_CTX: a new session arrived. Returns 1 if it was kept, with the caller's
 * reference. */
int tls_session_on_new(struct ssl_st *ssl, struct ssl_session_st *session);

/* After the handshake: stores a resumed session again if it can be reused (TLS 1.2). */
void tls_session_store_reusable(struct ssl_st *ssl);

/* Keeps the sessions of a connection that ended without our close_notify, but not by a TLS failure.
 * OpenSSL would drop them. */
void tls_session_spare(struct ssl_st *ssl);

#endif
