/*
 * state_segment.c - which files there are: segments with their sizes, and dictionaries.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/state/state_internal.h"

/* ---- segments ---- */

void segments_add(struct inf_state *state)
{
    size_t count = state->newest ? state->newest - state->oldest + 1 : 0;
    if (count == state->segments_cap) {
        state->segments_cap = count ? count * 2 : 8;
        state->segments = xrealloc(state->segments, state->segments_cap * sizeof(*state->segments));
    }
    state->segments[count] = (struct segment){0};
    state->newest++;
    if (!count)
        state->oldest = state->needed = state->newest;
}

void segments_reset(struct inf_state *state)
{
    free(state->segments);
    state->segments = NULL;
    state->segments_cap = 0;
    state->oldest = state->newest = state->end_offset = 0;
}

void segments_remove_oldest(struct inf_state *state)
{
    size_t count = state->newest - state->oldest;
    memmove(state->segments, state->segments + 1, count * sizeof(*state->segments));
    state->oldest++;
}

void segments_remove_newest(struct inf_state *state)
{
    state->newest--;
    state->end_offset = (uint32_t)segment_of(state, state->newest)->size;
    state->next_segment = true;
}

struct segment *segment_of(struct inf_state *state, uint32_t number)
{
    if (!number || number < state->oldest || number > state->newest)
        return NULL;
    return &state->segments[number - state->oldest];
}

void segment_live(struct inf_state *state, const struct place *place)
{
    struct segment *segment = segment_of(state, place->segment);
    if (segment)
        segment->live += place->len;
}

void segment_dead(struct inf_state *state, const struct place *place)
{
    struct segment *segment = segment_of(state, place->segment);
    if (segment)
        segment->live -= place->len;
}

/* ---- dictionaries ---- */

struct state_dictionary *dictionary_by_number(struct inf_state *state, uint32_t number)
{
    if (state->last_dictionary && state->last_dictionary->number == number)
        return state->last_dictionary;
    list_for_each(node, &state->dictionaries) {
        struct state_dictionary *d = container_of(node, struct state_dictionary, node);
        if (d->number == number)
            return state->last_dictionary = d;
    }
    return NULL;
}

struct state_dictionary *dictionary_by_id(struct inf_state *state, uint64_t id)
{
    if (state->last_dictionary && state->last_dictionary->id == id)
        return state->last_dictionary;
    list_for_each(node, &state->dictionaries) {
        struct state_dictionary *d = container_of(node, struct state_dictionary, node);
        if (d->id == id)
            return state->last_dictionary = d;
    }
    return NULL;
}

struct state_dictionary *dictionary_add(struct inf_state *state, uint32_t number)
{
    struct state_dictionary *d = NEW(struct state_dictionary);
    d->number = number;
    if (state->next_dictionary <= number)
        state->next_dictionary = number + 1;
    list_push(&state->dictionaries, &d->node);
    return d;
}

void dictionary_free(struct inf_state *state, struct state_dictionary *dictionary)
{
    if (state->last_dictionary == dictionary)
        state->last_dictionary = NULL;
    list_remove(&dictionary->node);
    pack_dictionary_unref(dictionary->dictionary);
    buf_free(&dictionary->bytes);
    free(dictionary);
}
