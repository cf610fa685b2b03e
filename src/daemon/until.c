/*
 * until.c - checks the condition of `--until` after each event.
 *
 * Normal path: an event of an object for which the condition holds ends the command, from a task,
 * because consumers may not close watches. For `all`, and for `delete` without objects, the caches are
 * walked after each batch of events, when all watches are synced; the walk ends at the first object for
 * which the condition does not hold. The records of the events are written before the exit.
 */
#include "daemon/until.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/journal/filter.h"
#include "daemon/rule/until_condition.h"
#include "daemon/watch/watcher.h"

struct until {
    struct event_consumer consumer;
    struct daemon *d;
    struct until_options options;
    struct until_condition condition;
    struct filter *names; /* NULL: no condition is given */
    struct task check;
    bool met;
};

static bool object_counts(const struct until *u, const struct inf_object *object)
{
    return filter_accepts_name(u->names, inf_object_name(object));
}

/* ---- all objects ---- */

struct until_count {
    size_t objects;
    size_t holding;
};

/* Counts the objects of a stream. Stops at an object for which the condition does not hold. */
static void count_objects(const struct until *u, const struct inf_store *store,
                          struct until_count *count)
{
    struct inf_cursor cursor = {0};
    const struct inf_object *object;
    while (count->objects == count->holding && (object = inf_store_next(store, &cursor))) {
        if (!object_counts(u, object))
            continue;
        count->objects++;
        count->holding +=
            u->condition.kind == UNTIL_CREATED ||
            (u->condition.kind == UNTIL_HOLDS && condition_holds(u->condition.condition, object));
    }
    inf_cursor_end(&cursor);
}

static bool all_hold(const struct until *u)
{
    size_t objects = 0;
    list_for_each(node, &u->d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        struct until_count count = {0};
        if (!w->synced)
            return false;
        list_for_each(stream_node, &w->streams) {
            const struct watch_stream *stream =
                container_of(stream_node, struct watch_stream, node);
            if (stream->informer)
                count_objects(u, inf_informer_store(stream->informer), &count);
        }
        if (count.objects > count.holding)
            return false;
        if (u->options.named && !count.objects && u->condition.kind != UNTIL_DELETED)
            return false;
        objects += count.objects;
    }
    return objects || u->condition.kind == UNTIL_DELETED;
}

static void until_check(struct task *task)
{
    struct until *u = container_of(task, struct until, check);
    bool walk = u->options.all || u->condition.kind == UNTIL_DELETED;
    if (u->met || (walk && all_hold(u)))
        daemon_stop(u->d, "the condition of --until holds");
}

/* ---- events ---- */

static void until_schedule(struct until *u)
{
    task_schedule(&u->d->loop.clock, &u->check);
}

static bool is_met_by(const struct until *u, const struct inf_event *event)
{
    switch (u->condition.kind) {
    case UNTIL_HOLDS:
        return event->new_object && condition_holds(u->condition.condition, event->new_object);
    case UNTIL_CREATED: return event->verb == INF_ADDED;
    case UNTIL_DELETED: return event->verb == INF_DELETED;
    }
    return false;
}

static void until_event(struct event_subscription *s, const struct inf_event *event,
                        const char *reason)
{
    struct until *u = container_of(s->consumer, struct until, consumer);
    (void)reason;
    if (!u->names || event->origin == INF_RESYNC)
        return;
    if (!u->options.all && !u->met && object_counts(u, inf_event_object(event)))
        u->met = is_met_by(u, event);
    until_schedule(u);
}

static void until_synced(struct event_subscription *s, size_t objects, const char *version)
{
    struct until *u = container_of(s->consumer, struct until, consumer);
    (void)objects;
    (void)version;
    if (u->names)
        until_schedule(u);
}

/* ---- life ---- */

static struct event_consumer *until_open(struct daemon *d)
{
    struct until *u = NEW(struct until);
    u->consumer.ops = &until_consumer;
    u->d = d;
    u->options = d->options.until;
    task_init(&u->check, PHASE_PUMP, until_check);
    if (u->options.text) { /* both were checked with the command line */
        until_condition_parse(u->options.text, &u->condition, NULL);
        u->names = filter_make(
            &(struct filter_settings){.names = u->options.names, .n_names = u->options.n_names},
            NULL);
    }
    return &u->consumer;
}

static void until_close(struct event_consumer *consumer)
{
    struct until *u = container_of(consumer, struct until, consumer);
    task_cancel(&u->check);
    until_condition_free(&u->condition);
    filter_free(u->names);
    free(u);
}

const struct event_consumer_ops until_consumer = {
    .name = "until",
    .open = until_open,
    .close = until_close,
    .event = until_event,
    .synced = until_synced,
};
