/*
 * bench_memory.c - where the memory of a cache is:  bench_memory TEMPLATES plain|compact PODS [CHANGES]
 *
 * Fills a store with pods (deployments.py, replay_pods.c), in the order of the API server, reads them
 * (reads.h), then changes CHANGES of them. Prints lines of JSON: bytes per pod by part as counted, and
 * what the kernel and the allocator report. No server is needed, so a million pods fit into a small machine.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "core/object/object.h"
#include "core/object/object_layout.h"
#include "core/object/object_packer.h"
#include "core/store/generation.h"
#include "core/store/index_path.h"
#include "core/store/store.h"
#include "reads.h"
#include "replay.h"

enum {
    NAMESPACES = 20,
    SLICE = 100,
    MALLOC_HEADER = 8,
    MALLOC_STEP = 16,
    CLASS_STEP = 64, /* of packed objects: core/object/text_packer.c */
};

struct bench {
    struct world world;
    struct inf_path *node_path;
    struct index_def node;
    struct inf_store *store;
    struct object_maker maker;
    char *text;
};

/* Bytes of all objects, by part. */
struct parts {
    size_t text; /* before packing */
    size_t header, names, body, entries, labels, table, rounding;
};

static void ignore_event(void *ctx, const struct inf_event *event)
{
    (void)ctx;
    (void)event;
}

static struct inf_object *make_pod(struct bench *b, uint32_t pod)
{
    const struct object_defaults kind = {STR("Pod"), STR("v1")};
    struct inf_object *object;
    struct inf_error err;
    size_t len = pod_write(&b->world, pod, b->world.pods[pod], b->text + 1);
    b->text[0] = '{';
    if (object_make(&b->maker, (struct str){b->text, len + 1}, &kind, &object, &err) < 0) {
        fprintf(stderr, "bench_memory: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return object;
}

/* A list is sorted by namespace, and the pods of a deployment are together. */
static void fill(struct bench *b)
{
    uint32_t n = (uint32_t)b->world.n_templates, step = n / NAMESPACES ? n / NAMESPACES : 1;
    struct generation *next = generation_new(b->store);
    for (uint32_t ns = 0; ns < n / step; ns++)
        for (uint32_t k = 0; k < step; k++)
            for (uint32_t pod = ns + k * (n / step); pod < b->world.n_pods; pod += n) {
                struct inf_object *object = make_pod(b, pod);
                generation_put(next, object);
                inf_object_unref(object);
            }
    store_flip(b->store, next, "1", INF_INITIAL);
    while (!store_emit_some(b->store, SLICE, ignore_event, NULL) || !store_sweep(b->store, SLICE) ||
           !store_repack_some(b->store, SLICE))
        continue;
}

static void change(struct bench *b, unsigned long changes)
{
    for (unsigned long i = 0; i < changes; i++) {
        uint32_t pod = (uint32_t)(b->world.version % b->world.n_pods);
        struct inf_object *object;
        world_change(&b->world, true);
        object = make_pod(b, pod);
        store_put(b->store, object, INF_LIVE, ignore_event, NULL);
        inf_object_unref(object);
        if (i % SLICE == 0)
            store_repack_some(b->store, SLICE);
    }
}

/* ---- counting ---- */

static size_t rounded(size_t size)
{
    return (size + MALLOC_HEADER + MALLOC_STEP - 1) / MALLOC_STEP * MALLOC_STEP;
}

static void count_object(struct parts *parts, const struct inf_object *held)
{
    size_t size = inf_object_size(held);
    parts->text += held->text_len;
    parts->header += sizeof(*held) + (held->packed ? sizeof(struct packed_text) : 0);
    parts->names += held->at[PART_TEXT];
    parts->body += size - sizeof(*held) - held->at[PART_TEXT] -
                   (held->packed ? sizeof(struct packed_text) : 0);
    parts->rounding +=
        held->packed ? CLASS_STEP - 1 - (size - 1) % CLASS_STEP : rounded(size) - size;
}

static void count_buckets(struct parts *parts, const struct tree *index)
{
    for (struct tree_node *node = tree_first(index); node; node = tree_next(node))
        parts->labels += rounded(sizeof(struct index_bucket) +
                                 container_of(node, struct index_bucket, in_index)->len + 1);
}

static struct parts count_parts(struct bench *b)
{
    struct generation *g = store_current(b->store);
    struct inf_cursor cursor = INF_CURSOR_START;
    struct parts parts = {0};
    struct entry *e;
    while ((e = generation_next(g, store_version(b->store), "", &cursor))) {
        count_object(&parts, e->object);
        parts.entries += sizeof(*e) + (INDEX_DEFS + 1) * sizeof(struct member) + sizeof(void *);
    }
    inf_cursor_end(&cursor);
    count_buckets(&parts, &g->indexes.namespaces);
    count_buckets(&parts, &g->indexes.trees[INDEX_LABELS]);
    count_buckets(&parts, &g->indexes.trees[INDEX_DEFS]);
    parts.table = (g->by_key.now.mask + 1) * sizeof(struct hash_node *);
    return parts;
}

/* "VmRSS:    1234 kB" as bytes. */
static size_t memory(const char *what)
{
    FILE *f = fopen("/proc/self/status", "r");
    size_t kib = 0;
    char line[256];
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, what, strlen(what)) == 0)
            kib = strtoul(line + strlen(what), NULL, 10);
    if (f)
        fclose(f);
    return kib * 1024;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_figures(struct bench *b, const char *when, size_t before, double began)
{
    struct parts parts = count_parts(b);
    struct mallinfo2 heap = mallinfo2();
    size_t n = inf_store_count(b->store);
    printf(
        "{\"when\":\"%s\",\"pods\":%zu,\"text\":%zu,\"header\":%.1f,\"names\":%.1f,\"body\":%.1f,"
        "\"rounding\":%.1f,\"entry\":%.1f,\"buckets\":%.1f,\"table\":%.1f,",
        when, n, parts.text / n, (double)parts.header / (double)n, (double)parts.names / (double)n,
        (double)parts.body / (double)n, (double)parts.rounding / (double)n,
        (double)parts.entries / (double)n, (double)parts.labels / (double)n,
        (double)parts.table / (double)n);
    printf("\"in_use\":%.1f,\"free\":%.1f,\"rss\":%.1f,\"peak\":%.1f,\"cpu\":%.1f}\n",
           (double)(heap.uordblks + heap.hblkhd) / (double)n, (double)heap.fordblks / (double)n,
           (double)(memory("VmRSS:") - before) / (double)n,
           (double)(memory("VmHWM:") - before) / (double)n, cpu_seconds() - began);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct siphash_key key = {1, 2};
    struct bench b = {.text = NULL};
    struct pack_context *context = pack_context_new(&key);
    unsigned long changes = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    size_t before;
    double began;
    if (argc < 4) {
        fprintf(stderr, "usage: bench_memory TEMPLATES plain|compact PODS [CHANGES]\n");
        return EXIT_FAILURE;
    }
    world_init(&b.world, argv[1], (uint32_t)strtoul(argv[3], NULL, 10), NAMESPACES);
    b.text = xmalloc(b.world.longest + 2);
    b.node_path = inf_path_parse("spec.nodeName", NULL);
    b.node = index_by_path(READS_INDEX, b.node_path);
    b.store = store_new(&key, &b.node, 1);
    if (strcmp(argv[2], "compact") == 0)
        store_pack(b.store, context, NULL);
    before = memory("VmRSS:");
    began = cpu_seconds();
    fill(&b);
    print_figures(&b, "filled", before, began);
    if (changes)
        reads_print(b.store);
    store_take_back(b.store);
    began = cpu_seconds();
    change(&b, changes);
    if (changes)
        print_figures(&b, "changed", before, began);
    while (!store_free_some(b.store, 1000))
        continue;
    pack_context_unref(context);
    object_maker_free(&b.maker);
    inf_path_free(b.node_path);
    world_free(&b.world);
    free(b.text);
    return 0;
}
