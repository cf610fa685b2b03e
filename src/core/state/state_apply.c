/*
 * state_apply.c - applies the records of files to the state in memory while it is loaded.
 *
 * One function for each type of record. What a record says is checked here: its CRC only proves that
 * the bytes are what was written. Anything unexpected is reported, and the whole state is discarded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/object/object.h"
#include "core/object/object_image.h"
#include "core/state/state_load.h"

enum {
    NUMBER_MAX = 1 << 30, /* of streams and queues: later ones get larger numbers */
};

static bool is_text(struct str text, size_t max)
{
    return text.len <= max && (!text.len || !memchr(text.at, '\0', text.len));
}

/* ---- streams ---- */

static const char *apply_stream(struct inf_state *state, const struct record *record,
                                struct place place)
{
    struct inf_state_stream *stream = stream_by_number(state, record->owner);
    (void)place;
    if (!is_text(record->body, INF_STATE_ID_MAX) || record->owner > NUMBER_MAX)
        return "invalid definition of a stream";
    if (!stream)
        stream = stream_make(state, record->owner, record->body);
    free(stream->id);
    stream->id = xstrndup(record->body.at, record->body.len);
    stream->rebuilding = record->flags & RECORD_REBUILD;
    return NULL;
}

static const char *apply_stream_drop(struct inf_state *state, const struct record *record,
                                     struct place place)
{
    struct inf_state_stream *stream = stream_by_number(state, record->owner);
    (void)place;
    if (!stream)
        return "unknown stream";
    stream_free(stream);
    return NULL;
}

const char *state_find_dictionary(struct inf_state *state, uint32_t number,
                                  struct state_dictionary **ret)
{
    struct state_dictionary *d = dictionary_by_number(state, number);
    struct record record;
    size_t size;
    if (d && d->dictionary) {
        *ret = d;
        return NULL;
    }
    if (!d ||
        record_peek((struct str){d->bytes.bytes, d->bytes.len}, &record, &size) != RECORD_OK ||
        record.number != state->id)
        return "a dictionary is missing";
    d->dictionary = pack_dictionary_load(state->context, record.body);
    if (!d->dictionary)
        return "a dictionary is damaged";
    *ret = d;
    return NULL;
}

static const struct inf_object *load_image(const struct record *record,
                                           struct state_dictionary *dictionary,
                                           const struct checked_image *image)
{
    struct pack_dictionary *needed = dictionary ? dictionary->dictionary : NULL;
    if (image && image->object)
        return image->object;
    return image ? object_image_load_checked(record->body, needed)
                 : object_image_load(record->body, needed);
}

/* Finds what the object of @record refers to. Returns NULL, or what is wrong. */
static const char *find_refs(struct inf_state *state, const struct record *record,
                             struct state_dictionary **ret_dictionary,
                             struct label_set **ret_labels)
{
    struct object_refs refs = object_refs_of(record->number);
    *ret_labels = label_list_get(&state->loader->labels, refs.labels);
    if (refs.labels && !*ret_labels)
        return "object with unknown labels";
    return refs.dictionary ? state_find_dictionary(state, refs.dictionary, ret_dictionary) : NULL;
}

/* @image NULL: it was not checked. */
static const char *put_object(struct inf_state *state, const struct record *record,
                              struct place place, const struct checked_image *image)
{
    struct inf_state_stream *stream = stream_by_number(state, record->owner);
    struct state_dictionary *dictionary = NULL;
    struct loaded_object loaded = {0};
    struct place old;
    const char *wrong = stream ? find_refs(state, record, &dictionary, &loaded.labels)
                               : "object of an unknown stream";
    if (wrong) {
        inf_object_unref(image ? image->object : NULL);
        return wrong;
    }
    loaded.object = load_image(record, dictionary, image);
    if (!loaded.object)
        return "damaged object";
    loaded.hash = image ? image->hash : state_key_hash(state, object_key(loaded.object));
    label_set_ref(loaded.labels);
    segment_live(state, &place);
    old = stream_load(stream, loaded, place);
    segment_dead(state, &old);
    if (!dictionary)
        return NULL;
    dictionary->last_segment = place.segment;
    if (stream->newest_dictionary != dictionary->dictionary) {
        pack_dictionary_unref(stream->newest_dictionary);
        stream->newest_dictionary = pack_dictionary_ref(dictionary->dictionary);
    }
    return NULL;
}

static const char *apply_object(struct inf_state *state, const struct record *record,
                                struct place place)
{
    return put_object(state, record, place, NULL);
}

const char *state_apply_checked(struct inf_state *state, const struct record *record,
                                struct place place, const struct checked_image *image)
{
    return put_object(state, record, place, image);
}

static const char *apply_tombstone(struct inf_state *state, const struct record *record,
                                   struct place place)
{
    struct inf_state_stream *stream = stream_by_number(state, record->owner);
    struct place old;
    (void)place;
    if (!stream)
        return "deletion in an unknown stream";
    old = stream_remove_place(stream, record->body);
    segment_dead(state, &old);
    return NULL;
}

static const char *apply_position(struct inf_state *state, const struct record *record,
                                  struct place place)
{
    struct inf_state_stream *stream = stream_by_number(state, record->owner);
    (void)place;
    if (!stream)
        return "position of an unknown stream";
    if (!is_text(record->body, OBJECT_NAME_MAX))
        return "invalid position";
    free(stream->version);
    stream->version = xstrndup(record->body.at, record->body.len);
    stream->written_us = (int64_t)record->number;
    stream->rebuilding = false;
    return NULL;
}

static const char *apply_labels(struct inf_state *state, const struct record *record,
                                struct place place)
{
    struct label_list *labels = &state->loader->labels;
    (void)place;
    if (record->owner != labels->count + 1 || !is_text(record->body, RECORD_LABELS_MAX))
        return "invalid label set";
    label_list_add(labels, record->body);
    return NULL;
}

/* ---- queues ---- */

static void confirm_to(struct inf_state_queue *queue, uint64_t confirmed)
{
    if (queue->confirmed < confirmed)
        queue->confirmed = confirmed;
    if (queue->end < confirmed)
        queue->end = confirmed;
    queue_drop_confirmed(queue);
}

static const char *apply_queue(struct inf_state *state, const struct record *record,
                               struct place place)
{
    struct inf_state_queue *queue = queue_by_number(state, record->owner);
    (void)place;
    if (!is_text(record->body, INF_STATE_ID_MAX) || record->owner > NUMBER_MAX)
        return "invalid definition of a queue";
    if (!queue)
        queue = queue_make(state, record->owner, record->body);
    confirm_to(queue, record->number);
    return NULL;
}

static const char *apply_queue_drop(struct inf_state *state, const struct record *record,
                                    struct place place)
{
    struct inf_state_queue *queue = queue_by_number(state, record->owner);
    (void)place;
    if (!queue)
        return "unknown queue";
    queue_free(queue);
    return NULL;
}

static const char *apply_lines(struct inf_state *state, const struct record *record,
                               struct place place)
{
    struct inf_state_queue *queue = queue_by_number(state, record->owner);
    struct queue_piece piece = {.begin = record->number, .place = place};
    if (!queue)
        return "lines of an unknown queue";
    if (!record->body.len || record->number > UINT64_MAX - record->body.len)
        return "invalid lines";
    piece.end = piece.begin + record->body.len;
    if (piece.end <= queue->confirmed)
        return NULL;
    piece.bytes = xmalloc(record->body.len);
    memcpy(piece.bytes, record->body.at, record->body.len);
    queue_add_piece(queue, piece);
    return NULL;
}

static const char *apply_confirm(struct inf_state *state, const struct record *record,
                                 struct place place)
{
    struct inf_state_queue *queue = queue_by_number(state, record->owner);
    (void)place;
    if (!queue)
        return "confirmation of an unknown queue";
    confirm_to(queue, record->number);
    return NULL;
}

/* ---- the end ---- */

void state_identify_dictionaries(struct inf_state *state)
{
    list_for_each(node, &state->dictionaries) {
        struct state_dictionary *d = container_of(node, struct state_dictionary, node);
        if (d->dictionary)
            d->id = pack_dictionary_id(d->dictionary);
    }
}

static const char *join_pieces(struct inf_state_queue *queue)
{
    uint64_t at = queue->confirmed;
    list_for_each(node, &queue->pieces) {
        struct queue_piece *piece = container_of(node, struct queue_piece, node);
        if (piece->begin > at || piece->end <= at)
            return "lines of a queue are missing";
        buf_put(&queue->pending, piece->bytes + (at - piece->begin), (size_t)(piece->end - at));
        at = piece->end;
        free(piece->bytes);
        piece->bytes = NULL;
    }
    queue->pending_end = at;
    return at == queue->end ? NULL : "lines of a queue are missing";
}

const char *state_apply_end(struct inf_state *state)
{
    const char *wrong = NULL;
    list_for_each(node, &state->queues) {
        wrong = join_pieces(container_of(node, struct inf_state_queue, node));
        if (wrong)
            return wrong;
    }
    list_for_each_safe(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        stream->restored = true;
        live_index_expect(&stream->index, 0, NULL);
        if (!stream->rebuilding)
            continue;
        log_line(&state->log, LOG_WARN,
                 "state: discarded stream '%s': it was not complete again after a suspension",
                 stream->id);
        stream_free(stream);
    }
    state_identify_dictionaries(state);
    list_for_each(node, &state->dictionaries) {
        struct state_dictionary *d = container_of(node, struct state_dictionary, node);
        pack_dictionary_unref(d->dictionary);
        d->dictionary = NULL;
        buf_free(&d->bytes);
    }
    return NULL;
}

static const char *apply_none(struct inf_state *state, const struct record *record,
                              struct place place)
{
    (void)state;
    (void)record;
    (void)place;
    return NULL;
}

const char *state_apply(struct inf_state *state, const struct record *record, struct place place)
{
    static const char *(*const appliers[RECORD_TYPES])(struct inf_state *, const struct record *,
                                                       struct place) = {
        [RECORD_STREAM] = apply_stream,         [RECORD_STREAM_DROP] = apply_stream_drop,
        [RECORD_OBJECT] = apply_object,         [RECORD_TOMBSTONE] = apply_tombstone,
        [RECORD_POSITION] = apply_position,     [RECORD_QUEUE] = apply_queue,
        [RECORD_QUEUE_DROP] = apply_queue_drop, [RECORD_LINES] = apply_lines,
        [RECORD_CONFIRM] = apply_confirm,       [RECORD_NONE] = apply_none,
        [RECORD_LABELS] = apply_labels,
    };
    if (record->type >= RECORD_TYPES || !appliers[record->type])
        return "unknown type of record";
    return appliers[record->type](state, record, place);
}
