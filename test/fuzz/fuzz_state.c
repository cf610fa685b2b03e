/*
 * fuzz_state.c - files of a state: a byte of flags, a byte that says where the second file begins, and
 * bytes. No content crashes the loader; what it accepts is loaded again as it is after one more batch.
 */
#include "core/object/object_packer.h"
#include "core/state/state_record.h"
#include "core/store/store.h"
#include "fuzz.h"
#include "state_world.h"

enum {
    FIX_CRC = 1,    /* give all records a valid CRC */
    DICTIONARY = 2, /* the second file is a dictionary, not a segment */
    SMALL_READS = 4,
    MOVE = 8, /* the objects are moved to a cache, then taken one by one: both are the same */
};

/* Makes a copy of @bytes whose records have valid CRCs, as far as their sizes are right. */
static void put_fixed(struct buf *out, struct str bytes)
{
    struct record record;
    size_t size;
    while (record_peek(bytes, &record, &size) == RECORD_OK) {
        record_put(out, &record);
        bytes = (struct str){bytes.at + size, bytes.len - size};
    }
    buf_put(out, bytes.at, bytes.len);
}

static void put_file(struct state_world *w, const char *name, struct str bytes, bool fix)
{
    struct buf file = {0};
    if (fix)
        put_fixed(&file, bytes);
    else
        buf_put(&file, bytes.at, bytes.len);
    memory_disk_put(w->disk, name, file.bytes, file.len);
    buf_free(&file);
}

/* @object may have a damaged frame. */
static void put_object(struct buf *out, const struct inf_object *object)
{
    const struct inf_object *ordinary = object_unpack(object);
    buf_printf(out, "  %s/%s ", inf_object_namespace(object), inf_object_name(object));
    buf_puts(out, inf_object_json(ordinary, NULL));
    buf_putc(out, '\n');
    inf_object_unref(ordinary);
}

static void take_object(void *ctx, const struct inf_object *object, const struct str *labels)
{
    (void)labels;
    put_object(ctx, object);
    inf_object_unref(object);
}

static void put_moved(struct buf *out, struct inf_state_stream *stream,
                      struct pack_context *context)
{
    struct inf_store *store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    struct generation *moved = NULL;
    const struct inf_object *object;
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t count = inf_state_stream_count(stream), damaged = 0;
    store_pack(store, context, NULL);
    while (!state_stream_move(stream, store, &moved, &damaged))
        continue;
    if (moved) {
        store_restore(store, moved, "7");
        MUST(inf_store_count(store) == count && damaged <= count);
        while ((object = inf_store_next_in(store, "", &cursor)))
            put_object(out, object);
        inf_cursor_end(&cursor);
        store_take_back(store);
    }
    while (!store_free_some(store, SIZE_MAX))
        continue;
}

/* Ids, positions, and objects. */
static char *show(struct state_world *w, bool move)
{
    struct buf out = {0};
    struct inf_state_stream *stream = NULL;
    struct inf_state_queue *queue = NULL;
    while ((stream = inf_state_stream_next(w->state, stream))) {
        buf_printf(&out, "%s@%s %zu\n", inf_state_stream_id(stream),
                   inf_state_stream_version(stream), inf_state_stream_count(stream));
        if (move)
            put_moved(&out, stream, state_pack_context(w->state));
        while (state_stream_take(stream, 10, take_object, &out))
            continue;
    }
    while ((queue = inf_state_queue_next(w->state, queue))) {
        const char *bytes = "";
        size_t len = 0;
        uint64_t end = 0;
        inf_state_queue_pending(queue, &bytes, &len, &end);
        buf_printf(&out, "%s %zu %llu\n", inf_state_queue_name(queue), len,
                   (unsigned long long)inf_state_queue_end(queue));
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct state_world w;
    struct inf_state_info info;
    char *first, *second;
    size_t cut;
    if (len < 2)
        return 0;
    cut = (len - 2) * bytes[1] / 255;
    state_world_init(&w);
    put_file(&w, "00000001.seg", (struct str){(const char *)bytes + 2, cut}, bytes[0] & FIX_CRC);
    if (cut < len - 2)
        put_file(&w, bytes[0] & DICTIONARY ? "00000001.dict" : "00000002.seg",
                 (struct str){(const char *)bytes + 2 + cut, len - 2 - cut}, bytes[0] & FIX_CRC);
    w.disk->read_max = bytes[0] & SMALL_READS ? 7 : 0;
    state_world_open(&w);
    MUST(inf_state_is_active(w.state));
    first = show(&w, bytes[0] & MOVE);
    state_world_put(inf_state_stream(w.state, "fuzz"), "fuzz/a", 1);
    inf_state_stream_drop(inf_state_stream(w.state, "fuzz"));
    inf_state_flush(w.state);
    sim_run(&w.sim);
    inf_state_info(w.state, &info);
    MUST(info.disk_bytes >= info.live_bytes);
    state_world_crash(&w, NULL);
    second = show(&w, false);
    inf_state_info(w.state, &info);
    if (info.reason)
        fprintf(stderr, "discarded: %s\n", info.reason);
    MUST(!info.reason);
    if (!strstr(first, "fuzz@"))
        MUST(strcmp(first, second) == 0);
    free(first);
    free(second);
    state_world_done(&w);
    return 0;
}
