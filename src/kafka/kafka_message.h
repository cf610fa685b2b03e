/*
 * kafka_message.h - what a record becomes in Kafka: topic, key, value and headers.
 *
 * Topic templates contain {cluster}, {watch}, {group}, {resource}, {kind} and {namespace}; the characters that a topic
 * can't have become '_', and an empty value is '_'.
 */
#ifndef KAFKA_KAFKA_MESSAGE_H
#define KAFKA_KAFKA_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/str.h"

enum {
    KAFKA_TOPIC_MAX = 249, /* LIMIT of Kafka: longer names are cut */
    KAFKA_HEADERS = 6,
};

struct kafka_message_options {
    const char *topic; /* a template */
    bool compact;      /* the value is the object, and none for DELETED */
    bool key_is_name;  /* the key is cluster/resource/namespace/name instead of the uid */
};

struct kafka_header {
    const char *name;
    char *value; /* NULL: not sent */
};

struct kafka_message {
    char *topic;
    char *key;
    struct str value; /* in the record or in `shortened`; at NULL: a tombstone */
    struct buf shortened;
    bool is_shortened;
    struct kafka_header headers[KAFKA_HEADERS];
};

/* Checks a template. Returns 0, or -INF_ECONF with the remedy. */
int kafka_topic_check(const char *topic, struct inf_error *err);

/*
 * Makes the message of @line, a record without its newline, which must outlive it; the caller frees it. A value of more than @limit bytes
 * is shortened by record_shorten(). Returns 0; -INF_EPROTO if it is no record of a change;
 * or -INF_ECONF if the record has no object, which `compact` needs.
 */
int kafka_message_make(const struct kafka_message_options *options, struct str line, size_t limit,
                       struct kafka_message *ret, struct inf_error *err);
void kafka_message_free(struct kafka_message *message);

#endif
