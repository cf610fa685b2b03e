/*
 * witness.c - the handlers of a random story: every event is checked against the previous events
 * of the handler and against the history of the server. A contradiction ends the program with an
 * error.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "core/object/object.h"
#include "core/object/version.h"
#include "world.h"

const char *const POISONS[2] = {"a/p1", "a-b/p2"};

/* ---- errors ---- */

void fail(const struct world *w, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "seed %" PRIu64 ": ", w->seed);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    _Exit(1);
}

uint64_t dice(struct world *w, uint64_t sides)
{
    return rng_below(&w->rng, sides);
}

/* ---- keys ---- */

const char *key_name(size_t i, char ret[32])
{
    static const char *const namespaces[] = {"a", "a-b", "b"};
    snprintf(ret, 32, "%s/p%zu", namespaces[i % 3], i / 3);
    return ret;
}

static size_t key_index(const struct world *w, const struct inf_object *object)
{
    char name[32];
    for (size_t i = 0; i < KEYS; i++)
        if (str_eq(object_key(object), str_of(key_name(i, name))))
            return i;
    fail(w, "an object that was never written: %.*s", STR_FMT(object_key(object)));
}

/* ---- checks of an event ---- */

static void set_known(struct witness *t, size_t key, const struct inf_object *object)
{
    inf_object_unref(t->known[key]);
    t->known[key] = object ? inf_object_ref(object) : NULL;
}

static void check_verb(const struct witness *t, size_t key, const struct inf_event *e)
{
    const struct inf_object *known = t->known[key];
    const char *what = inf_verb_name(e->verb);
    char name[32];
    if (t->may_drop_events)
        return;
    if ((e->verb == INF_ADDED) != !known)
        fail(t->world, "%s: %s of %s, which it %s", t->name, what, key_name(key, name),
             known ? "knows already" : "does not set_known");
    if (known && strcmp(inf_object_uid(known), inf_object_uid(inf_event_object(e))) != 0)
        fail(t->world, "%s: %s of %s with another uid", t->name, what, key_name(key, name));
    if (e->verb == INF_MODIFIED &&
        (!object_equal(known, e->old_object) ||
         strcmp(inf_object_json(known, NULL), inf_object_json(e->old_object, NULL)) != 0))
        fail(t->world, "%s: %s changed from a state that it never received", t->name,
             key_name(key, name));
    if (e->verb == INF_MODIFIED && e->origin != INF_RESYNC &&
        object_equal(e->old_object, e->new_object))
        fail(t->world, "%s: %s delivered twice", t->name, key_name(key, name));
    if (e->verb == INF_MODIFIED && e->origin == INF_RESYNC && e->old_object != e->new_object)
        fail(t->world, "%s: a resync changed %s", t->name, key_name(key, name));
}

static bool is_poison(const struct inf_object *object)
{
    return str_eq(object_key(object), str_of(POISONS[0])) ||
           str_eq(object_key(object), str_of(POISONS[1]));
}

/* The store is never older than the event, and versions never decrease. */
static void check_versions(struct witness *t, const struct inf_event *e)
{
    struct world *w = t->world;
    const char *version = inf_object_resource_version(inf_event_object(e));
    const struct inf_object *object = inf_event_object(e), *stored;
    if (w->rewound)
        return;
    stored =
        inf_store_get(w->pipeline.store, inf_object_namespace(object), inf_object_name(object));
    if (version_is_older(inf_store_resource_version(w->pipeline.store), version))
        fail(w, "%s: %s delivered before the store had it", t->name, version);
    if (stored && version_is_older(inf_object_resource_version(stored), version))
        fail(w, "%s: the store's object is older than the event", t->name);
    if (e->origin != INF_LIVE || t->handler.overflow == INF_COALESCE)
        return;
    if (!e->final && is_poison(object))
        return; /* an undecodable deletion is delivered with the last state */
    if (version_is_older(version, t->last_live))
        fail(w, "%s: %s delivered after %s", t->name, version, t->last_live);
    snprintf(t->last_live, sizeof(t->last_live), "%s", version);
}

/* A live event follows the previous change on the server: no change between them was lost. Objects
 * that can't be decoded may be skipped. */
static void check_no_change_is_missing(const struct witness *t, const struct inf_event *e)
{
    const struct inf_object *object = inf_event_object(e), *before;
    const struct inf_object *known = t->known[key_index(t->world, object)];
    if (t != &t->world->witnesses[FAST] || e->origin != INF_LIVE || is_poison(object))
        return;
    before = apiserver_before(&t->world->server, object);
    if (e->verb == INF_DELETED && !e->final)
        return; /* replaced by another object of that name, which is delivered next */
    if (!before != !known || (before && !object_equal(before, known)))
        fail(t->world, "%s: %.*s at %s was delivered, but not the state before it", t->name,
             STR_FMT(object_key(object)), inf_object_resource_version(object));
}

/* A deleted object does not exist on the server; one that can't be decoded still exists. */
static void check_deletion(const struct witness *t, const struct inf_event *e)
{
    const struct inf_object *there;
    char name[32];
    if (e->verb != INF_DELETED)
        return;
    there = apiserver_get(&t->world->server, key_name(key_index(t->world, e->old_object), name));
    if (there && strcmp(inf_object_uid(there), inf_object_uid(e->old_object)) == 0)
        fail(t->world, "%s: %s delivered as deleted, but it exists", t->name, name);
}

/* A relist is announced by a gap. It delivers deletions before other events, except for objects
 * that were created again. */
static void check_relist(struct witness *t, const struct inf_event *e)
{
    const char *name = inf_object_name(inf_event_object(e));
    if (t != &t->world->witnesses[FAST])
        return;
    if (t->recreated[0] && (e->verb != INF_ADDED || strcmp(t->recreated, name) != 0))
        fail(t->world, "%s: a relist delivered a delete after an add", t->name);
    t->recreated[0] = '\0';
    t->gap_seen &= e->origin != INF_LIVE;
    if (e->origin != INF_RELIST && e->origin != INF_RESUMED)
        return;
    if (!t->gap_seen)
        fail(t->world, "%s: a relist without a gap", t->name);
    if (e->verb == INF_DELETED && t->relist_added)
        snprintf(t->recreated, sizeof(t->recreated), "%s", name);
    t->relist_added |= e->verb != INF_DELETED;
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *e)
{
    struct witness *t = container_of(handler, struct witness, handler);
    size_t key = key_index(t->world, inf_event_object(e));
    (void)informer;
    if (!t->added)
        fail(t->world, "%s: called after it was removed", t->name);
    t->events++;
    check_verb(t, key, e);
    check_versions(t, e);
    check_no_change_is_missing(t, e);
    check_relist(t, e);
    check_deletion(t, e);
    set_known(t, key, e->new_object);
    if (t == &t->world->witnesses[FAST] && t->synced && !t->world->faults_ended &&
        dice(t->world, 6) == 0)
        inf_handler_pause(
            handler); /* until the next operation, so that saves happen in the middle of a backlog */
    if (t == &t->world->witnesses[LATE] && dice(t->world, 300) == 0) { /* from its own callback */
        inf_handler_remove(handler);
        t->added = false;
    }
}

static void on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    struct witness *t = container_of(handler, struct witness, handler);
    size_t known = 0;
    (void)informer;
    if (t->synced)
        fail(t->world, "%s: synced twice", t->name);
    for (size_t i = 0; i < KEYS; i++)
        known += t->known[i] != NULL;
    if (t == &t->world->witnesses[FAST] && known != inf_store_count(t->world->pipeline.store))
        fail(t->world, "%s: synced before all was delivered", t->name);
    t->synced = true;
}

static void on_gap(struct inf_handler *handler, struct inf_informer *informer,
                   const struct inf_gap *gap)
{
    struct witness *t = container_of(handler, struct witness, handler);
    (void)informer;
    t->gaps++;
    t->last_live[0] = '\0';
    t->gap_seen = true;
    t->relist_added = false;
    t->may_drop_events |= gap->reason == INF_GAP_DROPPED;
}

/* ---- adding and removing handlers ---- */

void forget_all(struct witness *t)
{
    for (size_t i = 0; i < KEYS; i++)
        set_known(t, i, NULL);
    t->synced = t->may_drop_events = false;
    t->last_live[0] = '\0';
}

void add_witness(struct world *w, size_t i)
{
    struct witness *t = &w->witnesses[i];
    forget_all(t);
    t->added = true;
    if (dispatch_add(&w->pipeline.dispatch, &t->handler, NULL) < 0)
        fail(w, "%s: not added", t->name);
}

void set_up_witnesses(struct world *w)
{
    static const struct {
        const char *name;
        enum inf_overflow overflow;
        uint32_t max_events;
        uint32_t resync_ms;
    } kinds[WITNESSES] = {
        [FAST] = {"fast", INF_WAIT, 0, 300 * 1000},
        [SLOW] = {"slow", INF_WAIT, 5, 0},
        [COALESCING] = {"coalescing", INF_COALESCE, 4, 0},
        [DROPPING] = {"dropping", INF_DROP, 6, 0},
        [LATE] = {"late", INF_COALESCE, 8, 30 * 1000},
    };
    for (size_t i = 0; i < WITNESSES; i++) {
        struct witness *t = &w->witnesses[i];
        t->world = w;
        t->name = kinds[i].name;
        t->handler = (struct inf_handler){.on_event = on_event,
                                          .on_synced = on_synced,
                                          .on_gap = on_gap,
                                          .overflow = kinds[i].overflow,
                                          .max_events = kinds[i].max_events,
                                          .resync_ms = kinds[i].resync_ms};
        if (i != LATE)
            add_witness(w, i);
    }
    w->witnesses[FAST].handler.on_batch_end = save_at_batch_end;
}

void play_handlers(struct world *w)
{
    struct witness *t = &w->witnesses[SLOW + dice(w, WITNESSES - SLOW)];
    if (t == &w->witnesses[LATE] && !t->added)
        add_witness(w, LATE);
    else if (t == &w->witnesses[LATE] && dice(w, 4) == 0) {
        inf_handler_remove(&t->handler);
        t->added = false;
    } else if (dice(w, 2))
        inf_handler_pause(&t->handler);
    else
        inf_handler_resume(&t->handler);
}
