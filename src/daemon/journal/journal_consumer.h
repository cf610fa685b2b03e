/*
 * journal_consumer.h - the journal as a consumer of events.
 */
#ifndef DAEMON_JOURNAL_CONSUMER_H
#define DAEMON_JOURNAL_CONSUMER_H

#include "daemon/journal/journal.h"
#include "daemon/watch/event_channel.h"

extern const struct event_consumer_ops journal_consumer;

/* The counters of the journal for the watch of @channel. */
const struct journal_watch *journal_consumer_watch(const struct event_channel *channel);

#endif
