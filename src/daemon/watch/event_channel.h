/*
 * event_channel.h - delivers what one watch reports to all consumers (event_consumer.h).
 */
#ifndef DAEMON_WATCH_EVENT_CHANNEL_H
#define DAEMON_WATCH_EVENT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "daemon/watch/event_consumer.h"

enum {
    EVENT_CONSUMERS_MAX = 16, /* LIMIT: rows in the table of consumers.c */
};

/* The consumers of all watches. */
struct event_consumers {
    struct event_consumer *items[EVENT_CONSUMERS_MAX];
    size_t count;
    struct list channels; /* of struct event_channel: the open ones */
};

void event_consumers_init(struct event_consumers *consumers);

/* Before the first channel. */
void event_consumers_add(struct event_consumers *consumers, struct event_consumer *consumer);

/* Ends a batch of all consumers. */
void event_consumers_flush(struct event_consumers *consumers);

/* Embedded in its owner, which fills in the first part. */
struct event_channel {
    struct watch_info info; /* `id.name` is not NULL */
    /* The first consumer holds the watch, or the last one releases it. */
    void (*on_hold)(struct event_channel *channel, bool hold);

    struct event_consumers *consumers;
    struct list node;                                                  /* in consumers->channels */
    struct event_subscription *subscriptions[EVENT_CONSUMERS_MAX + 1]; /* ends with NULL */
    size_t holders; /* consumers that hold the watch */
};

/* Nothing is delivered before event_channel_open(), which may hold the watch before it returns. */
void event_channel_init(struct event_channel *channel, struct event_consumers *consumers);
void event_channel_open(struct event_channel *channel);
void event_channel_close(struct event_channel *channel);

/* Before event_channel_open(): continues the counters of @old, which is closed next. */
void event_channel_replace(struct event_channel *channel, const struct event_channel *old);

bool event_channel_is_held(const struct event_channel *channel);

/* NULL: there is no such consumer. */
const struct event_subscription *event_channel_find(const struct event_channel *channel,
                                                    const struct event_consumer_ops *ops);

/* The operations of the same name of all consumers. */
void event_channel_event(struct event_channel *channel, const struct inf_event *event,
                         const char *reason);
void event_channel_gap(struct event_channel *channel, const char *ns, const struct inf_gap *gap);
void event_channel_position(struct event_channel *channel, const char *stream, const char *version);
void event_channel_freshness(struct event_channel *channel, const char *ns,
                             const struct inf_freshness *freshness);
void event_channel_synced(struct event_channel *channel, size_t objects, const char *version);
void event_channel_restarted(struct event_channel *channel, const char *why);

#endif
