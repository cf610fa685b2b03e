/*
 * event_channel.c - calls each consumer in turn, and counts those that hold the watch.
 *
 * Normal path: event_channel_init() creates a subscription of each consumer, event_channel_open()
 * announces the watch to them, then each report of the watch goes to every consumer in the order of
 * their table. Nothing here can fail.
 */
#include "daemon/watch/event_channel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"

/* The array of subscriptions ends with NULL. */
#define for_each_subscription(s, channel) \
    for (struct event_subscription *const *at_ = (channel)->subscriptions, *s; (s = *at_); at_++)

/* ---- consumers ---- */

void event_consumers_init(struct event_consumers *consumers)
{
    *consumers = (struct event_consumers){.count = 0};
    list_init(&consumers->channels);
}

void event_consumers_add(struct event_consumers *consumers, struct event_consumer *consumer)
{
    assert(consumers->count < EVENT_CONSUMERS_MAX && list_empty(&consumers->channels));
    consumers->items[consumers->count++] = consumer;
}

void event_consumers_flush(struct event_consumers *consumers)
{
    for (size_t i = 0; i < consumers->count; i++)
        if (consumers->items[i]->ops->batch_end)
            consumers->items[i]->ops->batch_end(consumers->items[i]);
}

/* ---- life ---- */

void event_channel_init(struct event_channel *channel, struct event_consumers *consumers)
{
    channel->consumers = consumers;
    list_init(&channel->node);
    for (size_t i = 0; i < consumers->count; i++) {
        struct event_consumer *consumer = consumers->items[i];
        size_t size = consumer->ops->watch_size;
        struct event_subscription *s = xcalloc(1, size ? size : sizeof(*s));
        *s = (struct event_subscription){consumer, channel, &channel->info, false};
        channel->subscriptions[i] = s;
    }
}

void event_channel_open(struct event_channel *channel)
{
    list_push(&channel->consumers->channels, &channel->node);
    for_each_subscription(s, channel)
        if (s->consumer->ops->watch_added)
            s->consumer->ops->watch_added(s);
}

void event_channel_replace(struct event_channel *channel, const struct event_channel *old)
{
    for (size_t i = 0; i < channel->consumers->count; i++) {
        struct event_subscription *s = channel->subscriptions[i];
        if (s->consumer->ops->watch_replaces)
            s->consumer->ops->watch_replaces(s, old->subscriptions[i]);
    }
}

void event_channel_close(struct event_channel *channel)
{
    bool open = !list_empty(&channel->node);
    list_remove(&channel->node);
    for (size_t i = 0; channel->subscriptions[i]; i++) {
        struct event_subscription *s = channel->subscriptions[i];
        if (open && s->consumer->ops->watch_removed)
            s->consumer->ops->watch_removed(s);
        free(s);
        channel->subscriptions[i] = NULL;
    }
}

const struct event_subscription *event_channel_find(const struct event_channel *channel,
                                                    const struct event_consumer_ops *ops)
{
    for_each_subscription(s, channel)
        if (s->consumer->ops == ops)
            return s;
    return NULL;
}

/* ---- holding ---- */

bool event_channel_is_held(const struct event_channel *channel)
{
    return channel->holders > 0;
}

void event_subscription_hold(struct event_subscription *subscription, bool hold)
{
    struct event_channel *channel = subscription->channel;
    bool was_held = event_channel_is_held(channel);
    if (subscription->holds == hold)
        return;
    subscription->holds = hold;
    channel->holders += hold ? 1 : (size_t)-1;
    if (event_channel_is_held(channel) != was_held)
        channel->on_hold(channel, hold);
}

/* ---- reports ---- */

void event_channel_event(struct event_channel *channel, const struct inf_event *event,
                         const char *reason)
{
    for_each_subscription(s, channel)
        if (s->consumer->ops->event)
            s->consumer->ops->event(s, event, reason);
}

void event_channel_gap(struct event_channel *channel, const char *ns, const struct inf_gap *gap)
{
    for_each_subscription(s, channel)
        if (s->consumer->ops->gap)
            s->consumer->ops->gap(s, ns, gap);
}

void event_channel_position(struct event_channel *channel, const char *stream, const char *version)
{
    for_each_subscription(s, channel)
        if (s->consumer->ops->position)
            s->consumer->ops->position(s, stream, version);
}

void event_channel_freshness(struct event_channel *channel, const char *ns,
                             const struct inf_freshness *freshness)
{
    for_each_subscription(s, channel)
        if (s->consumer->ops->freshness)
            s->consumer->ops->freshness(s, ns, freshness);
}

void event_channel_synced(struct event_channel *channel, size_t objects, const char *version)
{
    for_each_subscription(s, channel)
        if (s->consumer->ops->synced)
            s->consumer->ops->synced(s, objects, version);
}

void event_channel_restarted(struct event_channel *channel, const char *why)
{
    for_each_subscription(s, channel)
        if (s->consumer->ops->restarted)
            s->consumer->ops->restarted(s, why);
}
