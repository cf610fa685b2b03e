/*
 * state_stream.c - streams: their objects and positions, in memory and as records of the current batch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page_pool.h"
#include "core/mutant.h"
#include "core/object/object.h"
#include "core/object/object_image.h"
#include "core/state/state_internal.h"
#include "core/store/store.h"

enum {
    DISCARD_SLICE = 64, /* objects freed between two looks at the budget */
};

uint64_t state_key_hash(const struct inf_state *state, struct str key)
{
    return siphash13(&state->key, key.at, key.len);
}

/* ---- the list of streams ---- */

struct inf_state_stream *stream_by_number(struct inf_state *state, uint32_t number)
{
    if (state->last_stream && state->last_stream->number == number)
        return state->last_stream;
    list_for_each(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        if (stream->number == number)
            return state->last_stream = stream;
    }
    return NULL;
}

struct inf_state_stream *stream_make(struct inf_state *state, uint32_t number, struct str id)
{
    struct inf_state_stream *stream = NEW(struct inf_state_stream);
    stream->state = state;
    stream->number = number;
    stream->id = xstrndup(id.at, id.len);
    stream->version = xstrdup("");
    if (state->next_stream <= number &&
        !(MUTANT("state: stream id mixed up") && state_phase(state) == STATE_LOADING))
        state->next_stream = number + 1;
    list_push(&state->streams, &stream->node);
    return stream;
}

static void count_dead(void *ctx, const struct place *place)
{
    segment_dead(ctx, place);
}

/* Objects of a file that are not needed any more: there may be many, so they are freed in slices. */
struct discarded_objects {
    struct list node;
    struct loaded_list list;
    struct inf_store *store; /* NULL: it is freed */
};

static void discard_objects(struct inf_state *state, struct loaded_list list,
                            struct inf_store *store)
{
    struct discarded_objects *discarded;
    if (!list.objects && !store)
        return;
    discarded = NEW(struct discarded_objects);
    discarded->list = list;
    discarded->store = store;
    list_push(&state->discarded, &discarded->node);
    task_schedule(state->clock, &state->discard_task);
}

/* Frees some of them. Returns whether there are more. */
static bool free_discarded(struct inf_state *state, size_t n)
{
    struct discarded_objects *first;
    if (list_empty(&state->discarded))
        return false;
    first = container_of(state->discarded.next, struct discarded_objects, node);
    if (first->store && store_free_some(first->store, n)) {
        first->store = NULL;
    } else if (!first->store && loaded_list_free_some(&first->list, n)) {
        list_remove(&first->node);
        free(first);
    }
    return true;
}

static void on_discard(struct task *task)
{
    struct inf_state *state = container_of(task, struct inf_state, discard_task);
    while (free_discarded(state, DISCARD_SLICE))
        if (clock_over_budget(state->clock)) {
            task_schedule(state->clock, task);
            return;
        }
}

void streams_free_discarded(struct inf_state *state)
{
    while (free_discarded(state, SIZE_MAX))
        continue;
    task_cancel(&state->discard_task);
}

void streams_init(struct inf_state *state)
{
    list_init(&state->streams);
    list_init(&state->discarded);
    task_init(&state->discard_task, PHASE_PUMP, on_discard);
}

void stream_forget(struct inf_state_stream *stream)
{
    live_index_visit(&stream->index, count_dead, stream->state);
    discard_objects(stream->state, live_index_clear(&stream->index), stream->loaded);
    stream->loaded = NULL;
    page_stock_clear(
        pack_memory_stock(stream->state->context)); /* of a stream that is not restored */
    pack_dictionary_unref(stream->newest_dictionary);
    stream->newest_dictionary = NULL;
    stream->restored = false;
}

void stream_free(struct inf_state_stream *stream)
{
    stream_forget(stream);
    object_packer_free(&stream->packer);
    if (stream->state->last_stream == stream)
        stream->state->last_stream = NULL;
    list_remove(&stream->node);
    free(stream->id);
    free(stream->version);
    free(stream);
}

static bool is_recording(const struct inf_state *state)
{
    return state_phase(state) == STATE_ACTIVE;
}

struct inf_state_stream *inf_state_stream(struct inf_state *state, const char *id)
{
    struct inf_state_stream *stream;
    if (strlen(id) > INF_STATE_ID_MAX)
        return NULL;
    list_for_each(node, &state->streams) {
        stream = container_of(node, struct inf_state_stream, node);
        if (strcmp(stream->id, id) == 0)
            return stream;
    }
    stream = stream_make(state, state->next_stream, str_of(id));
    if (is_recording(state) && state->newest)
        stream_define(stream);
    return stream;
}

struct inf_state_stream *inf_state_stream_next(const struct inf_state *state,
                                               const struct inf_state_stream *after)
{
    const struct list *node = after ? after->node.next : state->streams.next;
    return node == &state->streams ? NULL : container_of(node, struct inf_state_stream, node);
}

const char *inf_state_stream_id(const struct inf_state_stream *stream)
{
    return stream->id;
}

size_t inf_state_stream_count(const struct inf_state_stream *stream)
{
    return stream->index.count;
}

const char *inf_state_stream_version(const struct inf_state_stream *stream)
{
    return stream->version;
}

int64_t inf_state_stream_written_us(const struct inf_state_stream *stream)
{
    return stream->written_us;
}

bool inf_state_stream_is_restored(const struct inf_state_stream *stream)
{
    return stream->restored;
}

struct inf_state *state_of_stream(struct inf_state_stream *stream)
{
    return stream->state;
}

/* ---- definitions ---- */

void stream_define(struct inf_state_stream *stream)
{
    struct record record = {
        .type = RECORD_STREAM,
        .flags =
            stream->rebuilding && !MUTANT("state: incomplete stream counts") ? RECORD_REBUILD : 0,
        .owner = stream->number,
        .body = str_of(stream->id)};
    writer_put(stream->state, &record);
}

void inf_state_stream_rename(struct inf_state_stream *stream, const char *id)
{
    if (strlen(id) > INF_STATE_ID_MAX)
        return;
    str_replace(&stream->id, id);
    if (is_recording(stream->state))
        stream_define(stream);
}

void inf_state_stream_drop(struct inf_state_stream *stream)
{
    struct record record = {.type = RECORD_STREAM_DROP, .owner = stream->number};
    if (is_recording(stream->state))
        writer_put(stream->state, &record);
    stream_free(stream);
}

/* ---- positions ---- */

void stream_put_position(struct inf_state_stream *stream)
{
    struct record record = {.type = RECORD_POSITION,
                            .owner = stream->number,
                            .number = (uint64_t)stream->written_us,
                            .body = str_of(stream->version)};
    stream->version_changed = false;
    if (!stream->version[0])
        return;
    writer_put(stream->state, &record);
    stream->rebuilding = false;
}

void inf_state_position(struct inf_state_stream *stream, const char *version)
{
    if (!is_recording(stream->state) || strlen(version) > OBJECT_NAME_MAX)
        return;
    str_replace(&stream->version, version);
    stream->written_us = clock_wall_us(stream->state->clock);
    stream->version_changed = stream->state->batch_changes = true;
    if (MUTANT("state: position advanced too early") && stream->state->newest)
        writer_close_notes(stream->state, stream->state->flush);
}

/* ---- objects ---- */

/* The dictionary, which is written before the next batch if it is new. */
static struct state_dictionary *dictionary_of(struct inf_state *state,
                                              struct pack_dictionary *dictionary)
{
    struct state_dictionary *d;
    if (!dictionary)
        return NULL;
    d = dictionary_by_id(state, pack_dictionary_id(dictionary));
    if (!d)
        d = dictionary_add(state, state->next_dictionary);
    if (!d->id) {
        d->id = pack_dictionary_id(dictionary);
        d->dictionary = pack_dictionary_ref(dictionary);
    }
    return d;
}

static bool is_packed_for_state(const struct inf_state *state, const struct inf_object *object)
{
    struct pack_dictionary *dictionary = object_image_dictionary(object);
    return dictionary && pack_dictionary_context(dictionary) == state->context;
}

/* Packs @object, an ordinary one, as the cache would do it. Not as another object: its memory would be
 * mapped and unmapped for each change, a tenth of the CPU time at 1,000 changes a second ("state on disk"
 * of make bench). */
static void pack_ordinary(struct inf_state_stream *stream, const struct inf_object *object,
                          struct packed_parts *ret_parts)
{
    if (!stream->packer.context)
        object_packer_init(&stream->packer, stream->state->context, NULL,
                           rng_next(&stream->state->rng));
    object_pack_parts(&stream->packer, object, stream->index.count, ret_parts);
}

/* Adds the record of @object, which has the form of @parts. */
static struct place put_record(struct inf_state_stream *stream, const struct inf_object *object,
                               const struct packed_parts *parts, const struct str *labels)
{
    struct inf_state *state = stream->state;
    struct state_dictionary *dictionary =
        dictionary_of(state, parts ? parts->dictionary : object_image_dictionary(object));
    struct object_refs refs = {.dictionary = dictionary ? dictionary->number : 0};
    struct place place;
    if (labels && labels->len <= RECORD_LABELS_MAX)
        refs.labels = labels_define(state, *labels);
    place = writer_put_object(state, stream->number, refs, object, parts);
    if (dictionary)
        dictionary->last_segment = place.segment;
    return place;
}

struct place stream_put_place(struct inf_state_stream *stream, struct str key, struct place place)
{
    uint64_t hash = state_key_hash(stream->state, key);
    stream_unload(stream, key, hash);
    return live_index_put(&stream->index, hash, place);
}

struct place stream_remove_place(struct inf_state_stream *stream, struct str key)
{
    uint64_t hash = state_key_hash(stream->state, key);
    stream_unload(stream, key, hash);
    return live_index_remove(&stream->index, hash);
}

void state_put(struct inf_state_stream *stream, const struct inf_object *object,
               const struct str *labels)
{
    struct inf_state *state = stream->state;
    const struct inf_object *ordinary;
    struct packed_parts parts;
    struct place place, old;
    if (!is_recording(state))
        return;
    if (is_packed_for_state(state, object)) {
        place = put_record(stream, object, NULL, labels);
    } else {
        ordinary = object_unpack(object);
        pack_ordinary(stream, ordinary, &parts);
        place = put_record(stream, ordinary, &parts, labels);
        inf_object_unref(ordinary);
    }
    segment_live(state, &place);
    old = stream_put_place(stream, object_key(object), place);
    segment_dead(state, &old);
}

void state_delete(struct inf_state_stream *stream, const struct inf_object *object)
{
    struct inf_state *state = stream->state;
    struct record record = {
        .type = RECORD_TOMBSTONE, .owner = stream->number, .body = object_key(object)};
    struct place old;
    if (!is_recording(state))
        return;
    old = stream_remove_place(stream, record.body);
    if (!old.segment)
        return;
    segment_dead(state, &old);
    if (!MUTANT("state: tombstone lost"))
        writer_put(state, &record);
}
