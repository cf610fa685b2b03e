/*
 * ctl_top_model.c - what top shows, from the status and the event stream of informerd.
 *
 * A change of a talker has a weight that falls by half every 20 seconds, so that the order shows what
 * happens now without jumping with each change.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/siphash.h"
#include "base/text/timestamp.h"
#include "ctl/ctl_json.h"
#include "ctl/top/ctl_top.h"

enum {
    HALF_LIFE_MS = 20000,
    MEAN_LIFE_MS =
        28854, /* HALF_LIFE_MS / ln 2: a constant rate r has the weight r * MEAN_LIFE_MS */
};

/* ---- status ---- */

static uint64_t age_member(const struct json_node *node, const char *key)
{
    const struct json_node *member = ctl_json_get(node, key);
    return !member || str_eq(member->text, STR("null")) ? TOP_NEVER : ctl_json_number(node, key);
}

static size_t count_members(const struct json_node *array)
{
    size_t n = 0;
    for (const struct json_node *i = array ? array->first : NULL; i; i = i->next)
        n++;
    return n;
}

static void watches_free(struct top_watch *watches, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(watches[i].cluster);
        free(watches[i].name);
        free(watches[i].state);
        free(watches[i].error);
    }
    free(watches);
}

static void outputs_free(struct top_model *m)
{
    for (size_t i = 0; i < m->n_outputs; i++) {
        free(m->outputs[i].name);
        free(m->outputs[i].state);
        free(m->outputs[i].error);
    }
    free(m->outputs);
    m->outputs = NULL;
    m->n_outputs = 0;
}

/* Per second; 0 if the counter began again. */
static double rate_since(uint64_t now, uint64_t before, uint64_t ms)
{
    return now >= before && ms ? (double)(now - before) * 1000.0 / (double)ms : 0;
}

static const struct top_watch *find_watch(const struct top_watch *all, size_t n,
                                          const struct top_watch *wanted)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, wanted->name) == 0 && strcmp(all[i].cluster, wanted->cluster) == 0)
            return &all[i];
    return NULL;
}

static void take_watches(struct top_model *m, const struct json_node *array, uint64_t ms)
{
    size_t n = count_members(array), before_n = m->n_watches;
    struct top_watch *before = m->watches;
    m->watches = xcalloc(n + 1, sizeof(*m->watches));
    m->n_watches = 0;
    m->rate = 0;
    for (const struct json_node *node = array ? array->first : NULL; node; node = node->next) {
        struct top_watch *w = &m->watches[m->n_watches];
        const struct top_watch *old;
        *w = (struct top_watch){
            .cluster = ctl_json_text(node, "cluster"),
            .name = ctl_json_text(node, "watch"),
            .state = ctl_json_text(node, "state"),
            .error = ctl_json_text(node, "error"),
            .objects = ctl_json_number(node, "objects"),
            .bytes = ctl_json_number(node, "bytes"),
            .event_age_ms = age_member(node, "event_age_ms"),
            .changes = ctl_json_number(node, "added") + ctl_json_number(node, "modified") +
                       ctl_json_number(node, "deleted") + ctl_json_number(node, "ignored"),
            .position = m->n_watches++,
        };
        old = find_watch(before, before_n, w);
        w->rate = old ? rate_since(w->changes, old->changes, ms) : 0;
        m->rate += w->rate;
    }
    watches_free(before, before_n);
}

static void take_outputs(struct top_model *m, const struct json_node *logs,
                         const struct json_node *handlers)
{
    outputs_free(m);
    m->outputs = xcalloc(count_members(logs) + count_members(handlers) + 1, sizeof(*m->outputs));
    for (const struct json_node *node = logs ? logs->first : NULL; node; node = node->next)
        m->outputs[m->n_outputs++] = (struct top_output){
            .type = "event log",
            .name = ctl_json_text(node, "path"),
            .state = ctl_json_text(node, "state"),
            .error = ctl_json_text(node, "error"),
            .waiting = ctl_json_number(node, "unwritten_bytes"),
            .oldest_ms = age_member(node, "oldest_unwritten_ms"),
        };
    for (const struct json_node *node = handlers ? handlers->first : NULL; node; node = node->next)
        m->outputs[m->n_outputs++] = (struct top_output){
            .type = "handler",
            .name = ctl_json_text(node, "name"),
            .state = ctl_json_text(node, "state"),
            .error = ctl_json_text(node, "error"),
            .waiting = ctl_json_number(node, "records"),
            .oldest_ms =
                ctl_json_number(node, "records") ? age_member(node, "oldest_ms") : TOP_NEVER,
            .parked = ctl_json_number(node, "parked"),
        };
}

static uint64_t uptime_of(const struct json_node *status)
{
    char *now = ctl_json_text(status, "time"), *started = ctl_json_text(status, "started");
    int64_t now_us = 0, started_us = 0;
    (void)timestamp_parse(now, &now_us);
    (void)timestamp_parse(started, &started_us);
    free(now);
    free(started);
    return now_us > started_us ? (uint64_t)(now_us - started_us) / 1000 : 0;
}

void top_model_status(struct top_model *m, const struct json_node *status, uint64_t now_ms)
{
    uint64_t ms = m->has_status && now_ms > m->status_ms ? now_ms - m->status_ms : 0;
    uint64_t cpu_ms = ctl_json_number(status, "cpu_ms");
    free(m->version);
    m->version = ctl_json_text(status, "version");
    m->uptime_ms = uptime_of(status);
    m->seq = ctl_json_number(status, "seq");
    m->resident_bytes = ctl_json_number(status, "resident_bytes");
    m->backlog_bytes = ctl_json_number(status, "backlog_bytes");
    m->backlog_limit_bytes = ctl_json_number(status, "backlog_limit_bytes");
    m->cpu = rate_since(cpu_ms, m->cpu_ms, ms) / 1000.0;
    m->cpu_ms = cpu_ms;
    take_watches(m, ctl_json_get(status, "watches"), ms);
    take_outputs(m, ctl_json_get(status, "event_logs"), ctl_json_get(status, "handlers"));
    m->has_status = true;
    m->status_ms = now_ms;
    top_model_problem(m, NULL);
}

void top_model_problem(struct top_model *m, const char *problem)
{
    char *copy = xstrdup_or_null(problem);
    free(m->problem);
    m->problem = copy;
}

void top_model_no_events(struct top_model *m, const char *reason)
{
    free(m->no_events);
    m->no_events = xstrdup(reason);
}

/* ---- talkers ---- */

/* What is left of @weight after @age. */
static double decay(double weight, uint64_t age)
{
    if (age > 64 * (uint64_t)HALF_LIFE_MS)
        return 0;
    for (; age >= HALF_LIFE_MS; age -= HALF_LIFE_MS)
        weight /= 2;
    return weight * (1 - (double)age / (2 * HALF_LIFE_MS)); /* linear in between */
}

static double weight_at(const struct top_talker *t, uint64_t now_ms)
{
    return decay(t->weight, now_ms > t->time_ms ? now_ms - t->time_ms : 0);
}

/* The weight of one change per second is MEAN_LIFE_MS / 1000 after a long time, and less before. */
double top_talker_rate(const struct top_talkers *talkers, const struct top_talker *t,
                       uint64_t now_ms)
{
    uint64_t since = now_ms > talkers->since_ms ? now_ms - talkers->since_ms : 0;
    double full = MEAN_LIFE_MS / 1000.0 * (1 - decay(1, since < 1000 ? 1000 : since));
    return weight_at(t, now_ms) / full;
}

static int compare_talkers(const void *a, const void *b)
{
    const struct top_talker *x = *(struct top_talker *const *)a,
                            *y = *(struct top_talker *const *)b;
    if (x->weight < y->weight || x->weight > y->weight)
        return x->weight < y->weight ? 1 : -1;
    return strcmp(x->name, y->name);
}

void top_talkers_sort(struct top_talkers *talkers, uint64_t now_ms)
{
    for (size_t i = 0; i < talkers->count; i++) {
        struct top_talker *t = talkers->items[i];
        t->weight = weight_at(t, now_ms);
        t->time_ms = now_ms;
    }
    if (talkers->count)
        qsort(talkers->items, talkers->count, sizeof(*talkers->items), compare_talkers);
}

static void talkers_truncate(struct top_talkers *talkers, size_t count)
{
    while (talkers->count > count) {
        struct top_talker *t = talkers->items[--talkers->count];
        hashmap_remove(&talkers->by_name, &t->node);
        free(t->name);
        free(t);
    }
}

static bool same_name(const void *key, const struct hash_node *node)
{
    return strcmp(key, container_of(node, struct top_talker, node)->name) == 0;
}

static struct top_talker *talkers_get(struct top_talkers *talkers, const char *name,
                                      uint64_t now_ms)
{
    static const struct siphash_key key = {0}; /* the names come from our own daemon */
    uint64_t hash = siphash13(&key, name, strlen(name));
    struct hash_node *node = hashmap_find(&talkers->by_name, hash, same_name, name);
    struct top_talker *t;
    if (node)
        return container_of(node, struct top_talker, node);
    if (talkers->count == TALKERS_MAX) {
        top_talkers_sort(talkers, now_ms);
        talkers_truncate(talkers, TALKERS_MAX / 2);
    }
    if (!talkers->items) {
        talkers->items = xcalloc(TALKERS_MAX, sizeof(*talkers->items));
        talkers->since_ms = now_ms;
    }
    t = NEW(struct top_talker);
    t->name = xstrdup(name);
    t->time_ms = now_ms;
    talkers->items[talkers->count++] = t;
    hashmap_add(&talkers->by_name, &t->node, hash);
    return t;
}

static void talkers_count(struct top_talkers *talkers, const char *name, uint64_t now_ms)
{
    struct top_talker *t = talkers_get(talkers, name, now_ms);
    t->weight = weight_at(t, now_ms) + 1;
    t->time_ms = now_ms;
    t->changes++;
}

void top_model_change(struct top_model *m, const struct json_node *record, uint64_t now_ms)
{
    char *kind = ctl_json_text(record, "kind"), *ns = ctl_json_text(record, "namespace");
    char *name = ctl_json_text(record, "name"), *manager = ctl_json_text(record, "manager");
    char *object = xasprintf("%s %s%s%s", kind, ns, ns[0] ? "/" : "", name);
    if (name[0])
        talkers_count(&m->objects, object, now_ms);
    if (manager[0])
        talkers_count(&m->managers, manager, now_ms);
    free(object);
    free(manager);
    free(name);
    free(ns);
    free(kind);
}

static void talkers_free(struct top_talkers *talkers)
{
    talkers_truncate(talkers, 0);
    hashmap_free(&talkers->by_name);
    free(talkers->items);
}

void top_model_free(struct top_model *m)
{
    watches_free(m->watches, m->n_watches);
    outputs_free(m);
    talkers_free(&m->objects);
    talkers_free(&m->managers);
    free(m->version);
    free(m->no_events);
    free(m->problem);
    *m = (struct top_model){0};
}
