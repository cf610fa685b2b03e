/*
 * state_stream.c - streams: their objects and positions, in memory and as records of the current batch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/mutant.h"
#include "core/object/object.h"
#include "core/object/object_image.h"
#include "core/state/state_internal.h"

uint64_t state_key_hash(const struct inf_state *state, struct str key)
{
    return siphash13(&state->key, key.at, key.len);
}

/* ---- the list of streams ---- */

struct inf_state_stream *stream_by_number(struct inf_state *state, uint32_t number)
{
    list_for_each(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        if (stream->number == number)
            return stream;
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

void stream_forget(struct inf_state_stream *stream)
{
    live_index_visit(&stream->index, count_dead, stream->state);
    live_index_clear(&stream->index);
    pack_dictionary_unref(stream->newest_dictionary);
    stream->newest_dictionary = NULL;
    stream->restored = false;
}

void stream_free(struct inf_state_stream *stream)
{
    stream_forget(stream);
    object_packer_free(&stream->packer);
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

/* The number of the dictionary, which is written before the next batch if it is new. */
static uint32_t dictionary_number(struct inf_state *state, struct pack_dictionary *dictionary)
{
    struct state_dictionary *d;
    if (!dictionary)
        return 0;
    d = dictionary_by_id(state, pack_dictionary_id(dictionary));
    if (!d)
        d = dictionary_add(state, state->next_dictionary);
    if (!d->id) {
        d->id = pack_dictionary_id(dictionary);
        d->dictionary = pack_dictionary_ref(dictionary);
    }
    return d->number;
}

/* @object in a form that can be written: its hash, if it has one, is made with the key of the state.
 * Returns a reference. */
static const struct inf_object *pack_for_state(struct inf_state_stream *stream,
                                               const struct inf_object *object)
{
    struct pack_dictionary *dictionary = object_image_dictionary(object);
    const struct inf_object *ordinary, *packed;
    if (dictionary && pack_dictionary_context(dictionary) == stream->state->context)
        return inf_object_ref(object);
    if (!stream->packer.context)
        object_packer_init(&stream->packer, stream->state->context, NULL,
                           rng_next(&stream->state->rng));
    ordinary = object_unpack(object);
    packed = object_pack(&stream->packer, ordinary, stream->index.count);
    inf_object_unref(ordinary);
    return packed;
}

void state_put(struct inf_state_stream *stream, const struct inf_object *object)
{
    struct inf_state *state = stream->state;
    const struct inf_object *packed;
    struct place place, old;
    uint32_t number;
    if (!is_recording(state))
        return;
    packed = pack_for_state(stream, object);
    number = dictionary_number(state, object_image_dictionary(packed));
    place = writer_put_object(state, stream->number, packed, number);
    if (number)
        dictionary_by_number(state, number)->last_segment = place.segment;
    inf_object_unref(packed);
    segment_live(state, &place);
    old = live_index_put(&stream->index, state_key_hash(state, object_key(object)), place, NULL);
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
    old = live_index_remove(&stream->index, state_key_hash(state, record.body));
    if (!old.segment)
        return;
    segment_dead(state, &old);
    if (!MUTANT("state: tombstone lost"))
        writer_put(state, &record);
}

/* ---- loaded objects ---- */

bool state_stream_take(struct inf_state_stream *stream, size_t n,
                       void (*take)(void *ctx, const struct inf_object *object), void *ctx)
{
    const struct inf_object *object;
    for (; n > 0 && (object = live_index_take(&stream->index)); n--)
        take(ctx, object);
    if (stream->index.loaded)
        return true;
    while (live_index_take(&stream->index))
        continue; /* frees the memory of loaded objects; there are none */
    stream->restored = false;
    pack_dictionary_unref(stream->newest_dictionary);
    stream->newest_dictionary = NULL;
    return false;
}

struct pack_dictionary *state_stream_dictionary(struct inf_state_stream *stream)
{
    return stream->newest_dictionary;
}
