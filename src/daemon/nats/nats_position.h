/*
 * nats_position.h - where a record stands in the history of an object, and the last message of subjects.
 *
 * Each subject has the messages of one name of one resource. Before a record is published, its position is compared with
 * that of the last message of its subject, which perhaps another informerd has published, or this one before it was
 * killed. The server publishes it only if that message is still the last one (Nats-Expected-Last-Subject-Sequence). So a
 * change is stored once and in order, however many informerd publish it, and how often.
 *
 *     last message        record                       published if
 *     of the same log     any                          its sequence number is higher: it was published by this informerd
 *     same uid, DELETED   ADDED                        its version is newer: it was selected again
 *     same uid, DELETED   MODIFIED, DELETED            never: the object is gone; another informerd has found that out first
 *     same uid            DELETED found by a relist    always: its version is that of the last state that was seen
 *     same uid            otherwise                    its version is newer
 *     another uid         any                          its version is newer: an object with the same name was made again
 *
 * Versions that are not numbers can't be compared: such a record is always published.
 */
#ifndef DAEMON_NATS_NATS_POSITION_H
#define DAEMON_NATS_NATS_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/event.h"

#include "base/siphash.h"
#include "base/str.h"

enum {
    NATS_LAST_ENTRIES =
        1 << 16, /* LIMIT: subjects whose last message is remembered; a power of two */
};

/* Names are kept as hashes. */
struct nats_position {
    uint64_t log, seq;
    uint64_t resource; /* with its group */
    uint64_t uid;
    uint64_t version; /* 0: not a number */
    enum inf_verb verb;
    bool final; /* see struct inf_event; of messages: unknown */
};

/* The version as a number, 0: it is none. */
uint64_t nats_version_read(struct str text);

/* Whether @record is newer than @last, the last message of its subject. */
bool nats_position_is_newer(const struct nats_position *record, const struct nats_position *last);

/* ---- the last messages ---- */

struct nats_last_entry {
    uint64_t subject; /* a hash; 0: unused */
    uint64_t seq;     /* in the stream */
    struct nats_position position;
};

/* What is known; a subject may be forgotten at any time, then the server is asked. */
struct nats_last {
    struct siphash_key key;
    struct nats_last_entry *entries;
};

void nats_last_init(struct nats_last *last, const struct siphash_key *key);
void nats_last_free(struct nats_last *last);

uint64_t nats_last_hash(const struct nats_last *last, struct str text);

/* NULL: unknown. Valid until the next change. */
const struct nats_last_entry *nats_last_find(const struct nats_last *last, uint64_t subject);

void nats_last_put(struct nats_last *last, uint64_t subject, uint64_t seq,
                   const struct nats_position *position);
void nats_last_forget(struct nats_last *last, uint64_t subject);

/* Another stream is used from now on. */
void nats_last_clear(struct nats_last *last);

#endif
