/*
 * bench_store.c - how long the store keeps the loop busy, with 100,000 pods and three indexes.
 *
 * For each phase: total CPU time, and that of the longest slice of 64 entries, for which the loop
 * waits. Objects are created before, so parsing is not included. Then memory in addition to the
 * objects, and the cost of reading. Takes a few seconds:
 *
 *     bench_store [PODS]
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/json/json.h"
#include "base/text/json_string.h"
#include "builders.h"
#include "core/store/generation.h"
#include "core/store/store.h"

enum {
    SLICE = 64,
    PODS_A_SET = 5, /* of one ReplicaSet, which have the same labels */
    NODES = 1000,
};

/* ---- pods ---- */

static struct inf_object *make_pod(size_t i, int version)
{
    static const char *const phases[] = {"Running", "Running", "Running", "Pending", "Succeeded"};
    size_t set = i / PODS_A_SET;
    char *text = xasprintf(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"app-%zu-%zu\","
        "\"namespace\":\"team-%zu\",\"uid\":\"7a1c9f0e-0000-4000-8000-%012zu\","
        "\"resourceVersion\":\"%d\",\"labels\":{\"app.kubernetes.io/name\":\"app-%zu\","
        "\"pod-template-hash\":\"6d4b75cb6d%zu\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
        "\"kind\":\"ReplicaSet\",\"uid\":\"00000000-1111-4000-8000-%012zu\"}]},\"spec\":{"
        "\"nodeName\":\"node-%zu.example.internal\",\"containers\":[{\"name\":\"main\",\"image\":"
        "\"registry.example/app:%d\"}]},\"status\":{\"phase\":\"%s\"}}",
        set, i, set % 200, i, version, set, set, set, (i * 7 + (size_t)version / 1000) % NODES,
        version, phases[i % 5]);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

static bool member(struct str object, const char *name, struct str *ret)
{
    struct json_walk walk;
    struct json_member m;
    json_walk_start(&walk, object);
    while (json_walk_next(&walk, &m))
        if (json_key_is(m.key, name)) {
            *ret = m.value;
            return true;
        }
    return false;
}

/* The string at "top.member". */
static void string_at(const struct index_def *def, const struct inf_object *object,
                      index_value_fn each, void *ctx)
{
    const char *const *path = def->data;
    struct str value;
    value.at = inf_object_json(object, &value.len);
    for (; *path; path++)
        if (!member(value, *path, &value))
            return;
    each(ctx, (struct str){value.at + 1, value.len - 2});
}

static void owner_uid(const struct index_def *def, const struct inf_object *object,
                      index_value_fn each, void *ctx)
{
    struct str value;
    (void)def;
    value.at = inf_object_json(object, &value.len);
    if (!member(value, "metadata", &value) || !member(value, "ownerReferences", &value))
        return;
    value = (struct str){value.at + 1, value.len - 2};
    if (member(value, "uid", &value))
        each(ctx, (struct str){value.at + 1, value.len - 2});
}

static const char *const node_path[] = {"spec", "nodeName", NULL};
static const char *const phase_path[] = {"status", "phase", NULL};
static const struct index_def defs[] = {
    {"node", string_at, node_path},
    {"phase", string_at, phase_path},
    {"owner", owner_uid, NULL},
};

/* ---- time ---- */

struct phase {
    const char *name;
    double total;
    double worst;
    size_t worst_at; /* number of the worst slice: often one that resizes a table */
    size_t slices;
    double start;
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void slice_start(struct phase *phase)
{
    phase->start = now_us();
}

static void slice_end(struct phase *phase)
{
    double took = now_us() - phase->start;
    phase->total += took;
    if (took > phase->worst) {
        phase->worst = took;
        phase->worst_at = phase->slices;
    }
    phase->slices++;
}

static void report(const struct phase *phase)
{
    printf("%-32s %8.1f ms total %9.1f us worst, slice %zu of %zu\n", phase->name,
           phase->total / 1e3, phase->worst, phase->worst_at, phase->slices);
}

/* ---- phases ---- */

static void count_event(void *ctx, const struct inf_event *event)
{
    (void)event;
    ++*(size_t *)ctx;
}

static struct generation *fill(struct inf_store *store, struct inf_object **pods, size_t count,
                               const char *name)
{
    struct generation *next = generation_new(store);
    struct phase phase = {.name = name};
    for (size_t i = 0; i < count; i += SLICE) {
        slice_start(&phase);
        for (size_t k = i; k < i + SLICE && k < count; k++)
            generation_put(next, pods[k]);
        slice_end(&phase);
    }
    report(&phase);
    return next;
}

static void flip_and_emit(struct inf_store *store, struct generation *next)
{
    struct phase flip = {.name = "  flip"}, emit = {.name = "  emit"}, sweep = {.name = "  sweep"};
    size_t events = 0;
    bool done = false;
    slice_start(&flip);
    store_flip(store, next, "1", INF_RELIST);
    slice_end(&flip);
    report(&flip);
    while (!done) {
        slice_start(&emit);
        done = store_emit_some(store, SLICE, count_event, &events);
        slice_end(&emit);
    }
    report(&emit);
    for (done = false; !done;) {
        slice_start(&sweep);
        done = store_sweep(store, SLICE);
        slice_end(&sweep);
    }
    report(&sweep);
    printf("  %zu events\n", events);
}

static void put_all(struct inf_store *store, struct inf_object **pods, size_t count,
                    const char *name)
{
    struct phase phase = {.name = name};
    size_t events = 0;
    for (size_t i = 0; i < count; i += SLICE) {
        slice_start(&phase);
        for (size_t k = i; k < i + SLICE && k < count; k++)
            store_put(store, pods[k], INF_LIVE, count_event, &events);
        slice_end(&phase);
    }
    report(&phase);
}

static void tear_down(struct inf_store *store)
{
    struct phase phase = {.name = "teardown"};
    for (bool done = false; !done;) {
        slice_start(&phase);
        done = store_free_some(store, SLICE);
        slice_end(&phase);
    }
    report(&phase);
}

/* ---- reading ---- */

static bool count_object(void *ctx, const struct inf_object *object)
{
    (void)object;
    ++*(size_t *)ctx;
    return true;
}

static bool contains(const void *selector, struct str labels)
{
    return memmem(labels.at, labels.len, selector, strlen(selector)) != NULL;
}

static void read_index(struct inf_store *store, const char *index, const char *value)
{
    size_t found = 0;
    double start = now_us();
    inf_store_by_index(store, index, value, count_object, &found);
    printf("by index %s=%s: %zu objects in %.1f us\n", index, value, found, now_us() - start);
}

static void read_labels(struct inf_store *store, const char *ns, const char *word)
{
    struct label_query query = {ns, contains, word};
    struct inf_cursor cursor = INF_CURSOR_START;
    struct phase phase = {.name = *ns ? "by labels, one namespace" : "by labels, all"};
    size_t found = 0;
    for (bool done = false; !done;) {
        size_t budget = SLICE;
        slice_start(&phase);
        done = store_by_labels(store, &query, &cursor, &budget, count_object, &found);
        slice_end(&phase);
    }
    inf_cursor_end(&cursor);
    report(&phase);
    printf("  %zu objects\n", found);
}

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000, before;
    struct inf_object **pods = xcalloc(count, sizeof(*pods));
    struct inf_store *store = store_new(&(struct siphash_key){1, 2}, defs, 3);
    for (size_t i = 0; i < count; i++)
        pods[i] = make_pod(i, 1);
    before = in_use();
    flip_and_emit(store, fill(store, pods, count, "first list"));
    printf("%.1f bytes per object in addition to its own %.1f bytes\n\n",
           (double)(in_use() - before) / (double)count,
           (double)inf_store_bytes(store) / (double)count);

    flip_and_emit(store, fill(store, pods, count, "unchanged relist"));
    for (size_t i = 0; i < count; i += 10) { /* another version, and another node */
        inf_object_unref(pods[i]);
        pods[i] = make_pod(i, 1002);
    }
    flip_and_emit(store, fill(store, pods, count, "relist, 10 % changed"));
    for (size_t i = 0; i < count; i++) {
        inf_object_unref(pods[i]);
        pods[i] = make_pod(i, i % 10 ? 2 : 1003);
    }
    put_all(store, pods, count, "update of all, values unchanged");

    read_index(store, "node", "node-7.example.internal");
    read_index(store, "phase", "Running");
    read_index(store, "namespace", "team-7");
    read_labels(store, "", "app-77\"");
    read_labels(store, "team-77", "app-77\"");

    tear_down(store);
    for (size_t i = 0; i < count; i++)
        inf_object_unref(pods[i]);
    free(pods);
    return 0;
}
