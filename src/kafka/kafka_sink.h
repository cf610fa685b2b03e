/*
 * kafka_sink.h - moves records from informerd to Kafka until the process is asked to stop.
 *
 *                connected               error of either side
 *     waiting ────────────> running ──────────────────────> waiting ...
 *        ^                     │ TERM                 back-off
 *        └── start             └──────> draining ──> end
 *
 * A session is one connection to informerd and one producer. Everything that goes wrong ends the session; the next one gets all
 * records that were not acknowledged, in order. So each record is in Kafka at least once.
 */
#ifndef KAFKA_KAFKA_SINK_H
#define KAFKA_KAFKA_SINK_H

#include "kafka/kafka_conf.h"

/* Returns the exit code: 0 after TERM or INT, or that of an error of the configuration, which it prints. */
int kafka_sink_run(const struct kafka_options *options);

#endif
