/*
 * bench_state.c - a start with saved objects: the time until reads are served, CPU time, memory and the
 * longest tick.
 *
 *     bench_state save DIR PODS [CHANGES]   saves packed pods of about 7 KB, as a compact cache has them
 *     bench_state start DIR [ROUNDS]        loads them and restores them to a compact cache
 *
 * `save` prints the bytes written per change; many changes cause compactions. A tick is one iteration of the
 * loop, in CPU time of its thread: other processes do not count, nor does making the pods. `start` runs as another process: it prints one line of
 * JSON, with times in milliseconds since the start of the process and memory in bytes; served_loop_ms is the CPU
 * time of the loop's thread without the pool, the time from start to served on a machine with free processors. With the page
 * cache of `save` it is a warm start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <uv.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "builders.h"
#include "core/object/object_packer.h"
#include "core/state/state.h"
#include "core/store/store.h"
#include "loop/disk.h"
#include "loop/loop.h"

enum {
    BATCH = 100,
    PODS_A_SET = 5,
    VARIABLES = 60, /* environment of the container: most of the text */
    LONG_TICK_MS = 5,
};

struct bench {
    struct loop loop;
    struct loop_disk disk;
    struct inf_state *state;
    struct inf_state_settings settings;
    struct inf_store *store;
    struct generation *next;
    struct task task;
    double loaded_ms, loaded_cpu_ms, restored_ms, restored_cpu_ms, restored_loop_ms;
    size_t pods, changes, at;
    struct object_packer packer;
    struct buf text;
    uint64_t written; /* before the changes */
    uv_prepare_t prepare;
    double tick_ms, excluded_ms; /* CPU time: at the last iteration; since then, for making pods */
    double worst_tick_ms;
    unsigned long_ticks; /* over LONG_TICK_MS */
};

static double clock_ms_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- ticks ---- */

static void on_prepare(uv_prepare_t *handle)
{
    struct bench *b = handle->data;
    double now = clock_ms_of(CLOCK_THREAD_CPUTIME_ID), took = now - b->tick_ms - b->excluded_ms;
    if (b->tick_ms > 0 && took > b->worst_tick_ms)
        b->worst_tick_ms = took;
    b->long_ticks += b->tick_ms > 0 && took > LONG_TICK_MS;
    b->tick_ms = now;
    b->excluded_ms = 0;
}

static void start_ticks(struct bench *b, uv_loop_t *uv)
{
    uv_prepare_init(uv, &b->prepare);
    b->prepare.data = b;
    uv_prepare_start(&b->prepare, on_prepare);
    uv_unref((uv_handle_t *)&b->prepare);
}

/* ---- save ---- */

static void put_labels(struct buf *text, size_t set)
{
    buf_printf(text, "{\"app\":\"app-%zu\",\"pod-template-hash\":\"%zx\"}", set, set * 7919 + 4096);
}

static struct inf_object *make_pod(struct buf *text, size_t i, size_t version)
{
    size_t set = i / PODS_A_SET;
    buf_clear(text);
    buf_printf(text,
               "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"app-%06zu-%07zu\","
               "\"namespace\":\"team-%03zu\",\"uid\":\"7a1c9f0e-0000-4000-8000-%012zu\","
               "\"resourceVersion\":\"%zu\",\"labels\":",
               set, i, set / 100, i, version);
    put_labels(text, set);
    buf_printf(text,
               "},\"spec\":{\"nodeName\":\"node-%zu\",\"containers\":[{\"name\":\"main\",\"env\":[",
               i * 7 % 1000);
    for (size_t k = 0; k < VARIABLES; k++)
        buf_printf(text,
                   "%s{\"name\":\"SETTING_%zu_OF_THE_APPLICATION\",\"value\":"
                   "\"https://service-%zu.team-%zu.svc.cluster.local:8443/path-%zu\"}",
                   k ? "," : "", k, (set * 31 + k) % 977, set % 200, k * k % 89);
    buf_puts(text, "]}]},\"status\":{\"phase\":\"Running\"}}");
    buf_putc(text, '\0');
    return object_from(text->bytes);
}

static void save_pod(struct bench *b, struct inf_state_stream *stream, size_t i, size_t version)
{
    double began = clock_ms_of(CLOCK_THREAD_CPUTIME_ID);
    struct inf_object *pod = make_pod(&b->text, i, version);
    const struct inf_object *packed = object_pack(&b->packer, pod, b->pods);
    struct buf labels = {0};
    struct str text;
    b->excluded_ms += clock_ms_of(CLOCK_THREAD_CPUTIME_ID) - began;
    put_labels(&labels, i / PODS_A_SET);
    text = (struct str){labels.bytes, labels.len};
    state_put(stream, packed, &text);
    buf_free(&labels);
    inf_object_unref(packed);
    inf_object_unref(pod);
}

static void on_closed(void *ctx)
{
    (void)ctx;
}

static void end_saving(struct bench *b)
{
    struct inf_state_info info;
    inf_state_info(b->state, &info);
    printf("{\"saved\":%zu,\"disk\":%llu", b->pods, (unsigned long long)info.disk_bytes);
    if (b->changes)
        printf(",\"written_per_change\":%.0f",
               (double)(info.written_bytes - b->written) / (double)b->changes);
    printf(",\"compactions\":%llu,\"worst_tick_ms\":%.2f,\"long_ticks\":%u}\n",
           (unsigned long long)info.compactions, b->worst_tick_ms, b->long_ticks);
    inf_state_close(b->state, on_closed, NULL);
}

/* The pods in the order of their keys, then changes of some. */
static void save_batch(struct bench *b)
{
    struct inf_state_stream *stream = inf_state_stream(b->state, "pods");
    struct inf_state_info info;
    bool changing = b->at >= b->pods;
    if (b->at == b->pods) {
        inf_state_info(b->state, &info);
        b->written = info.written_bytes;
    }
    if (b->at == b->pods + b->changes) {
        end_saving(b);
        return;
    }
    for (size_t n = 0; n < BATCH && b->at < b->pods; n++, b->at++)
        save_pod(b, stream, b->at, b->at + 1);
    for (size_t n = 0; n < BATCH && changing && b->at < b->pods + b->changes; n++, b->at++)
        save_pod(b, stream, b->at * 7919 % b->pods, b->at + 1);
    inf_state_position(stream, "1");
    inf_state_flush(b->state);
}

static void on_flushed(struct inf_state *state, uint64_t flush)
{
    (void)flush;
    save_batch(inf_state_data(state));
}

static void on_ready_to_save(struct inf_state *state)
{
    struct bench *b = inf_state_data(state);
    object_packer_init(&b->packer, state_pack_context(state), NULL, 7);
    save_batch(b);
}

/* ---- start ---- */

static size_t read_status(const char *field)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtoul(line + strlen(field), NULL, 10);
    if (status)
        fclose(status);
    return kib * 1024;
}

static void end_start(struct bench *b)
{
    store_restore(b->store, b->next, "1");
    b->restored_ms = clock_ms_of(CLOCK_MONOTONIC);
    b->restored_cpu_ms = clock_ms_of(CLOCK_PROCESS_CPUTIME_ID);
    b->restored_loop_ms = clock_ms_of(CLOCK_THREAD_CPUTIME_ID);
    inf_state_close(b->state, on_closed, NULL);
}

/* As core/dispatch/pipeline.c does it. */
static void restore_some(struct task *task)
{
    struct bench *b = container_of(task, struct bench, task);
    struct inf_state_stream *stream = inf_state_stream(b->state, "pods");
    size_t damaged = 0;
    bool done;
    do
        done = state_stream_move(stream, b->store, &b->next, &damaged);
    while (!done && !clock_over_budget(&b->loop.clock));
    if (done && (!b->next || damaged))
        abort();
    if (done)
        end_start(b);
    else
        task_schedule(&b->loop.clock, task);
}

static void on_loaded(struct inf_state *state)
{
    struct bench *b = inf_state_data(state);
    b->loaded_ms = clock_ms_of(CLOCK_MONOTONIC);
    b->loaded_cpu_ms = clock_ms_of(CLOCK_PROCESS_CPUTIME_ID);
    b->store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    store_pack(b->store, state_pack_context(state), NULL);
    task_schedule(&b->loop.clock, &b->task);
}

static void print_start(struct bench *b, double began_ms)
{
    size_t count = inf_store_count(b->store), rss = read_status("VmRSS:");
    const struct inf_object *first;
    struct inf_cursor cursor = INF_CURSOR_START;
    first = inf_store_next(b->store, &cursor); /* it can be read */
    if (!first || !inf_object_json(first, NULL))
        abort();
    inf_cursor_end(&cursor);
    printf(
        "{\"objects\":%zu,\"loaded_ms\":%.1f,\"loaded_cpu_ms\":%.1f,\"served_ms\":%.1f,"
        "\"served_cpu_ms\":%.1f,\"served_loop_ms\":%.1f,\"worst_tick_ms\":%.2f,\"peak\":%zu,\"rss\":%zu,\"held\":%zu}\n",
        count, b->loaded_ms - began_ms, b->loaded_cpu_ms, b->restored_ms - began_ms,
        b->restored_cpu_ms, b->restored_loop_ms, b->worst_tick_ms, read_status("VmHWM:"), rss,
        inf_store_bytes(b->store));
    while (!store_free_some(b->store, 1000))
        continue;
}

/* ---- both ---- */

static void on_loop_closed(struct loop *loop)
{
    (void)loop;
}

static void on_state_freed(void *owner)
{
    struct bench *b = owner;
    loop_disk_close(&b->disk);
}

int main(int argc, char **argv)
{
    bool save = argc > 3 && strcmp(argv[1], "save") == 0;
    double began = clock_ms_of(CLOCK_MONOTONIC);
    struct bench *b = NEW(struct bench);
    struct inf_error err = {0};
    uv_loop_t uv;
    if (!save && (argc < 3 || strcmp(argv[1], "start") != 0)) {
        fprintf(stderr, "usage: bench_state save DIR PODS [CHANGES] | start DIR\n");
        return 64;
    }
    uv_loop_init(&uv);
    loop_init(&b->loop, &uv);
    loop_disk_init(&b->disk, &b->loop);
    start_ticks(b, &uv);
    task_init(&b->task, PHASE_PUMP, restore_some);
    b->pods = save ? strtoul(argv[3], NULL, 10) : 0;
    b->changes = save && argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    b->settings = (struct inf_state_settings){
        .dir = argv[2], .data = b, .on_loaded = save ? on_ready_to_save : on_loaded};
    if (save)
        b->settings.on_flushed = on_flushed;
    b->state = state_new(&b->disk.disk, &b->loop.clock, &(struct siphash_key){3, 4}, &b->settings,
                         on_state_freed, b, &err);
    if (!b->state) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    uv_run(&uv, UV_RUN_DEFAULT);
    if (!save)
        print_start(b, began);
    else
        object_packer_free(&b->packer);
    uv_close((uv_handle_t *)&b->prepare, NULL);
    loop_close(&b->loop, on_loop_closed);
    uv_run(&uv, UV_RUN_DEFAULT);
    uv_loop_close(&uv);
    buf_free(&b->text);
    free(b);
    return 0;
}
