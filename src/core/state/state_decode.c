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
    CACHE_LINE = 64,
    RECORD_PREFETCH = 5 * CACHE_LINE, /* heads and names */
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
        return "it belongs to another epoch";
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

/* Whether the pool has checked the object whose record is at @offset. */
static bool is_checked(struct loader *l, uint32_t offset, uint64_t *ret_hash)
{
    struct checked_image image;
    if (l->images.len - l->next_image < sizeof(image))
        return false;
    memcpy(&image, l->images.bytes + l->next_image, sizeof(image));
    if (image.offset != offset)
        return false;
    l->next_image += sizeof(image);
    *ret_hash = image.hash;
    return true;
}

/* Applies the record at `at`, which is not damaged. The next one is fetched meanwhile: the pool has it in the
 * cache of another processor. */
static const char *apply_next(struct inf_state *state)
{
    struct loader *l = state->loader;
    struct place place = {.segment = state->newest, .offset = (uint32_t)l->at};
    struct record record;
    const char *wrong;
    uint64_t hash;
    size_t size;
    record_peek(loader_bytes(l, l->at), &record, &size);
    for (size_t i = 0; i < RECORD_PREFETCH && l->at + size + i < l->have; i += CACHE_LINE)
        __builtin_prefetch(loader_bytes(l, l->at + size + i).at);
    place.len = (uint32_t)size;
    l->at += size;
    if (place.offset == 0) {
        l->batch = l->at;
        return check_segment_head(state, &record);
    }
    if (record.type == RECORD_BATCH_END) {
        state_apply_batch_end(state);
        wrong = check_batch_end(state, &record);
        l->records = 0;
        l->has_batch = true;
        l->batch = l->at;
        return wrong;
    }
    l->records++;
    if (record.type == RECORD_OBJECT && is_checked(l, place.offset, &hash))
        return state_apply_checked(state, &record, place, hash);
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
