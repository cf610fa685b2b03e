/*
 * reads.c - reads the cache in the same ways as peers/client-go/reads.go does with client-go's lister. Both read the
 * resource version of each object that they find: an object that is not read need not be found.
 *
 * Labels, nodes and namespaces of the pods: see pod.py, deployments.py and replay_pods.c.
 */
#include "reads.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "core/store/store.h"

enum {
    NAMESPACES = 20,
    APPS = 100,
    NODES = 500,
    FIRST = 100, /* of each of them */
};

struct pod_name {
    char ns[16];
    char name[112];
};

struct reads {
    struct inf_store *store;
    struct pod_name *pods; /* in random order */
    char (*spaces)[16];
    struct inf_selector *selectors[APPS];
    size_t found;
};

static bool count(void *ctx, const struct inf_object *object)
{
    struct reads *r = ctx;
    r->found += *inf_object_resource_version(object) != '\0';
    return true;
}

static void by_key(struct reads *r, size_t i)
{
    const struct inf_object *object = inf_store_get(r->store, r->pods[i].ns, r->pods[i].name);
    if (object)
        count(r, object);
    store_take_back(r->store); /* as the loop does after a callback */
}

static void by_namespace(struct reads *r, size_t i)
{
    inf_store_select(r->store, r->spaces[i], NULL, count, r);
}

static void by_label(struct reads *r, size_t i)
{
    inf_store_select(r->store, "", r->selectors[i], count, r);
}

static void by_index(struct reads *r, size_t i)
{
    char node[32];
    snprintf(node, sizeof(node), "node-%zu", FIRST + i);
    inf_store_by_index(r->store, READS_INDEX, node, count, r);
}

/* CPU time: other processes do not count. */
static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The mean duration of @n calls, which together must find every object. */
static void each(struct reads *r, const char *what, size_t n, void (*call)(struct reads *, size_t))
{
    int64_t began = now_ns(), took;
    r->found = 0;
    for (size_t i = 0; i < n; i++)
        call(r, i);
    took = now_ns() - began;
    if (r->found != inf_store_count(r->store)) {
        fprintf(stderr, "by %s: found %zu\n", what, r->found);
        exit(EXIT_FAILURE);
    }
    printf("\"%s\":%lld", what, (long long)took / (long long)n);
}

/* Puts each name at a random place, and the one that was there at the end. */
static void collect_names(struct reads *r, size_t pods)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    struct rng rng = {1};
    size_t n = 0;
    r->pods = xcalloc(pods, sizeof(*r->pods));
    while ((object = inf_store_next(r->store, &cursor))) {
        struct pod_name *at = &r->pods[rng_below(&rng, n + 1)];
        r->pods[n++] = *at;
        snprintf(at->ns, sizeof(at->ns), "%s", inf_object_namespace(object));
        snprintf(at->name, sizeof(at->name), "%s", inf_object_name(object));
    }
    inf_cursor_end(&cursor);
}

static void prepare(struct reads *r, size_t pods)
{
    char text[32];
    collect_names(r, pods);
    r->spaces = xcalloc(NAMESPACES, sizeof(*r->spaces));
    for (int i = 0; i < NAMESPACES; i++)
        snprintf(r->spaces[i], sizeof(*r->spaces), "ns-%d", FIRST + i);
    for (int i = 0; i < APPS; i++) {
        snprintf(text, sizeof(text), "app=app-%d", FIRST + i);
        r->selectors[i] = inf_selector_parse_labels(text, NULL);
    }
}

void reads_print(struct inf_store *store)
{
    struct reads r = {.store = store};
    size_t pods = inf_store_count(store);
    store_set_events(store, NULL, NULL); /* by_key() takes objects back itself, the loop must not */
    prepare(&r, pods);
    printf("{");
    each(&r, "key", pods, by_key);
    printf(",");
    each(&r, "namespace", NAMESPACES, by_namespace);
    printf(",");
    each(&r, "label", APPS, by_label);
    printf(",");
    each(&r, "index", NODES, by_index);
    printf("}\n");
    for (int i = 0; i < APPS; i++)
        inf_selector_free(r.selectors[i]);
    free(r.pods);
    free(r.spaces);
}
