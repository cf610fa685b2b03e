/*
 * bench_restore.c - the cost of restoring saved objects, per object and for the longest slice.
 *
 * Pods of about 7 KB, plain or packed as an earlier process held them, are moved to a plain or a
 * compact store, without and with an index. Reading the files is not included. Takes a few seconds:
 *
 *     bench_restore [PODS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "builders.h"
#include "core/object/object_packer.h"
#include "core/store/index_path.h"
#include "core/store/store.h"

enum {
    SLICE = 64,
    PODS_A_SET = 5,
    VARIABLES = 60, /* environment of the container: most of the text */
};

static struct inf_object *make_pod(struct buf *text, size_t i)
{
    size_t set = i / PODS_A_SET;
    buf_clear(text);
    buf_printf(text,
               "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"app-%zu-%zu\","
               "\"namespace\":\"team-%zu\",\"uid\":\"7a1c9f0e-0000-4000-8000-%012zu\","
               "\"resourceVersion\":\"%zu\",\"labels\":{\"app\":\"app-%zu\"}},\"spec\":{"
               "\"nodeName\":\"node-%zu\",\"containers\":[{\"name\":\"main\",\"env\":[",
               set, i, set % 200, i, i + 1, set, i * 7 % 1000);
    for (size_t k = 0; k < VARIABLES; k++)
        buf_printf(text,
                   "%s{\"name\":\"SETTING_%zu_OF_THE_APPLICATION\",\"value\":"
                   "\"https://service-%zu.team-%zu.svc.cluster.local:8443/path-%zu\"}",
                   k ? "," : "", k, (set * 31 + k) % 977, set % 200, k * k % 89);
    buf_puts(text, "]}]},\"status\":{\"phase\":\"Running\"}}");
    buf_putc(text, '\0');
    return object_from(text->bytes);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void restore(const char *name, const struct inf_object **held, size_t count,
                    struct pack_context *packing, const struct index_def *defs, size_t n_defs)
{
    struct inf_store *store = store_new(&(struct siphash_key){1, 2}, defs, n_defs);
    struct generation *next = generation_new(store);
    double total = 0, worst = 0;
    store_pack(store, packing, NULL);
    for (size_t i = 0; i < count; i += SLICE) {
        double start = now_us(), took;
        for (size_t k = i; k < i + SLICE && k < count; k++)
            generation_restore(next, &(struct restored_object){.object = held[k]}, 1);
        took = now_us() - start;
        total += took;
        worst = took > worst ? took : worst;
    }
    store_restore(store, next, "1");
    printf("%-44s %6.2f us per object, worst slice %7.1f us, %5.0f bytes per object\n", name,
           total / (double)count, worst, (double)inf_store_bytes(store) / (double)count);
    while (!store_free_some(store, SLICE))
        continue;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    struct pack_context *context = pack_context_new(&(struct siphash_key){3, 4});
    const struct inf_object **plain = xcalloc(count, sizeof(*plain));
    const struct inf_object **packed = xcalloc(count, sizeof(*packed));
    struct inf_path *path = path_from("spec.nodeName");
    struct index_def node = index_by_path("node", path);
    struct object_packer packer;
    struct buf text = {0};
    object_packer_init(&packer, context, NULL, 7);
    for (size_t i = 0; i < count; i++) {
        plain[i] = make_pod(&text, i);
        packed[i] = object_pack(&packer, plain[i], count);
    }
    restore("plain to a plain store", plain, count, NULL, NULL, 0);
    restore("plain to a plain store with an index", plain, count, NULL, &node, 1);
    restore("packed to a plain store", packed, count, NULL, NULL, 0);
    restore("packed to a compact store", packed, count, context, NULL, 0);
    restore("packed to a compact store with an index", packed, count, context, &node, 1);
    for (size_t i = 0; i < count; i++) {
        inf_object_unref(plain[i]);
        inf_object_unref(packed[i]);
    }
    object_packer_free(&packer);
    pack_context_unref(context);
    inf_path_free(path);
    buf_free(&text);
    free(plain);
    free(packed);
    return 0;
}
