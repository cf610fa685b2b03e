/*
 * kafka_conf.h - the command line of informerd-kafka, and the properties of librdkafka that follow from it.
 */
#ifndef KAFKA_KAFKA_CONF_H
#define KAFKA_KAFKA_CONF_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "informer/error.h"

#include "daemon/cli/command.h"

enum {
    KAFKA_VALUE_MIN = 2048, /* the identity of a record has room in it */
};

struct kafka_options {
    const char *socket; /* NULL: the default of informerctl */
    const char *handler;
    const char *brokers;
    const char *topic;
    const char *key; /* "uid", "name" or NULL */
    bool compact;
    struct flag_values properties;
    const char *properties_file;
};

/* The properties: our defaults, then the file, then --brokers and --property. Returns NULL with the error: it names the
 * property and where it is from, never a value of the file. The caller frees it or passes it to rd_kafka_new(). */
rd_kafka_conf_t *kafka_conf_make(const struct kafka_options *options, struct inf_error *err);

/* Lowers batch.size to @bytes, which are at least 1. A larger message is a batch of its own. */
void kafka_conf_limit_batch(rd_kafka_conf_t *conf, size_t bytes);

/* The value of message.max.bytes, less the size of headers and framing. */
size_t kafka_conf_value_max(const rd_kafka_conf_t *conf);

#endif
