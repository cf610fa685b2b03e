/*
 * journal_consumer.c - passes the events of watches to the journal.
 *
 * The journal belongs to the daemon, which opens it, drains it at the end and closes it. A full
 * event log holds the watches that write to it.
 */
#include "daemon/journal/journal_consumer.h"

#include "base/base.h"
#include "daemon/daemon.h"

struct journal_subscription {
    struct event_subscription subscription;
    struct journal_watch watch;
};

static struct journal *journal_of(const struct event_subscription *s)
{
    return container_of(s->consumer, struct journal, consumer);
}

static struct journal_watch *watch_of(const struct event_subscription *s)
{
    return &container_of(s, struct journal_subscription, subscription)->watch;
}

static struct event_consumer *journal_consumer_open(struct daemon *d)
{
    d->journal.consumer.ops = &journal_consumer;
    return &d->journal.consumer;
}

static void on_hold(struct journal_watch *watch, bool hold)
{
    struct journal_subscription *s = container_of(watch, struct journal_subscription, watch);
    event_subscription_hold(&s->subscription, hold);
}

static void watch_added(struct event_subscription *s)
{
    struct journal_watch *watch = watch_of(s);
    watch->info = s->watch;
    watch->on_hold = on_hold;
    journal_watch_add(journal_of(s), watch);
}

static void watch_removed(struct event_subscription *s)
{
    journal_watch_remove(watch_of(s));
}

static void watch_replaces(struct event_subscription *s, const struct event_subscription *old)
{
    struct journal_watch *watch = watch_of(s);
    const struct journal_watch *before = watch_of(old);
    for (size_t i = 0; i < ARRAY_LEN(watch->events); i++)
        watch->events[i] += before->events[i];
    watch->heartbeats += before->heartbeats;
    watch->unchanged += before->unchanged;
    watch->noise += before->noise;
    watch->gaps += before->gaps;
}

static void watch_event(struct event_subscription *s, const struct inf_event *event,
                        const char *reason)
{
    journal_event(journal_of(s), watch_of(s), event, reason);
}

static void watch_gap(struct event_subscription *s, const char *ns, const struct inf_gap *gap)
{
    journal_gap(journal_of(s), watch_of(s), ns, gap);
}

static void watch_position(struct event_subscription *s, const char *stream, const char *version)
{
    journal_position(journal_of(s), watch_of(s), stream, version);
}

static void watch_freshness(struct event_subscription *s, const char *ns,
                            const struct inf_freshness *freshness)
{
    journal_freshness(journal_of(s), watch_of(s), ns, freshness);
}

static void watch_synced(struct event_subscription *s, size_t objects, const char *version)
{
    journal_synced(journal_of(s), watch_of(s), objects, version);
}

static void watch_restarted(struct event_subscription *s, const char *why)
{
    journal_restarted(journal_of(s), watch_of(s), why);
}

static void batch_end(struct event_consumer *consumer)
{
    journal_flush(container_of(consumer, struct journal, consumer));
}

const struct event_consumer_ops journal_consumer = {
    .name = "journal",
    .open = journal_consumer_open,
    .watch_size = sizeof(struct journal_subscription),
    .watch_added = watch_added,
    .watch_removed = watch_removed,
    .watch_replaces = watch_replaces,
    .event = watch_event,
    .gap = watch_gap,
    .position = watch_position,
    .freshness = watch_freshness,
    .synced = watch_synced,
    .restarted = watch_restarted,
    .batch_end = batch_end,
};

const struct journal_watch *journal_consumer_watch(const struct event_channel *channel)
{
    return watch_of(event_channel_find(channel, &journal_consumer));
}
