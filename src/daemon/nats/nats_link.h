/*
 * nats_link.h - keeps a connection to one of the configured servers of NATS, with a stream that can be used.
 *
 *     link = nats_link_new(host, name, &conf, &user);    on_up() follows as soon as it is possible, on_down() when it is not
 *     nats_link_publish(link, ...)                   while it is up
 *     nats_link_block(link, why)                     the stream can't be used: checked again after a delay
 *     nats_link_free(link)
 *
 *     waiting ──> connecting ──> checking ──> up
 *        ^            │             │ ^        │ nats_link_block()
 *        │            │             v │        v
 *        └────────────┴───────────blocked <────┘        from everywhere: the connection ends
 *
 * Normal path: the files are read, one server after the other is tried, and the description of the stream is requested.
 * A client that has no permission for that description continues without it. Delays grow with jitter up to
 * NATS_DELAY_MAX_MS until a message was stored: nats_link_works().
 */
#ifndef DAEMON_NATS_NATS_LINK_H
#define DAEMON_NATS_NATS_LINK_H

#include "daemon/conf/conf.h"
#include "daemon/handler/handler.h"
#include "daemon/nats/jetstream.h"
#include "seam/clock.h"
#include "wire/nats/nats_conn.h"

enum {
    NATS_DELAY_MIN_MS = 500,
    NATS_DELAY_MAX_MS = 30 * 1000,
    NATS_OPEN_MS = 10 * 1000, /* until a connection is ready */
    NATS_CHECK_MS = 5 * 1000, /* for the description of the stream */
};

struct nats_link;
struct nats_link_user;

/* No callback is made in a call of the functions below. */
struct nats_link_user_ops {
    void (*on_up)(struct nats_link_user *user);
    /* It is not up, or still not. @lost: the replies to what was published do not arrive any more. The link may be
     * freed. */
    void (*on_down)(struct nats_link_user *user, bool lost, const char *why, uint64_t delay_ms);
    void (*on_reply)(struct nats_link_user *user, uint64_t id, const struct nats_message *reply);
    /* A publication was refused: "Permissions Violation for Publish to \"k8s.x\"". */
    void (*on_refused)(struct nats_link_user *user, struct str text);
    void (*on_drain)(struct nats_link_user *user);
};

struct nats_link_user {
    const struct nats_link_user_ops *ops;
};

/* @conf is copied; the others must outlive the link. @name: of the sink. */
struct nats_link *nats_link_new(struct handler_host *host, const char *name,
                                const struct conf_nats *conf, struct nats_link_user *user);
void nats_link_free(struct nats_link *link); /* NULL is allowed */

bool nats_link_is_up(const struct nats_link *link);

/* The server and the stream, for the log; valid while it is up. */
const char *nats_link_place(const struct nats_link *link);

/* Bytes of a message with its headers. */
size_t nats_link_max_message(const struct nats_link *link);

/* Only while it is up. @id is not 0. */
void nats_link_publish(struct nats_link *link, const char *subject, uint64_t id, struct str headers,
                       struct str payload);

/* Requests the last message of @subject. */
void nats_link_read_last(struct nats_link *link, const char *subject, uint64_t id);

/* Reads the reply to that; if it is not possible, the other way to read is used from now on. */
enum jetstream_found nats_link_last(struct nats_link *link, const struct nats_message *reply,
                                    const struct nats_last *last, struct jetstream_last *ret);

size_t nats_link_unsent(const struct nats_link *link);

/* Goes down without ending the connection; on_down() is called. Does nothing if it is not up. */
void nats_link_block(struct nats_link *link, const char *why);

/* A message was stored: the next delay is short. */
void nats_link_works(struct nats_link *link);

#endif
