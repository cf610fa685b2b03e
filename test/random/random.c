/*
 * random.c - runs the engine against a server with random faults, and compares it with a model.
 *
 * random [SEEDS] runs that many stories, each with its own seed; SEED=n random repeats one of
 * them.
 *
 * A story has some hundred writes and dozens of faults (lost, refused and silent connections,
 * expired versions, truncated lists, objects that can't be decoded, ...), with a tick budget
 * that changes all the time, and handlers that are slow in every possible way, are added late
 * and are removed early. Sometimes the process ends and another one starts with the saved
 * objects (restart.c). Meanwhile the events of each handler must be consistent (witness.c); when
 * everything is idle, the store must equal the server, and the events of each handler, applied
 * to an empty set, must equal the store.
 */

/* covers: 8/73 8/2 8/25 8/67 P1 P2 P3 P4 P6 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/mutant.h"
#include "core/object/version.h"
#include "tier.h"
#include "world.h"

enum {
    OPERATIONS = 320,
    FORCED_RELIST_EVERY = 60,
    RESTART_EVERY = 40,                 /* on average */
    REST_MS = 900 * 1000,               /* longer than every retry delay and silence limit */
    BLIND_REST_MS = 2 * 8 * 150 * 1000, /* long enough for a list after watches that show nothing */
};

/* ---- writes ---- */

static void write_random_object(struct world *w)
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

static int random_error(struct world *w)
{
    static const int codes[] = {INF_ENET,    INF_ETLS,       INF_EPROTO,     INF_ETIMEOUT,
                                INF_EEOF,    INF_ECUT,       INF_ETOOBIG,    INF_EDECODE,
                                INF_EGONE,   INF_EFUTURE,    INF_ETHROTTLED, INF_EUNAUTHORIZED,
                                INF_ESERVER, INF_EFORBIDDEN, INF_ENOTFOUND,  INF_EREFUSED};
    return codes[dice(w, ARRAY_LEN(codes))];
}

static void compact_and_cut(struct world *w)
{
    apiserver_end_after(&w->server, 1, INF_ENET, "connection lost");
    sim_run(&w->sim);
    write_random_object(w);
    apiserver_compact(&w->server);
    write_random_object(w);
}

static void play_fault(struct world *w)
{
    const char *const keys[] = {NULL, NULL, NULL, POISONS[0], POISONS[1]};
    int error =
        random_error(w); /* chosen here: the order in which C evaluates arguments is unspecified */
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
    case 6: compact_and_cut(w); break;
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
    inf_handler_resume(&w->witnesses[FAST].handler);
    if (d < 60)
        write_random_object(w);
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

/* ---- checks when everything is idle ---- */

/* A handler with INF_WAIT exceeds its limit by at most one step of the pump. */
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

/* In some stories the last watches show nothing; changes must be found nevertheless. */
static void end_with_blind_watches(struct world *w)
{
    if (dice(w, 4))
        return;
    w->server.blind = dice(w, 2) ? APISERVER_ENDS_EMPTY : APISERVER_SHOWS_NOTHING;
    apiserver_end(&w->server);
    sim_advance(&w->sim, 60 * 1000);
    write_random_object(w);
    for (int i = 0; i < BLIND_REST_MS / 1000 / 300; i++) {
        apiserver_end(&w->server); /* a watch that stays open ends after some minutes */
        sim_advance(&w->sim, 300 * 1000);
    }
    w->server.blind = APISERVER_SHOWS;
}

static void stop_faults_and_wait(struct world *w)
{
    w->faults_ended = true;
    w->server.poison = NULL;
    w->server.refusals = 0;
    w->server.withhold_end = false;
    w->sim.budget = 0;
    apiserver_put(&w->server, POISONS[0]); /* a skipped object is delivered with its next change */
    apiserver_put(&w->server, POISONS[1]);
    for (size_t i = 0; i < WITNESSES; i++)
        inf_handler_resume(&w->witnesses[i].handler);
    if (!w->witnesses[LATE].added)
        add_witness(w, LATE);
    sim_advance(&w->sim, REST_MS);
    end_with_blind_watches(w);
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
    if (!t->added || t->may_drop_events)
        return;
    if (!t->synced)
        fail(w, "%s: not synced at rest", t->name);
    for (size_t i = 0; i < KEYS; i++) {
        const struct inf_object *expected = apiserver_get(&w->server, key_name(i, name));
        if (!expected != !t->known[i] || (expected && !object_equal(expected, t->known[i])))
            fail(w, "%s: knows %s of %s", t->name, !t->known[i] ? "nothing" : "a wrong state",
                 name);
    }
}

/* ---- a story ---- */

static void on_gone(struct pipeline *pipeline)
{
    container_of(pipeline, struct world, pipeline)->gone = true;
}

void init_pipeline(struct world *w)
{
    pipeline_init(&w->pipeline, "pods", &w->server.source, &w->sim.clock,
                  &(struct siphash_key){w->seed, 1}, NULL, &w->settings);
    w->pipeline.reflector.backoff.rng.state = w->seed; /* the same seed repeats the same story */
}

static void begin(struct world *w, uint64_t seed)
{
    static const struct pack_limits limits = {.objects = 1,
                                              .window = 10}; /* packs almost all objects */
    w->seed = seed;
    w->rng.state = seed;
    w->settings.reflector.no_jitter = dice(w, 2);
    w->settings.reflector.no_watch_list = dice(w, 3) == 0;
    w->settings.reflector.page_size = (uint32_t)dice(w, 3) * 3;
    w->packing = pack_context_new(&(struct siphash_key){seed, 2});
    w->settings.packing = dice(w, 2) ? w->packing : NULL;
    w->settings.pack_limits = &limits;
    w->disk_packing = pack_context_new(&(struct siphash_key){seed, 3});
    object_packer_init(&w->disk_packer, w->disk_packing, &limits, seed);
    sim_init(&w->sim);
    apiserver_init(&w->server, &w->sim);
    init_pipeline(w);
    set_up_witnesses(w);
    for (uint64_t n = dice(w, 12); n > 0; n--)
        write_random_object(w);
    pipeline_start(&w->pipeline);
}

/* The next list fails, and its objects may be missing in the complete one. */
static void break_next_list(struct world *w)
{
    const struct apiserver *a = &w->server;
    for (int i = 0; i < 2000 && (!a->user || a->open || a->request.want == SOURCE_WATCH); i++)
        sim_advance(&w->sim, 5);
    apiserver_end_after(&w->server, 2 + dice(w, 6), INF_ENET, "list cut");
    sim_advance(&w->sim, 20);
    for (int i = 0; i < 6; i++)
        write_random_object(w);
}

static void force_relist(struct world *w)
{
    compact_and_cut(w);
    if (dice(w, 2))
        break_next_list(w);
    sim_advance(&w->sim, 70 * 1000); /* longer than any retry delay */
}

uint64_t count_relists(const struct world *w)
{
    uint64_t all = w->relists;
    for (size_t code = 0; code < INF_ERRORS; code++)
        all += w->pipeline.reflector.counts.relists[code];
    return all;
}

static void play(uint64_t seed, uint64_t totals[4])
{
    struct world *w = NEW(struct world);
    begin(w, seed);
    for (unsigned i = 1; i <= OPERATIONS; i++) {
        play_operation(w);
        check_store_version(w);
        check_backlog(w);
        if (dice(w, w->pipeline.emitting ? 4 : RESTART_EVERY) == 0)
            restart(w);
        if (i % FORCED_RELIST_EVERY == 0)
            force_relist(w);
    }
    stop_faults_and_wait(w);
    for (int i = 0; i < 3 && count_relists(w) < 3; i++)
        force_relist(w); /* some were skipped because a slow handler held the stream */
    if (count_relists(w) < 3)
        fail(w, "a story with %" PRIu64 " relists proves little", count_relists(w));
    check_equal(w);
    for (size_t i = 0; i < WITNESSES; i++)
        check_folded(w, &w->witnesses[i]);
    if (w->faults < 10)
        fail(w, "a story with only %u faults proves little", w->faults);
    totals[0] += w->witnesses[FAST].events;
    totals[1] += w->faults;
    totals[2] += count_relists(w);
    totals[3] += w->restarts;
    pipeline_close(&w->pipeline, on_gone);
    sim_run(&w->sim);
    if (!w->gone)
        fail(w, "not gone after closing");
    for (size_t i = 0; i < WITNESSES; i++)
        forget_all(&w->witnesses[i]);
    restart_done(w);
    apiserver_done(&w->server);
    sim_done(&w->sim);
    pack_context_unref(w->packing);
    free(w);
}

int main(int argc, char **argv)
{
    const char *one = getenv("SEED");
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : tier_is_full() ? 2000 : 120;
    uint64_t totals[4] = {0};
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    if (one)
        seeds = 1;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        play(seed, totals);
    printf("%" PRIu64 " seeds: %" PRIu64 " events delivered to the first handler, %" PRIu64
           " faults, %" PRIu64 " relists, %" PRIu64 " restarts\n",
           seeds, totals[0], totals[1], totals[2], totals[3]);
    return 0;
}
