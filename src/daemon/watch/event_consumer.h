/*
 * event_consumer.h - the interface of everything that receives the events of watches.
 *
 *     informer ──> watch_stream ──> event_channel, one for each watch ──> each consumer
 *
 * A consumer is one file with a struct event_consumer_ops, and one row in the table of consumers.c.
 * It gets the events of all watches, in the order in which the watches deliver them. A consumer that
 * can't keep up holds a watch (event_subscription_hold()): its streams stop until no consumer
 * holds it, and nothing is lost meanwhile.
 *
 * All calls come from the loop and have to return soon. No consumer may close or change a watch in
 * one of them.
 */
#ifndef DAEMON_WATCH_EVENT_CONSUMER_H
#define DAEMON_WATCH_EVENT_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/event.h"
#include "informer/informer.h"

#include "daemon/watch/watch_id.h"

struct daemon;
struct event_channel;
struct event_subscription;
struct noise;

/* A watch as consumers see it. */
struct watch_info {
    struct watch_id id;
    bool ignore_heartbeats; /* the option `ignore` */
    bool ignore_unchanged;
    const struct noise *noise; /* what else it ignores; NULL: nothing */
    const char *
        stream; /* the stream of the event that is delivered: its namespace and a digest of what it selects */
    const char *cache_version; /* the resource version of the copy then */
    bool resumed; /* it continues with the objects of an earlier run, at least in one namespace */
};

/* Embedded in the consumer's own struct. */
struct event_consumer {
    const struct event_consumer_ops *ops;
};

/* What a consumer keeps about one watch. A consumer that needs more embeds this as the first member
 * of its own struct, whose size is `watch_size`. */
struct event_subscription {
    struct event_consumer *consumer;
    struct event_channel *channel;
    const struct watch_info *watch;
    bool holds; /* see event_subscription_hold() */
};

/* Only `name` and `open` are required; the others may be NULL. */
struct event_consumer_ops {
    const char *name;
    struct event_consumer *(*open)(struct daemon *d);
    /* After all watches were removed. */
    void (*close)(struct event_consumer *consumer);

    size_t watch_size; /* 0: that of struct event_subscription */
    /* @subscription is zeroed apart from its first member, and may be held at once. */
    void (*watch_added)(struct event_subscription *subscription);
    void (*watch_removed)(struct event_subscription *subscription);
    /* Before watch_added(): the watch continues the counters of @old, which is removed next. */
    void (*watch_replaces)(struct event_subscription *subscription,
                           const struct event_subscription *old);

    /* @reason says why an object is reported as deleted ("deleted", SELECTION_LEFT ...); NULL: it is
     * decided from the object. */
    void (*event)(struct event_subscription *subscription, const struct inf_event *event,
                  const char *reason);
    /* @ns is the namespace of the stream; NULL: all namespaces of the watch. */
    void (*gap)(struct event_subscription *subscription, const char *ns, const struct inf_gap *gap);
    /* Everything of @stream (see struct watch_info) up to @version was delivered. NULL: the server has returned to an
     * older state, whose versions can't be compared with those of before. */
    void (*position)(struct event_subscription *subscription, const char *stream,
                     const char *version);
    void (*freshness)(struct event_subscription *subscription, const char *ns,
                      const struct inf_freshness *freshness);
    /* Once for each watch. @version NULL: several streams have no common version. */
    void (*synced)(struct event_subscription *subscription, size_t objects, const char *version);
    /* The watch replaces an earlier one of the same name without reporting the differences. */
    void (*restarted)(struct event_subscription *subscription, const char *why);

    /* The events of one iteration were delivered. */
    void (*batch_end)(struct event_consumer *consumer);
};

/* Holds the watch, or releases it. It is held while any consumer holds it. */
void event_subscription_hold(struct event_subscription *subscription, bool hold);

#endif
