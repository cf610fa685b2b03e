/*
 * consumers.h - the table of event consumers: see daemon/watch/event_consumer.h.
 */
#ifndef DAEMON_CONSUMERS_H
#define DAEMON_CONSUMERS_H

struct daemon;

/* Opens all consumers of the table and adds them to the daemon's. */
void consumers_open(struct daemon *d);

/* All watches must be closed. */
void consumers_close(struct daemon *d);

#endif
