/*
 * Core Events about objects. An event that repeats is counted in the first one; events expire an
 * hour after their last write, as in the API server.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "demo.h"

enum {
    EVENT_LIFE = 60 * MINUTE,
    SWEEP_EVERY = MINUTE,
    SAME_WITHIN = 10 * MINUTE, /* after this a repetition is a new event */
};

struct recorded_event {
    struct list node; /* in demo->events, the last written at the end */
    char ns[DEMO_NAME_SIZE];
    char name[2 * DEMO_NAME_SIZE];
    char *message;
    const char *reason;
    char uid[UUID_SIZE]; /* uid of the object */
    char first[STORE_TIME_SIZE];
    unsigned count;
    uint64_t written;
    struct managers managers;
};

static bool is_warning(const char *reason)
{
    static const char *const bad[] = {"BackOff", "Unhealthy", "FailedScheduling", "NodeNotReady",
                                      "Rebooted"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (strcmp(bad[i], reason) == 0)
            return true;
    }
    return false;
}

static struct recorded_event *find(struct demo *demo, const struct involved *about,
                                   const char *reason, const char *message)
{
    for (struct list *n = demo->events.prev; n != &demo->events; n = n->prev) {
        struct recorded_event *t = container_of(n, struct recorded_event, node);
        if (demo->now - t->written >= SAME_WITHIN)
            break;
        if (strcmp(t->uid, about->uid) == 0 && strcmp(t->reason, reason) == 0 &&
            strcmp(t->message, message) == 0)
            return t;
    }
    return NULL;
}

static struct recorded_event *add(struct demo *demo, const struct involved *about,
                                  const char *reason, const char *message)
{
    struct recorded_event *t = NEW(struct recorded_event);
    snprintf(t->ns, sizeof(t->ns), "%s", about->ns[0] ? about->ns : "default");
    snprintf(t->name, sizeof(t->name), "%s.%016llx", about->name,
             (unsigned long long)rng_next(&demo->rng));
    snprintf(t->uid, sizeof(t->uid), "%s", about->uid);
    t->reason = reason;
    t->message = xstrdup(message);
    store_now(t->first);
    list_init(&t->node);
    return t;
}

/* The component that reports it, by its name in Events. */
static const char *manager_of(const char *component)
{
    if (strcmp(component, "default-scheduler") == 0)
        return "kube-scheduler";
    return strcmp(component, "kubelet") == 0 ? "kubelet" : "kube-controller-manager";
}

static void put_about(struct buf *out, const struct involved *about)
{
    text_put(out, "'involvedObject':{'kind':'%s',", about->kind);
    if (about->ns[0])
        text_put(out, "'namespace':'%s',", about->ns);
    text_put(out, "'name':'%s','uid':'%s','apiVersion':'%s'", about->name, about->uid,
             about->api_version);
    if (about->container)
        text_put(out, ",'fieldPath':'spec.containers{%s}'", about->container);
    text_put(out, "},");
}

static void write_event(struct demo *demo, struct recorded_event *t, const struct involved *about,
                        const char *component)
{
    static const char fields[] =
        "{'f:count':{},'f:firstTimestamp':{},'f:involvedObject':{},'f:lastTimestamp':{},"
        "'f:message':{},'f:reason':{},'f:reportingComponent':{},'f:source':{'f:component':{}},"
        "'f:type':{}}";
    struct buf text = {0};
    char now[STORE_TIME_SIZE];
    store_now(now);
    t->count++;
    t->written = demo->now;
    managers_write(&t->managers, manager_of(component), "", fields);
    text_put(&text, "{'metadata':{'name':'%s','namespace':'%s'", t->name, t->ns);
    managers_put(&text, &t->managers, "v1");
    text_put(&text, "},");
    put_about(&text, about);
    text_put(&text, "'reason':'%s','message':'%s','source':{'component':'%s'},", t->reason,
             t->message, component);
    text_put(&text, "'firstTimestamp':'%s','lastTimestamp':'%s','count':%u,'type':'%s',", t->first,
             now, t->count, is_warning(t->reason) ? "Warning" : "Normal");
    text_put(&text, "'eventTime':null,'reportingComponent':'%s','reportingInstance':''}",
             component);
    demo_put(demo, "events", t->ns, t->name, &text, NULL);
    list_remove(&t->node);
    list_push(&demo->events, &t->node);
}

void event_write(struct demo *demo, const struct involved *about, const char *component,
                 const char *reason, const char *fmt, ...)
{
    struct recorded_event *t;
    va_list args;
    char message[512];
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    t = find(demo, about, reason, message);
    if (!t)
        t = add(demo, about, reason, message);
    write_event(demo, t, about, component);
}

static void recorded_event_free(struct recorded_event *t)
{
    list_remove(&t->node);
    free(t->message);
    free(t);
}

static void sweep(struct demo *demo, struct turn *turn)
{
    list_for_each_safe(n, &demo->events) {
        struct recorded_event *t = container_of(n, struct recorded_event, node);
        if (demo->now - t->written < EVENT_LIFE)
            break;
        demo_delete(demo, "events", t->ns, t->name);
        recorded_event_free(t);
    }
    turn_in(demo, turn, SWEEP_EVERY);
}

void events_start(struct demo *demo)
{
    demo->sweeper = (struct turn){.play = sweep, .quiet = true};
    turn_in(demo, &demo->sweeper, SWEEP_EVERY);
}

void events_free(struct demo *demo)
{
    list_for_each_safe(n, &demo->events)
        recorded_event_free(container_of(n, struct recorded_event, node));
}
