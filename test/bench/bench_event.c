/*
 * bench_event.c - the cost of one change, from the bytes of a watch to the line of the event log, by stage.
 *
 *     bench_event [OBJECTS] [ROUNDS]
 *
 * A watch of pods of about 12 KB, half of it managedFields, like real ones. Each round changes every object. Prints CPU
 * time per event, the minimum of all rounds, because other load on the machine only adds to it.
 * instructions.py counts the instructions of each stage instead, which do not depend on the machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "informer/diff.h"

#include "base/alloc.h"
#include "base/base.h"
#include "core/object/object.h"
#include "core/object/object_packer.h"
#include "core/store/store.h"
#include "daemon/format/record_format.h"
#include "daemon/rule/level_rules.h"
#include "kube/source/body.h"

enum stage {
    FRAME,  /* cut only */
    OBJECT, /* cut, read, canonical */
    STORE,
    DIFF,
    LINE,          /* and computes a diff again */
    RULES_ADDED,   /* the level rules of a new object */
    RULES_CHANGED, /* of a change; and computes a diff again */
    PACK,          /* a change of a compact cache: unpacks the old state and packs the new one */
    UNPACK,
    STAGES,
};

static const char *const names[STAGES] = {"cut",
                                          "cut and make the object",
                                          "put it into the store",
                                          "diff",
                                          "diff and write the line",
                                          "level of a new object",
                                          "diff and level of a change",
                                          "put it into a compact one",
                                          "read it from there"};

struct bench {
    size_t n;
    struct buf wire; /* a round's events */
    struct inf_store *store, *compact;
    struct level_rules *levels;
    struct inf_object **objects;
    const struct inf_object **before;
    uint64_t least_ns[STAGES];
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- events ---- */

static void put_managed(struct buf *out, size_t round)
{
    buf_puts(out, "\"managedFields\":[");
    for (int manager = 0; manager < 3; manager++) {
        buf_printf(
            out,
            "%s{\"manager\":\"manager-%d\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":"
            "\"2026-01-01T00:%02zu:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{",
            manager ? "," : "", manager, round % 60);
        for (int field = 0; field < 40; field++)
            buf_printf(out, "%s\"f:field%02d\":{\"f:inner\":{},\"k:{\\\"type\\\":\\\"T\\\"}\":{}}",
                       field ? "," : "", field);
        buf_puts(out, "}}");
    }
    buf_puts(out, "]");
}

static void put_pod(struct buf *out, size_t i, size_t round)
{
    buf_printf(
        out,
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%05zu\",\"namespace\":"
        "\"ns-%02zu\",\"uid\":\"uid-%zu\",\"resourceVersion\":\"%zu\",\"labels\":{\"app\":\"web\"},",
        i, i % 20, i, 1 + round * 100000 + i);
    put_managed(out, round);
    buf_puts(out, "},\"spec\":{\"nodeName\":\"node-1\",\"containers\":[");
    for (int c = 0; c < 4; c++) {
        buf_printf(out, "%s{\"name\":\"c%d\",\"image\":\"registry/app:v1\",\"env\":[", c ? "," : "",
                   c);
        for (int e = 0; e < 12; e++)
            buf_printf(
                out,
                "%s{\"name\":\"VARIABLE_%d\",\"value\":\"some value number %d of this container\"}",
                e ? "," : "", e, e);
        buf_puts(out, "]}");
    }
    buf_printf(
        out,
        "]},\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.1\",\"conditions\":[{\"type\":\"Ready\","
        "\"status\":\"%s\"}],\"containerStatuses\":[{\"name\":\"c0\",\"restartCount\":%zu}]}}",
        round % 2 ? "True" : "False", round);
}

static void make_wire(struct bench *b, size_t round)
{
    buf_clear(&b->wire);
    for (size_t i = 0; i < b->n; i++) {
        buf_puts(&b->wire, "{\"type\":\"MODIFIED\",\"object\":");
        put_pod(&b->wire, i, round);
        buf_puts(&b->wire, "}\n");
    }
}

/* ---- stages ---- */

static void cut(struct bench *b)
{
    struct str input = {b->wire.bytes, b->wire.len}, text;
    struct frame frame = {0};
    while (frame_next(&frame, &input, &text) > 0)
        continue;
    frame_reset(&frame);
}

static void make_objects(struct bench *b)
{
    struct str input = {b->wire.bytes, b->wire.len};
    struct source_event event;
    struct body body = {0};
    struct inf_error err;
    size_t i = 0;
    body_start(&body, &(struct source_request){.want = SOURCE_WATCH});
    while (body_next(&body, &input, &event, &err) == 1)
        b->objects[i++] = event.object;
    body_free(&body);
}

static void on_change(void *ctx, const struct inf_event *event)
{
    const struct inf_object ***next = ctx;
    *(*next)++ = event->old_object ? inf_object_ref(event->old_object) : NULL;
}

static void put_objects(struct bench *b)
{
    const struct inf_object **next = b->before;
    for (size_t i = 0; i < b->n; i++)
        store_put(b->store, b->objects[i], INF_LIVE, on_change, &next);
}

static void diff_objects(struct bench *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->before[i])
            inf_diff_free(inf_diff_make(b->before[i], b->objects[i], NULL, NULL));
}

static void write_line(const struct change_reader *reader, struct buf *out,
                       const struct inf_object *old, struct inf_object *new)
{
    static const struct watch_id pods = {
        .cluster = "bench", .name = "pods", .group = "", .version = "v1", .resource = "pods"};
    static const struct record_options options = {.object = RECORD_DIFF,
                                                  .context =
                                                      CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE,
                                                  .max_line = RECORD_LINE_DEFAULT};
    struct inf_event event = {INF_MODIFIED, INF_LIVE, old, new, true, 0};
    struct inf_diff *diff = inf_diff_make(old, new, NULL, NULL);
    struct change change;
    change_init(&change, reader, &pods, &event, diff);
    change.stamp.log = "bench";
    buf_clear(out);
    jsonl_format.put_change(out, &change, &options);
    inf_diff_free(diff);
}

static void write_lines(struct bench *b)
{
    struct buf line = {0};
    struct change_reader reader;
    change_reader_init(&reader);
    reader.context_parts = CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE;
    for (size_t i = 0; i < b->n; i++)
        if (b->before[i])
            write_line(&reader, &line, b->before[i], b->objects[i]);
    change_reader_done(&reader);
    buf_free(&line);
}

static void apply_levels(struct bench *b, size_t i, enum inf_verb verb)
{
    struct inf_event event = {verb,          INF_LIVE, verb == INF_ADDED ? NULL : b->before[i],
                              b->objects[i], true,     0};
    struct change change = {.event = &event, .object = b->objects[i], .kind = "Pod"};
    if (verb == INF_MODIFIED)
        change.diff = inf_diff_make(b->before[i], b->objects[i], NULL, NULL);
    level_rules_apply(b->levels, &change);
    inf_diff_free(change.diff);
}

static void level_added(struct bench *b)
{
    for (size_t i = 0; i < b->n; i++)
        apply_levels(b, i, INF_ADDED);
}

static void level_changed(struct bench *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->before[i])
            apply_levels(b, i, INF_MODIFIED);
}

static void ignore_change(void *ctx, const struct inf_event *event)
{
    (void)ctx;
    (void)event;
}

static void pack_objects(struct bench *b)
{
    for (size_t i = 0; i < b->n; i++)
        store_put(b->compact, b->objects[i], INF_LIVE, ignore_change, NULL);
}

static void unpack_objects(struct bench *b)
{
    for (size_t i = 0; i < b->n; i++) {
        inf_store_get(b->compact, inf_object_namespace(b->objects[i]),
                      inf_object_name(b->objects[i]));
        store_take_back(b->compact);
    }
}

static void run_round(struct bench *b, size_t round)
{
    static void (*const stages[STAGES])(struct bench * b) = {
        cut,         make_objects,  put_objects,  diff_objects,  write_lines,
        level_added, level_changed, pack_objects, unpack_objects};
    make_wire(b, round);
    for (int stage = 0; stage < STAGES; stage++) {
        uint64_t start = now_ns(), took;
        stages[stage](b);
        took = now_ns() - start;
        if (round && (!b->least_ns[stage] || took < b->least_ns[stage]))
            b->least_ns[stage] = took;
    }
    for (size_t i = 0; i < b->n; i++) {
        inf_object_unref(b->before[i]);
        inf_object_unref(b->objects[i]);
        b->before[i] = NULL;
    }
}

int main(int argc, char **argv)
{
    static const struct siphash_key key = {1, 2};
    static const struct pack_limits limits = {.text_min = 512, .objects = 32, .window = 1000};
    struct pack_context *packing = pack_context_new(&key);
    struct bench b = {.n = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000};
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;
    b.store = store_new(&key, NULL, 0);
    b.compact = store_new(&key, NULL, 0);
    b.levels = level_rules_make(NULL, 0, NULL);
    store_pack(b.compact, packing, &limits);
    pack_context_unref(packing);
    b.objects = xcalloc(b.n, sizeof(*b.objects));
    b.before = xcalloc(b.n, sizeof(*b.before));
    for (size_t round = 0; round <= rounds; round++)
        run_round(&b, round);
    printf("%zu events of %zu bytes\n", b.n, b.wire.len / b.n);
    for (int stage = 0; stage < STAGES; stage++)
        printf("  %-26s %6.1f us\n", names[stage], (double)b.least_ns[stage] / 1000 / (double)b.n);
    while (!store_free_some(b.store, 1000))
        continue;
    while (!store_free_some(b.compact, 1000))
        continue;
    level_rules_free(b.levels);
    buf_free(&b.wire);
    free(b.objects);
    free(b.before);
    return 0;
}
