/*
 * state_restore.c - the objects of streams while they are loaded, and their way to the store of a cache.
 *
 * Normal path: objects are added to a store as they are read, in the order of their keys, while the pool reads the
 * next ones. Those that are not in order are listed, sorted at the end and added then. The store of a cache takes
 * all of them over at once. A cache that holds objects in another form gets them one by one. Nothing here fails.
 */
#include "base/page_pool.h"
#include "core/object/object.h"
#include "core/state/state_internal.h"
#include "core/store/store.h"

enum {
    SORT_SLICE = 1024, /* objects sorted between two looks at the budget: 30 to 100 us */
    ADD_SLICE = 16,    /* objects added between two of them */
};

/* ---- loading ---- */

static void add_to_store(struct inf_state_stream *stream, const struct loaded_object *object,
                         bool is_last)
{
    struct restored_object restored = {.object = object->object,
                                       .labels = object->labels ? &object->labels->text : NULL,
                                       .hash = object->hash};
    store_load(stream->loaded, &restored, is_last);
    inf_object_unref(object->object);
    label_set_unref(object->labels);
}

/* A new key that is not after all others is listed. */
struct place stream_load(struct inf_state_stream *stream, struct loaded_object object,
                         struct place place)
{
    struct live_index *index = &stream->index;
    size_t listed = index->loaded.count;
    struct place old = live_index_put(index, object.hash, place);
    bool is_stored = old.segment && index->loaded.count == listed, is_last;
    if (!stream->loaded)
        stream->loaded = store_for_loading(&stream->state->key, stream->state->context);
    is_last = !is_stored && store_is_last(stream->loaded, object_key(object.object));
    if (is_stored || is_last)
        add_to_store(stream, &object, is_last);
    else
        live_index_list(index, object);
    return old;
}

void stream_expect(struct inf_state_stream *stream, size_t count)
{
    live_index_expect(&stream->index, count, pack_memory_stock(stream->state->context));
    if (stream->loaded)
        store_expect(stream->loaded, count);
}

void stream_prefetch(struct inf_state_stream *stream, uint64_t hash)
{
    live_index_prefetch(&stream->index, hash);
    if (stream->loaded)
        store_prefetch(stream->loaded, hash);
}

void stream_unload(struct inf_state_stream *stream, struct str key, uint64_t hash)
{
    if (stream->loaded && live_index_find(&stream->index, hash))
        store_unload(stream->loaded, key, hash);
}

/* ---- taking ---- */

/* Adds some of the listed objects. Returns true when there are no more. */
static bool add_listed(struct inf_state_stream *stream)
{
    struct loaded_list *list = &stream->index.loaded;
    struct loaded_object object;
    if (!list->len)
        return true;
    if (!loaded_list_sort_some(list, SORT_SLICE))
        return false;
    for (unsigned n = 0; n < ADD_SLICE; n++) {
        if (!live_index_take(&stream->index, &object))
            return true;
        add_to_store(stream, &object, store_is_last(stream->loaded, object_key(object.object)));
    }
    return false;
}

static void end_restoring(struct inf_state_stream *stream)
{
    stream->restored = false;
    pack_dictionary_unref(stream->newest_dictionary);
    stream->newest_dictionary = NULL;
    page_stock_clear(pack_memory_stock(stream->state->context));
}

static void free_store(struct inf_state_stream *stream)
{
    while (stream->loaded && !store_free_some(stream->loaded, SIZE_MAX))
        continue;
    stream->loaded = NULL;
}

bool state_stream_move(struct inf_state_stream *stream, struct inf_store *store,
                       struct generation **ret_generation, size_t *ret_damaged)
{
    struct generation *moved = NULL;
    if (!add_listed(stream))
        return false;
    if (stream->loaded)
        moved = store_take_over(store, stream->loaded, ret_damaged);
    if (moved) {
        free_store(stream);
        end_restoring(stream);
    }
    *ret_generation = moved;
    return true;
}

bool state_stream_take(struct inf_state_stream *stream, size_t n, saved_object_fn *take, void *ctx)
{
    if (!add_listed(stream) || (stream->loaded && store_hand_out(stream->loaded, n, take, ctx)))
        return true;
    free_store(stream);
    end_restoring(stream);
    return false;
}

struct pack_dictionary *state_stream_dictionary(struct inf_state_stream *stream)
{
    return stream->newest_dictionary;
}
