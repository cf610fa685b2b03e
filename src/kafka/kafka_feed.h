/*
 * kafka_feed.h - the records of a handler with `client: true`, over the Unix socket of informerd: one connection for the
 * stream, another one for acknowledgements (informerd(8), LOCAL API).
 */
#ifndef KAFKA_KAFKA_FEED_H
#define KAFKA_KAFKA_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/str.h"

struct kafka_feed;

/* Takes a record without its newline. Returns 0, or an error, which ends kafka_feed_read(). */
struct kafka_feed_user {
    int (*on_record)(struct kafka_feed_user *user, struct str line, struct inf_error *err);
};

/* Connects and requests the stream. @socket (NULL: the default) and @handler are not copied. */
int kafka_feed_open(const char *socket, const char *handler, struct kafka_feed **ret,
                    struct inf_error *err);
void kafka_feed_close(struct kafka_feed *feed); /* NULL is allowed */

/* The two descriptors to poll for input. */
int kafka_feed_stream_fd(const struct kafka_feed *feed);
int kafka_feed_ack_fd(const struct kafka_feed *feed);

/* Reads what has arrived on both. Returns 0, or an error: the feed must be closed. */
int kafka_feed_read(struct kafka_feed *feed, struct kafka_feed_user *user, struct inf_error *err);

/* The first @records records are processed. Waits for nothing: while an acknowledgement is on its way, the next one is sent after
 * it. */
int kafka_feed_acknowledge(struct kafka_feed *feed, uint64_t records, struct inf_error *err);

/* What informerd has confirmed. */
uint64_t kafka_feed_acknowledged(const struct kafka_feed *feed);

#endif
