/*
 * state_decode.c - the records of a segment, while it is loaded.
 *
 * Records are checked up to the end of their batch; then they are applied from its beginning. A record
 * that is damaged or incomplete makes the rest of the segment torn: state_load.c decides what follows
 * from that.
 */
#include <string.h>

#include "core/mutant.h"
#include "core/state/state_load.h"

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

/* The next record, if it was verified. */
static enum record_result verified_record(const struct loader *l, struct record *ret_record,
                                          size_t *ret_size)
{
    if (l->at < l->verified)
        return record_peek(loader_bytes(l, l->at), ret_record, ret_size);
    return l->bad ? RECORD_BAD : RECORD_SHORT;
}

/* Checks the next record. Returns whether there may be more. */
static bool check_record(struct inf_state *state, const char **ret_wrong)
{
    struct loader *l = state->loader;
    struct record record;
    size_t size;
    enum record_result result = verified_record(l, &record, &size);
    if (result == RECORD_SHORT && l->have < l->size)
        return false;
    if (result != RECORD_OK && MUTANT("state: batch end ignored") && l->records) {
        l->apply_end = l->at;
        l->at = l->batch;
        return true;
    }
    if (result != RECORD_OK) {
        l->torn = true;
        return false;
    }
    if (l->at == 0) {
        *ret_wrong = check_segment_head(state, &record);
        l->at = l->batch = size;
    } else if (record.type == RECORD_BATCH_END) {
        *ret_wrong = check_batch_end(state, &record);
        l->apply_end = l->at;
        l->at = l->batch;
    } else {
        l->records++;
        l->at += size;
    }
    return !*ret_wrong;
}

/* Applies the next record of a complete batch. */
static bool apply_record(struct inf_state *state, const char **ret_wrong)
{
    struct loader *l = state->loader;
    struct place place = {.segment = state->newest, .offset = (uint32_t)l->at};
    struct record record;
    size_t size;
    if (l->at == l->apply_end) {
        state_apply_batch_end(state);
        l->apply_end = 0;
        l->records = 0;
        l->has_batch = true;
        l->at += RECORD_HEAD + sizeof(struct batch_body);
        l->batch = l->at;
        return true;
    }
    record_peek(loader_bytes(l, l->at), &record, &size);
    place.len = (uint32_t)size;
    *ret_wrong = state_apply(state, &record, place);
    l->at += size;
    return !*ret_wrong;
}

bool segment_decode_next(struct inf_state *state, const char **ret_wrong)
{
    return state->loader->apply_end ? apply_record(state, ret_wrong)
                                    : check_record(state, ret_wrong);
}
