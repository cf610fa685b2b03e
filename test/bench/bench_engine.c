/*
 * bench_engine.c - the longest iteration of the loop while the engine is busy.
 *
 *     bench_engine [OBJECTS]
 *
 * Runs the whole engine (reflector, FIFO, store with three indexes, dispatch) on a source that has all
 * objects in memory, with the budget that the real loop gives a phase. Each phase is run tick by tick;
 * the longest tick of each is printed. This does not measure throughput: it shows that no tick is
 * long, whatever the number of objects.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/base.h"
#include "builders.h"
#include "core/dispatch/pipeline.h"
#include "core/store/index_path.h"
#include "loop/loop.h"
#include "sim.h"

enum {
    BUDGET_NS = LOOP_BUDGET_US * 1000,
    CHURN_EVERY = 10, /* each tenth object changes for the churn relist */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* CPU time: other processes do not count */
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- a source with all objects in memory ---- */

struct bench {
    struct source source;
    struct sim sim;
    struct sim_io io;
    struct clock_ops ops; /* that of the simulation, except the budget */
    uint64_t deadline_ns;
    struct inf_object **objects;
    size_t count;
    size_t sent;
    struct source_user *user;
    struct pipeline pipeline;
    bool gone;
};

static bool real_budget(struct clock *clock)
{
    struct bench *b = container_of(clock, struct bench, sim.clock);
    if (!b->deadline_ns)
        b->deadline_ns = now_ns() + BUDGET_NS;
    return now_ns() >= b->deadline_ns;
}

static bool send_some(struct sim_io *io)
{
    struct bench *b = container_of(io, struct bench, io);
    struct source_event event = {.type = SOURCE_ADDED};
    if (!b->user || b->sent > b->count)
        return false;
    while (b->sent < b->count && !clock_over_budget(&b->sim.clock)) {
        event.object = b->objects[b->sent++];
        event.resource_version = inf_object_resource_version(event.object);
        b->user->ops->on_event(b->user, &event);
    }
    if (b->sent < b->count)
        return true;
    b->sent++;
    b->user->ops->on_event(b->user, &(struct source_event){.type = SOURCE_BOOKMARK,
                                                           .resource_version = "900000",
                                                           .initial_end = true});
    return true;
}

static void bench_open(struct source *source, const struct source_request *request,
                       struct source_user *user)
{
    struct bench *b = container_of(source, struct bench, source);
    (void)request;
    b->user = user;
    b->sent = 0;
}

static void bench_cancel(struct source *source)
{
    container_of(source, struct bench, source)->user = NULL;
}

static void bench_ignore(struct source *source)
{
    (void)source;
}

static const struct source_ops ops = {
    .open = bench_open,
    .cancel = bench_cancel,
    .pause = bench_ignore,
    .resume = bench_ignore,
};

/* ---- objects ---- */

static struct inf_object *make(size_t i, unsigned version)
{
    char *text = xasprintf(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%06zu\",\"namespace\":"
        "\"ns-%zu\",\"uid\":\"%08zx-0000\",\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"app-%zu\","
        "\"tier\":\"t%zu\"},\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"uid\":\"rs-%zu\"}]},"
        "\"spec\":{\"nodeName\":\"node-%zu\",\"containers\":[{\"name\":\"c\",\"image\":\"%0600d\"}]},"
        "\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.%zu.%zu\"}}",
        i, i % 50, i, version, i % 2000, i % 7, i % 5000, i % 1000, 0, i / 256 % 256, i % 256);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

static void make_all(struct bench *b)
{
    b->objects = xcalloc(b->count, sizeof(*b->objects));
    for (size_t i = 0; i < b->count; i++)
        b->objects[i] = make(i, 1);
}

/* Copies of the objects, as a relist receives them; some are changed. */
static void make_again(struct bench *b, size_t changed_every)
{
    for (size_t i = 0; i < b->count; i++) {
        inf_object_unref(b->objects[i]);
        b->objects[i] = make(i, changed_every && i % changed_every == 0 ? 2 : 1);
    }
}

/* ---- phases ---- */

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    (void)informer;
    (void)handler, (void)event;
}

static void run(struct bench *b, const char *name)
{
    uint64_t worst = 0, total = 0, ticks = 0;
    bool busy = true;
    while (busy) {
        uint64_t before = now_ns(), ns;
        b->deadline_ns = 0;
        busy = sim_tick(&b->sim);
        ns = now_ns() - before;
        worst = ns > worst ? ns : worst;
        total += ns;
        ticks++;
    }
    printf("%-28s longest tick %6.2f ms   %6" PRIu64 " ticks   %8.1f ms in total\n", name,
           (double)worst / 1e6, ticks, (double)total / 1e6);
}

static void relist(struct bench *b)
{
    struct inf_error why = {.code = INF_EGONE, .text = "too old"};
    struct source_user *user = b->user;
    b->user = NULL;
    fault_guard_reset(&b->pipeline.reflector.guard); /* without waiting for each of them */
    user->ops->on_end(user, &why);
}

static void on_gone(struct pipeline *p)
{
    container_of(p, struct bench, pipeline)->gone = true;
}

static void play(struct bench *b, const struct pipeline_settings *settings)
{
    struct inf_handler first = {.on_event = on_event}, late = {.on_event = on_event};
    pipeline_init(&b->pipeline, "pods", &b->source, &b->sim.clock, &(struct siphash_key){1, 2},
                  NULL, settings);
    dispatch_add(&b->pipeline.dispatch, &first, NULL);
    pipeline_start(&b->pipeline);
    run(b, "first sync");
    make_again(b, 0);
    relist(b);
    run(b, "relist, nothing changed");
    make_again(b, CHURN_EVERY);
    relist(b);
    run(b, "relist, a tenth changed");
    dispatch_add(&b->pipeline.dispatch, &late, NULL);
    run(b, "replay to a late handler");
    b->count /= 2;
    relist(b);
    run(b, "relist, half is deleted");
    b->count *= 2;
    pipeline_close(&b->pipeline, on_gone);
    run(b, "teardown");
}

int main(int argc, char **argv)
{
    struct bench *b = NEW(struct bench);
    struct inf_path *paths[] = {inf_path_parse("spec.nodeName", NULL),
                                inf_path_parse("metadata.ownerReferences[*].uid", NULL),
                                inf_path_parse("status.podIP", NULL)};
    struct index_def defs[] = {index_by_path("node", paths[0]), index_by_path("owner", paths[1]),
                               index_by_path("ip", paths[2])};
    struct pipeline_settings settings = {.indexes = defs, .n_indexes = ARRAY_LEN(defs)};
    mallopt(M_MXFAST, 0); /* as the daemon does; see src/daemon/cli/main.c */
    b->source.ops = &ops;
    b->count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    sim_init(&b->sim);
    b->ops = *b->sim.clock.ops;
    b->ops.over_budget = real_budget;
    b->sim.clock.ops = &b->ops;
    sim_io_add(&b->sim, &b->io, send_some);
    make_all(b);
    printf("%zu objects of %zu bytes, 3 indexes, tick budget %d us\n", b->count,
           inf_object_size(b->objects[0]), BUDGET_NS / 1000);
    play(b, &settings);
    for (size_t i = 0; i < b->count; i++)
        inf_object_unref(b->objects[i]);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        inf_path_free(paths[i]);
    free(b->objects);
    sim_io_remove(&b->io);
    free(b);
    return 0;
}
