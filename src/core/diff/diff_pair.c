/*
 * diff_pair.c - pairs the members of two objects by sorting their keys. See diff_pair.h.
 */
#include "core/diff/diff_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "core/object/path.h"

/* ---- collecting ---- */

bool diff_pair_collect(struct buf *items, size_t *room, struct diff_item item)
{
    if (!*room)
        return false;
    --*room;
    buf_put(items, (const char *)&item, sizeof(item));
    return true;
}

void diff_pair_settle(struct diff_pairing *p, struct arena *memory, struct buf *items,
                      size_t old_count)
{
    p->old_items = arena_alloc(memory, items->len);
    if (items->len)
        memcpy(p->old_items, items->bytes, items->len);
    p->old_count = old_count;
    p->new_count = items->len / sizeof(struct diff_item) - old_count;
    p->new_items = p->old_items + old_count;
    buf_free(items);
}

/* ---- matching ---- */

static int by_step(const void *a, const void *b)
{
    const struct diff_item *x = *(struct diff_item *const *)a, *y = *(struct diff_item *const *)b;
    int order = str_cmp(x->step, y->step);
    return order ? order
                 : (x > y) - (x < y); /* the old one first, since it is first in the array */
}

static void clear_pairs(struct diff_pairing *p)
{
    for (size_t i = 0; i < p->old_count + p->new_count; i++)
        p->old_items[i].mate = NULL;
}

bool diff_pair_match(struct diff_pairing *p)
{
    size_t count = p->old_count + p->new_count;
    struct diff_item **sorted = xmalloc(count * sizeof(struct diff_item *));
    bool unique = true;
    clear_pairs(p);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &p->old_items[i];
    qsort(sorted, count, sizeof(struct diff_item *), by_step);
    for (size_t i = 1; i < count && unique; i++) {
        struct diff_item *a = sorted[i - 1], *b = sorted[i];
        if (!str_eq(a->step, b->step))
            continue;
        unique = (a < p->new_items) != (b < p->new_items); /* one of each side is a pair */
        a->mate = b;
        b->mate = a;
    }
    if (!unique)
        clear_pairs(p);
    free(sorted);
    return unique;
}

bool diff_pair_in_order(const struct diff_pairing *p)
{
    const struct diff_item *last = NULL;
    for (size_t i = 0; i < p->old_count; i++) {
        const struct diff_item *mate = p->old_items[i].mate;
        if (mate && last && mate < last)
            return false;
        if (mate)
            last = mate;
    }
    return true;
}

/* ---- members ---- */

static bool is_plain_key(struct str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!path_is_name(key.at[i]))
            return false;
    return key.len > 0;
}

static struct str format_member(struct arena *memory, struct str key)
{
    struct buf text = {0}, step = {0};
    struct str kept;
    json_value_put(&text, (struct str){key.at - 1, key.len + 2}); /* a string has quotes */
    path_put_step(&step, &(struct path_step){.kind = PATH_KEY, .key = {text.bytes, text.len}});
    kept = arena_copy(memory, (struct str){step.bytes, step.len});
    buf_free(&text);
    buf_free(&step);
    return kept;
}

bool diff_pair_is_version(struct str key)
{
    return json_key_is(key, "resourceVersion") || json_key_is(key, "managedFields");
}

static bool collect_members(struct buf *items, size_t *room, struct arena *memory,
                            struct str object, bool versions)
{
    struct json_walk walk;
    struct json_member m;
    json_walk_start(&walk, object);
    while (json_walk_next(&walk, &m)) {
        struct diff_item item = {.value = m.value};
        if (!versions && diff_pair_is_version(m.key))
            continue;
        item.step = is_plain_key(m.key) ? m.key : format_member(memory, m.key);
        if (!diff_pair_collect(items, room, item))
            return false;
    }
    return true;
}

bool diff_pair_members(struct diff_pairing *p, struct arena *memory, size_t *room,
                       struct str old_text, struct str new_text, bool versions)
{
    struct buf items = {0};
    size_t old_count;
    *p = (struct diff_pairing){.by = DIFF_BY_MEMBER};
    p->over_limit = !collect_members(&items, room, memory, old_text, versions);
    old_count = items.len / sizeof(struct diff_item);
    p->over_limit = p->over_limit || !collect_members(&items, room, memory, new_text, versions);
    diff_pair_settle(p, memory, &items, old_count);
    return !p->over_limit && diff_pair_match(p);
}
