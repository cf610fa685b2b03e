/*
 * nats_conn.h - one connection to a NATS server: greeting, TLS, CONNECT, publishing, and replies to an inbox.
 *
 *     conn = nats_conn_open(clock, &settings, &user);        on_ready() follows, or on_end()
 *     nats_conn_publish(conn, subject, id, headers, payload) a reply to it arrives as on_reply(id)
 *     nats_conn_close(conn)                                  exactly once
 *
 * Normal path: the server sends INFO, TLS is established (tls://), CONNECT and a subscription to the inbox are sent, and
 * PONG confirms that the credentials are accepted. What is published in a tick is sent in one write at its end.
 *
 * Failures are reported by on_end(), once: a peer that is no NATS server, an error of the server other than missing
 * permissions, no PONG, or the end of the connection. Errors name the server; they may repeat what it sent, cut and
 * without control characters.
 */
#ifndef WIRE_NATS_CONN_H
#define WIRE_NATS_CONN_H

#include "seam/clock.h"
#include "seam/stream.h"
#include "wire/nats/nats_credentials.h"
#include "wire/nats/nats_info.h"
#include "wire/nats/nats_parser.h"
#include "wire/tls/tls_context.h"

enum {
    NATS_PING_MS = 20 * 1000, /* between two PINGs; the PONG must arrive before the next one */
    NATS_QUOTE_MAX = 3000,    /* LIMIT: bytes of the server's text in an error */
};

struct nats_conn;
struct nats_user;

struct nats_user_ops {
    /* Publishing may begin. Also called when the server has sent another INFO later. */
    void (*on_ready)(struct nats_user *user, const struct nats_info *info);
    /* Valid during the call. */
    void (*on_reply)(struct nats_user *user, uint64_t id, const struct nats_message *message);
    /* The server permits something not; the connection continues. "Permissions Violation for Publish to ..." */
    void (*on_refused)(struct nats_user *user, struct str text);
    /* All that was published was sent. */
    void (*on_drain)(struct nats_user *user);
    /* The connection is unusable; the user must still close it. */
    void (*on_end)(struct nats_user *user, const struct inf_error *why);
};

struct nats_user {
    const struct nats_user_ops *ops;
};

/* All of it must outlive the connection. */
struct nats_settings {
    struct dialer *dialer; /* TCP */
    const char *host;
    uint16_t port;
    struct tls_context *context; /* NULL: without TLS */
    bool tls_first;              /* TLS begins before INFO */
    const struct nats_credentials *credentials;
    const char *client;  /* the name of this connection for the server's administrator */
    const char *version; /* of the client */
    const char *inbox;   /* replies arrive at INBOX.ID; no other client has it */
    uint64_t timeout_ms; /* until it is ready */
};

struct nats_conn *nats_conn_open(struct clock *clock, const struct nats_settings *settings,
                                 struct nats_user *user);

/* @headers: lines with their ends, without "NATS/1.0" and the empty line; empty: none. */
void nats_conn_publish(struct nats_conn *conn, const char *subject, uint64_t id, struct str headers,
                       struct str payload);

/* Bytes that were published and not sent. */
size_t nats_conn_unsent(const struct nats_conn *conn);

/* No callback follows. May be called in any callback. NULL is allowed. */
void nats_conn_close(struct nats_conn *conn);

#endif
