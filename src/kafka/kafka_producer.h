/*
 * kafka_producer.h - sends messages with librdkafka and reports how many of the first ones are delivered.
 *
 *     producer = kafka_producer_new(&options, &err)
 *     kafka_producer_send(producer, &message, &err)     any number; each gets the next number, from 1
 *     poll kafka_producer_fd(), then kafka_producer_serve()
 *     kafka_producer_delivered()                        all messages up to this number are in Kafka
 *     kafka_producer_failure()                          a message can't be delivered: start again with a new producer
 *
 * Messages with the same key are delivered in the order in which they were sent. Problems that may end by themselves are
 * logged, with a remedy, once until they end; librdkafka reconnects.
 */
#ifndef KAFKA_KAFKA_PRODUCER_H
#define KAFKA_KAFKA_PRODUCER_H

#include <stdint.h>

#include "kafka/kafka_conf.h"
#include "kafka/kafka_message.h"

enum {
    KAFKA_FLIGHT_MAX =
        16 * 1024, /* LIMIT: messages that are not delivered; informerd sends about 4096 */
};

struct kafka_producer;

struct kafka_refused {
    size_t messages, bytes, largest; /* of their values; 0: none was refused */
};

/* @batch_max: bytes of a batch of several messages; 0: batch.size. Fails with INF_ECONF. */
struct kafka_producer *kafka_producer_new(const struct kafka_options *options, size_t batch_max,
                                          struct inf_error *err);

/* Messages that are not delivered are dropped. NULL is allowed. */
void kafka_producer_free(struct kafka_producer *producer);

/* Becomes readable when there is something to serve. */
int kafka_producer_fd(const struct kafka_producer *producer);
void kafka_producer_serve(struct kafka_producer *producer);

/* Returns 0, or an error after which a new producer is needed. */
int kafka_producer_send(struct kafka_producer *producer, const struct kafka_message *message,
                        struct inf_error *err);

uint64_t kafka_producer_sent(const struct kafka_producer *producer);
uint64_t kafka_producer_delivered(const struct kafka_producer *producer);

/* Sends everything at once and waits for the reports, at most @ms. */
void kafka_producer_flush(struct kafka_producer *producer, int ms);

/* NULL: none. */
const char *kafka_producer_failure(const struct kafka_producer *producer);

/* Bytes of a value above which a message is refused. */
size_t kafka_producer_value_max(const struct kafka_producer *producer);

/* What was refused because of its size. A broker compares that of a whole batch, so small messages can be among them. */
const struct kafka_refused *kafka_producer_refused(const struct kafka_producer *producer);

/* Writes a line to stderr. */
__attribute__((format(printf, 2, 3))) void kafka_log(const char *level, const char *fmt, ...);

#endif
