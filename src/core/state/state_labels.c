/*
 * state_labels.c - label sets: those that were read from a segment, and the numbers of those that were
 * written to the newest one.
 *
 * The writer remembers a keyed hash of each text, as the index does for keys (state_index.h). Nothing
 * here fails.
 */
#include "core/state/state_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/state/state_internal.h"

/* ---- reading ---- */

struct label_set *label_set_ref(struct label_set *set)
{
    if (set)
        set->refs++;
    return set;
}

void label_set_unref(struct label_set *set)
{
    if (set && --set->refs == 0)
        free(set);
}

static struct label_set *label_set_new(struct str text)
{
    struct label_set *set = xmalloc(sizeof(*set) + text.len);
    char *copy = (char *)(set + 1);
    if (text.len)
        memcpy(copy, text.at, text.len);
    *set = (struct label_set){1, {copy, text.len}};
    return set;
}

void label_list_add(struct label_list *list, struct str text)
{
    if (list->count == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 64;
        list->sets = xrealloc(list->sets, list->cap * sizeof(struct label_set *));
    }
    list->sets[list->count++] = label_set_new(text);
}

struct label_set *label_list_get(const struct label_list *list, uint32_t number)
{
    return number && number <= list->count ? list->sets[number - 1] : NULL;
}

void label_list_clear(struct label_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        label_set_unref(list->sets[i]);
    free(list->sets);
    *list = (struct label_list){0};
}

/* ---- writing ---- */

/* The place of a set in the index has its number as the offset. */
uint32_t labels_define(struct inf_state *state, struct str text)
{
    uint64_t hash = siphash13(&state->key, text.at, text.len);
    struct place place, *known;
    struct record record = {.type = RECORD_LABELS, .body = text};
    writer_begin_record(state);
    known = live_index_find(&state->labels, hash);
    if (known)
        return known->offset;
    place = (struct place){state->newest, state->next_labels++, 0};
    live_index_put(&state->labels, hash, place);
    record.owner = place.offset;
    writer_put(state, &record);
    return place.offset;
}
