/*
 * state_decode.c - the records of a segment, while it is loaded.
 *
 * The pool has verified them (state_verify.h). Records are applied when the end of their batch was found. A
 * record that is damaged or incomplete makes the rest of the segment torn: state_load.c decides what follows
 * from that.
 */
#include <string.h>

#include "core/mutant.h"
#include "core/state/state_load.h"

enum {
    /* Objects before the slots of a key are needed, they are fetched. Gain: 15 of 45 ms of the loop's CPU time for
     * 100,000 objects (bench_state start). */
    AHEAD = 8,
};

static const char *check_segment_head(struct inf_state *state, const struct record *record)
{
    struct segment_body body;
    struct str epoch;
    struct siphash_key key;
    if (record->type != RECORD_SEGMENT || record->body.len < sizeof(body))
        return "it does not start with a head";
    memcpy(&body, record->body.at, sizeof(body));
    epoch = (struct str){record->body.at + sizeof(body), record->body.len - sizeof(body)};
    key = (struct siphash_key){body.key[0], body.key[1]};
    if (memcmp(body.magic, record_magic, sizeof(body.magic)) != 0)
        return "it is not a state file";
    if (body.version != RECORD_VERSION)
        return "it has another version";
    if (record->owner != state->newest)
        return "it has another number";
    if (!str_eq(epoch, str_of(state->settings.epoch)))
        return "it belongs to another epoch, such as another key of hashed values";
    if (state->newest == state->oldest) {
        state->id = record->number;
        state_set_pack_key(state, key);
    } else if (state->id != record->number || key.k0 != state->pack_key.k0 ||
               key.k1 != state->pack_key.k1) {
        return "it belongs to another state";
    }
    return NULL;
}

/* Checks the record at the end of a batch. */
static const char *check_batch_end(struct inf_state *state, const struct record *record)
{
    struct loader *l = state->loader;
    struct batch_body body;
    if (record->body.len != sizeof(body) || record->owner != l->records)
        return "invalid end of a batch";
    if (state->batch_number && record->number != state->batch_number + 1)
        return "a batch is missing";
    memcpy(&body, record->body.at, sizeof(body));
    state->batch_number = record->number;
    state->written_us = body.time_us;
    state->mark = body.mark;
    l->oldest = body.oldest;
    return NULL;
}

static void prefetch_image(struct inf_state *state, uint32_t owner)
{
    struct inf_state_stream *stream = stream_by_number(state, owner);
    struct checked_image later;
    if (!stream || !loader_peek_image(state->loader, AHEAD, &later) || later.owner != owner)
        return;
    stream_prefetch(stream, later.hash);
}

/* The bytes of a record whose object is made are not read. */
static const char *apply_image(struct inf_state *state, const struct checked_image *image)
{
    struct loader *l = state->loader;
    struct record record = {.type = RECORD_OBJECT, .owner = image->owner, .number = image->number};
    struct place place = {state->newest, image->offset, image->len};
    size_t size = image->len;
    if (!image->object)
        record_peek(loader_bytes(l, l->at), &record, &size);
    prefetch_image(state, image->owner);
    l->at += size;
    l->records++;
    return state_apply_checked(state, &record, place, image);
}

/* Applies the record at `at`, which is not damaged. */
static const char *apply_next(struct inf_state *state)
{
    struct loader *l = state->loader;
    struct place place = {.segment = state->newest, .offset = (uint32_t)l->at};
    struct checked_image image;
    struct record record;
    const char *wrong;
    size_t size;
    if (loader_next_image(l, &image))
        return apply_image(state, &image);
    record_peek(loader_bytes(l, l->at), &record, &size);
    place.len = (uint32_t)size;
    l->at += size;
    if (place.offset == 0) {
        l->batch = l->at;
        return check_segment_head(state, &record);
    }
    if (record.type == RECORD_BATCH_END) {
        wrong = check_batch_end(state, &record);
        l->records = 0;
        l->has_batch = true;
        l->batch = l->at;
        return wrong;
    }
    l->records++;
    return state_apply(state, &record, place);
}

/* The end of what may be applied: complete batches, and the head of the file. */
static size_t end_of_complete(const struct loader *l)
{
    bool all_is_read = l->have == l->size || l->bad;
    if (l->at == 0 || (MUTANT("state: batch end ignored") && all_is_read))
        return l->verified;
    return l->complete;
}

bool segment_decode_next(struct inf_state *state, const char **ret_wrong)
{
    struct loader *l = state->loader;
    if (l->at < end_of_complete(l)) {
        *ret_wrong = apply_next(state);
        return !*ret_wrong;
    }
    l->torn = l->have == l->size || l->bad;
    return false;
}
