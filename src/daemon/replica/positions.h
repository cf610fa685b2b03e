/*
 * positions.h - the text in which the leader publishes its positions, an annotation of the Lease: up to which resource
 * version each handler has delivered each stream.
 *
 *     alerts<TAB>prod<TAB>pods<TAB>* 5d1c22f0<TAB>81205
 *     <TAB><TAB>nodes<TAB>* 00c1a9e2<TAB>81199
 *
 * A line is handler, cluster, watch, stream and version. A field among the first three that is empty is that
 * of the line before: a namespace takes about 35 bytes, and INF_LEASE_NOTE_MAX is enough for 5,000 of them.
 */
#ifndef DAEMON_REPLICA_POSITIONS_H
#define DAEMON_REPLICA_POSITIONS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"

struct handlers;

/* What the handlers have delivered, also after some of them were stopped. */
struct positions {
    struct list parts; /* of struct positions_part: the lines of a handler */
};

void positions_init(struct positions *positions);
void positions_free(struct positions *positions);

/* Takes the positions of all handlers that exist. With @drop, those of others are removed. */
void positions_take(struct positions *positions, struct handlers *handlers, bool drop);

/* Adds the text to @out, without NUL. */
void positions_put(const struct positions *positions, struct buf *out);

/* @key is that of a track (handler_track.h). */
typedef void positions_fn(void *ctx, const char *handler, const char *key, uint64_t version);

/* Calls @each for each position of @text. Lines that can't be read are ignored. */
void positions_read(const char *text, positions_fn *each, void *ctx);

/* Gives each position of @text to its handler; handlers that do not exist here are ignored. */
void positions_publish(const char *text, struct handlers *handlers);

#endif
