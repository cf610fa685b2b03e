/*
 * random.c - the engine against a server that misbehaves by chance, with a model beside it.
 *
 *     random [SEEDS]      runs that many stories, each from its own seed
 *     SEED=n random       runs one of them again
 *
 * Each story is some hundred writes and dozens of faults (lost, refused and silent connections,
 * expired versions, lists cut in the middle, objects that can't be read, ...) under a tick budget
 * that changes all the time, with handlers that are slow in each way there is, come late and go
 * early. While it runs, the events of each handler must be consistent; at rest the store must equal
 * the server, and the events of each handler, applied to nothing, must equal the store.
 */

/* covers: 8/73 8/2 8/25 8/67 P1 P2 P3 P4 P6 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "informer/informer.h"

#include "apiserver.h"
#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "core/dispatch/pipeline.h"
#include "core/mutant.h"
#include "core/object/version.h"
#include "sim.h"
#include "tier.h"

enum {
    KEYS = 24,
    OPERATIONS = 320,
    FORCED_RELIST_EVERY = 60,
    REST_MS = 900 * 1000, /* long enough for every wait and every silence to be over */
    BLIND_REST_MS = 2 * 8 * 150 * 1000, /* long enough for a list after watches that show nothing */
};

struct world;

static const char *const POISONS[] = {"a/p1", "a-b/p2"}; /* objects that can't be read at times */

/* A handler that records the events. */
struct witness {
    struct inf_handler handler;
    struct world *world;
    const char *name;
    const struct inf_object *known[KEYS]; /* references */
    bool added;
    bool synced;
    bool may_have_holes; /* its options allow to drop events */
    uint64_t events, gaps;
    char last_live[24]; /* the version of the last live event; "" after a gap */
    bool gap_seen;      /* since the last live event */
    bool relist_added;  /* the current relist delivered an object that exists */
};

enum {
    FAST,
    SLOW,       /* paused at times; makes the stream wait */
    COALESCING, /* paused at times; gets the newest states */
    DROPPING,
    LATE, /* comes and goes */
    WITNESSES,
};

struct world {
    uint64_t seed;
    struct rng rng;
    struct sim sim;
    struct apiserver server;
    struct pipeline pipeline;
    struct witness witnesses[WITNESSES];
    char store_version[24];
    unsigned faults;
    bool rewound; /* the server went back once: versions mean less from then on */
    bool gone;
};

/* ---- failing ---- */

__attribute__((format(printf, 2, 3), noreturn)) static void fail(const struct world *w,
                                                                 const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "seed %" PRIu64 ": ", w->seed);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    _Exit(1);
}

static uint64_t dice(struct world *w, uint64_t sides)
{
    return rng_below(&w->rng, sides);
}

/* ---- keys ---- */

static const char *key_name(size_t i, char ret[32])
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

/* ---- what a handler may receive ---- */

static void know(struct witness *t, size_t key, const struct inf_object *object)
{
    inf_object_unref(t->known[key]);
    t->known[key] = object ? inf_object_ref(object) : NULL;
}

static void check_verb(const struct witness *t, size_t key, const struct inf_event *e)
{
    const struct inf_object *known = t->known[key];
    const char *what = inf_verb_name(e->verb);
    char name[32];
    if (t->may_have_holes)
        return;
    if ((e->verb == INF_ADDED) != !known)
        fail(t->world, "%s: %s of %s, which it %s", t->name, what, key_name(key, name),
             known ? "knows already" : "does not know");
    if (known && strcmp(inf_object_uid(known), inf_object_uid(inf_event_object(e))) != 0)
        fail(t->world, "%s: %s of %s with another uid", t->name, what, key_name(key, name));
    if (e->verb == INF_MODIFIED && !object_equal(known, e->old_object))
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

/* No callback sees a store older than itself; nothing goes back. */
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

/* A live change follows the one the server made before it: nothing between them was lost. What can't be read at times
 * may be passed over. */
static void check_nothing_between(const struct witness *t, const struct inf_event *e)
{
    const struct inf_object *object = inf_event_object(e), *before;
    const struct inf_object *known = t->known[key_index(t->world, object)];
    if (t != &t->world->witnesses[FAST] || e->origin != INF_LIVE || is_poison(object))
        return;
    before = apiserver_before(&t->world->server, object);
    if (e->verb == INF_DELETED && !e->final)
        return; /* another one took its name; that one is delivered next */
    if (!before != !known || (before && !object_equal(before, known)))
        fail(t->world, "%s: %.*s at %s was delivered, but not the state before it", t->name,
             STR_FMT(object_key(object)), inf_object_resource_version(object));
}

/* What can't be read is still there. */
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

/* A relist is announced by a gap, and delivers deletes before the rest. */
static void check_relist(struct witness *t, const struct inf_event *e)
{
    const struct inf_object *object = inf_event_object(e);
    bool there = inf_store_get(t->world->pipeline.store, inf_object_namespace(object),
                               inf_object_name(object));
    if (t != &t->world->witnesses[FAST])
        return;
    t->gap_seen &= e->origin != INF_LIVE;
    if (e->origin != INF_RELIST)
        return;
    if (!t->gap_seen)
        fail(t->world, "%s: a relist without a gap", t->name);
    if (e->verb == INF_DELETED && !there && t->relist_added)
        fail(t->world, "%s: a relist delivered a delete after an add", t->name);
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
    check_nothing_between(t, e);
    check_relist(t, e);
    check_deletion(t, e);
    know(t, key, e->new_object);
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
    t->may_have_holes |= gap->reason == INF_GAP_DROPPED;
}

/* ---- handlers come and go ---- */

static void forget_all(struct witness *t)
{
    for (size_t i = 0; i < KEYS; i++)
        know(t, i, NULL);
    t->synced = t->may_have_holes = false;
    t->last_live[0] = '\0';
}

static void add_witness(struct world *w, size_t i)
{
    struct witness *t = &w->witnesses[i];
    forget_all(t);
    t->added = true;
    if (dispatch_add(&w->pipeline.dispatch, &t->handler, NULL) < 0)
        fail(w, "%s: not added", t->name);
}

static void set_up_witnesses(struct world *w)
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
}

static void play_handlers(struct world *w)
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

/* ---- writes ---- */

static void write_something(struct world *w)
{
    char name[32];
    const char *key = key_name(dice(w, KEYS), name);
    bool there = apiserver_get(&w->server, key);
    if (there && dice(w, 100) < 35) {
        apiserver_delete(&w->server, key);
        if (dice(w, 3) == 0)
            apiserver_put_n(&w->server, key, (int)dice(w, 100)); /* recreated: another uid */
    } else {
        apiserver_put_n(&w->server, key, (int)dice(w, 100));
    }
}

/* ---- faults ---- */

static int some_error(struct world *w)
{
    static const int codes[] = {INF_ENET,    INF_ETLS,       INF_EPROTO,     INF_ETIMEOUT,
                                INF_EEOF,    INF_ECUT,       INF_ETOOBIG,    INF_EDECODE,
                                INF_EGONE,   INF_EFUTURE,    INF_ETHROTTLED, INF_EUNAUTHORIZED,
                                INF_ESERVER, INF_EFORBIDDEN, INF_ENOTFOUND,  INF_EREFUSED};
    return codes[dice(w, ARRAY_LEN(codes))];
}

static void forget_history_and_cut(struct world *w)
{
    apiserver_end_after(&w->server, 1, INF_ENET, "connection lost");
    sim_run(&w->sim);
    write_something(w);
    apiserver_compact(&w->server);
    write_something(w);
}

static void play_fault(struct world *w)
{
    const char *const keys[] = {NULL, NULL, NULL, POISONS[0], POISONS[1]};
    int error = some_error(w); /* diced here: the order of arguments is the compiler's */
    uint64_t some = dice(w, 10);
    w->faults++;
    switch (dice(w, 12)) {
    case 0: apiserver_cut(&w->server); break;
    case 1: apiserver_end(&w->server); break;
    case 2: apiserver_end_with(&w->server, error, "some error"); break;
    case 3: apiserver_end_after(&w->server, 1 + some, error, "cut short"); break;
    case 4:
        apiserver_refuse(&w->server, 1 + (unsigned)some % 3, error, some % 2 ? 2000 : 0, "refused");
        break;
    case 5: apiserver_fall_silent(&w->server); break;
    case 6: forget_history_and_cut(w); break;
    case 7: w->server.no_watch_list = dice(w, 3) == 0; break;
    case 8: w->server.withhold_end = dice(w, 3) == 0; break;
    case 9: w->server.ignore_limit = dice(w, 2); break;
    case 10:
        w->server.burst = (unsigned)dice(w, 9);
        w->server.pages_cache = dice(w, 2);
        break;
    default: w->server.poison = keys[dice(w, ARRAY_LEN(keys))]; break;
    }
}

static void play_operation(struct world *w)
{
    uint64_t d = dice(w, 100);
    w->sim.budget = dice(w, 4) ? (unsigned)dice(w, 40) : 0;
    if (d < 60)
        write_something(w);
    else if (d < 72)
        sim_advance(&w->sim, dice(w, 60));
    else if (d < 78)
        apiserver_bookmark(&w->server);
    else if (d < 88)
        play_handlers(w);
    else if (d < 98)
        play_fault(w);
    else
        sim_advance(&w->sim, dice(w, 400 * 1000));
    if (dice(w, 3))
        sim_tick(&w->sim);
}

/* ---- at rest ---- */

/* A handler with INF_WAIT never has much more than its limit: one step of the pump. */
static void check_backlog(const struct world *w)
{
    size_t backlog = inf_handler_backlog(&w->witnesses[SLOW].handler);
    if (backlog > w->witnesses[SLOW].handler.max_events + 2 * KEYS + 2)
        fail(w, "slow: a backlog of %zu", backlog);
}

static void check_store_version(struct world *w)
{
    const char *version = inf_store_resource_version(w->pipeline.store);
    if (!w->rewound && version_is_older(version, w->store_version))
        fail(w, "the store went back from %s to %s", w->store_version, version);
    snprintf(w->store_version, sizeof(w->store_version), "%s", version);
}

/* At times every watch of the end shows nothing, and what changes is found all the same. */
static void live_behind_a_buffer(struct world *w)
{
    if (dice(w, 4))
        return;
    w->server.blind = dice(w, 2) ? APISERVER_ENDS_EMPTY : APISERVER_SHOWS_NOTHING;
    apiserver_end(&w->server);
    sim_advance(&w->sim, 60 * 1000);
    write_something(w);
    for (int i = 0; i < BLIND_REST_MS / 1000 / 300; i++) {
        apiserver_end(&w->server); /* one that lingers ends after some minutes */
        sim_advance(&w->sim, 300 * 1000);
    }
    w->server.blind = APISERVER_SHOWS;
}

static void make_peace(struct world *w)
{
    w->server.poison = NULL;
    w->server.refusals = 0;
    w->server.withhold_end = false;
    w->sim.budget = 0;
    apiserver_put(&w->server, POISONS[0]); /* skipped objects are seen with their next change */
    apiserver_put(&w->server, POISONS[1]);
    for (size_t i = 0; i < WITNESSES; i++)
        inf_handler_resume(&w->witnesses[i].handler);
    if (!w->witnesses[LATE].added)
        add_witness(w, LATE);
    sim_advance(&w->sim, REST_MS);
    live_behind_a_buffer(w);
}

static void check_equal(struct world *w)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct snapshot *now = &w->server.now;
    for (size_t i = 0; i < now->count; i++) {
        const struct inf_object *ours = inf_store_next(w->pipeline.store, &cursor);
        if (!ours || !object_equal(ours, now->objects[i]))
            fail(w, "the store has %s where the server has %.*s",
                 ours ? inf_object_json(ours, NULL) : "nothing",
                 STR_FMT(object_key(now->objects[i])));
    }
    if (inf_store_next(w->pipeline.store, &cursor))
        fail(w, "the store has more than the server");
    inf_cursor_end(&cursor);
}

static void check_folded(struct world *w, struct witness *t)
{
    char name[32];
    if (!t->added || t->may_have_holes)
        return;
    if (!t->synced)
        fail(w, "%s: not synced at rest", t->name);
    for (size_t i = 0; i < KEYS; i++) {
        const struct inf_object *truth = apiserver_get(&w->server, key_name(i, name));
        if (!truth != !t->known[i] || (truth && !object_equal(truth, t->known[i])))
            fail(w, "%s: knows %s of %s", t->name, !t->known[i] ? "nothing" : "a wrong state",
                 name);
    }
}

/* ---- a story ---- */

static void on_gone(struct pipeline *pipeline)
{
    container_of(pipeline, struct world, pipeline)->gone = true;
}

static void begin(struct world *w, uint64_t seed)
{
    struct pipeline_settings settings = {.reflector.page_size = 0};
    w->seed = seed;
    w->rng.state = seed;
    settings.reflector.no_jitter = dice(w, 2);
    settings.reflector.no_watch_list = dice(w, 3) == 0;
    settings.reflector.page_size = (uint32_t)dice(w, 3) * 3;
    sim_init(&w->sim);
    apiserver_init(&w->server, &w->sim);
    pipeline_init(&w->pipeline, "pods", &w->server.source, &w->sim.clock,
                  &(struct siphash_key){seed, 1}, NULL, &settings);
    w->pipeline.reflector.backoff.rng.state = seed; /* the same story again from the same seed */
    set_up_witnesses(w);
    for (uint64_t n = dice(w, 12); n > 0; n--)
        write_something(w);
    pipeline_start(&w->pipeline);
}

/* The next list fails, and its objects may be gone in the complete one. */
static void break_next_list(struct world *w)
{
    const struct apiserver *a = &w->server;
    for (int i = 0; i < 2000 && (!a->user || a->open || a->request.want == SOURCE_WATCH); i++)
        sim_advance(&w->sim, 5);
    apiserver_end_after(&w->server, 2 + dice(w, 6), INF_ENET, "list cut");
    sim_advance(&w->sim, 20);
    for (int i = 0; i < 6; i++)
        write_something(w);
}

static void force_relist(struct world *w)
{
    forget_history_and_cut(w);
    if (dice(w, 2))
        break_next_list(w);
    sim_advance(&w->sim, 70 * 1000); /* longer than any wait */
}

static uint64_t relists(const struct world *w)
{
    uint64_t all = 0;
    for (size_t code = 0; code < INF_ERRORS; code++)
        all += w->pipeline.reflector.counts.relists[code];
    return all;
}

static void play(uint64_t seed, uint64_t totals[3])
{
    struct world *w = NEW(struct world);
    begin(w, seed);
    for (unsigned i = 1; i <= OPERATIONS; i++) {
        play_operation(w);
        check_store_version(w);
        check_backlog(w);
        if (i % FORCED_RELIST_EVERY == 0)
            force_relist(w);
    }
    make_peace(w);
    for (int i = 0; i < 3 && relists(w) < 3; i++)
        force_relist(w); /* some did not happen because a slow handler held the stream */
    if (relists(w) < 3)
        fail(w, "a story with %" PRIu64 " relists proves little", relists(w));
    check_equal(w);
    for (size_t i = 0; i < WITNESSES; i++)
        check_folded(w, &w->witnesses[i]);
    if (w->faults < 10)
        fail(w, "a story with only %u faults proves little", w->faults);
    totals[0] += w->witnesses[FAST].events;
    totals[1] += w->faults;
    totals[2] += relists(w);
    pipeline_close(&w->pipeline, on_gone);
    sim_run(&w->sim);
    if (!w->gone)
        fail(w, "not gone after closing");
    for (size_t i = 0; i < WITNESSES; i++)
        forget_all(&w->witnesses[i]);
    apiserver_done(&w->server);
    sim_done(&w->sim);
    free(w);
}

int main(int argc, char **argv)
{
    const char *one = getenv("SEED");
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : tier_is_full() ? 2000 : 200;
    uint64_t totals[3] = {0};
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    if (one)
        seeds = 1;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        play(seed, totals);
    printf("%" PRIu64 " seeds: %" PRIu64 " events delivered to the first handler, %" PRIu64
           " faults, %" PRIu64 " relists\n",
           seeds, totals[0], totals[1], totals[2]);
    return 0;
}
