/*
 * state_order.c - a merge sort whose steps are small.
 *
 * Normal path: look at all keys, copy what differs in their first 16 bytes, then merge runs of 1, 2, 4, ...
 * objects until there is one. Nothing here fails.
 */
#include "core/state/state_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "core/object/object.h"
#include "core/state/state_loaded.h"

void key_order_free(struct key_order *order)
{
    free(order->items);
    free(order->spare);
    free(order->numbers);
    *order = (struct key_order){0};
}

/* The object to sort at @at; NULL: it was released. */
static const struct inf_object *object_at(const struct loaded_list *list, size_t at)
{
    return list->objects[at].object;
}

/* What was needed to sort is freed before the store needs memory for the objects. */
static void end_order(struct key_order *o)
{
    o->numbers = xcalloc(o->count + 1, sizeof(*o->numbers));
    for (size_t i = 0; i < o->count; i++)
        o->numbers[i] = o->items[i].number;
    free(o->items);
    free(o->spare);
    o->items = o->spare = NULL;
    o->phase = ORDER_DONE;
}

/* ---- looking ---- */

static size_t common_bytes(struct str a, struct str b, size_t max)
{
    size_t n = 0;
    max = max < a.len ? max : a.len;
    max = max < b.len ? max : b.len;
    while (n < max && a.at[n] == b.at[n])
        n++;
    return n;
}

static void look_at_one(struct key_order *o, const struct loaded_list *list)
{
    const struct inf_object *object = object_at(list, o->at);
    const struct inf_object *before = o->previous == SIZE_MAX ? NULL : object_at(list, o->previous);
    if (o->at + LOADED_PREFETCH < list->len)
        __builtin_prefetch(object_at(list, o->at + LOADED_PREFETCH));
    if (object && before)
        o->common = common_bytes(object_key(object), object_key(before), o->common);
    if (object)
        o->previous = o->at;
    if (++o->at < list->len)
        return;
    o->phase = ORDER_COPYING;
    o->at = 0;
    o->items = xcalloc(list->len, sizeof(*o->items));
    o->spare = xcalloc(list->len, sizeof(*o->spare));
}

/* ---- copying ---- */

static uint64_t key_word(struct str key, size_t from)
{
    uint64_t word = 0;
    for (size_t i = 0; i < sizeof(word); i++)
        word = word << 8 | (from + i < key.len ? (unsigned char)key.at[from + i] : 0);
    return word;
}

static void begin_pair(struct key_order *o, size_t at)
{
    o->at = o->left = o->out = at;
    o->right = at + o->width < o->count ? at + o->width : o->count;
}

static void copy_one(struct key_order *o, const struct loaded_list *list)
{
    const struct inf_object *object = object_at(list, o->at);
    if (object) {
        struct str key = object_key(object);
        o->items[o->count++] = (struct order_item){
            {key_word(key, o->common), key_word(key, o->common + 8)}, (uint32_t)o->at};
    }
    if (++o->at < list->len)
        return;
    if (o->count < 2) {
        end_order(o);
        return;
    }
    o->phase = ORDER_MERGING;
    o->width = 1;
    begin_pair(o, 0);
}

/* ---- merging ---- */

static bool is_before(const struct order_item *a, const struct order_item *b,
                      const struct loaded_list *list)
{
    const struct inf_object *x, *y;
    if (a->key[0] != b->key[0])
        return a->key[0] < b->key[0];
    if (a->key[1] != b->key[1])
        return a->key[1] < b->key[1];
    x = list->objects[a->number].object;
    y = list->objects[b->number].object;
    return !x || !y || str_cmp(object_key(x), object_key(y)) <= 0;
}

static size_t end_of_run(const struct key_order *o, size_t begin)
{
    return begin + o->width < o->count ? begin + o->width : o->count;
}

/* The pair is merged: the next pair, the next pass, or the end. */
static void end_pair(struct key_order *o)
{
    struct order_item *merged = o->spare;
    if (o->out < o->count) {
        begin_pair(o, o->out);
        return;
    }
    o->spare = o->items;
    o->items = merged;
    o->width *= 2;
    if (o->width >= o->count)
        end_order(o);
    else
        begin_pair(o, 0);
}

static void merge_one(struct key_order *o, const struct loaded_list *list)
{
    size_t middle = end_of_run(o, o->at), end = end_of_run(o, middle);
    bool from_left = o->left < middle &&
                     (o->right == end || is_before(&o->items[o->left], &o->items[o->right], list));
    o->spare[o->out++] = o->items[from_left ? o->left++ : o->right++];
    if (o->out == end)
        end_pair(o);
}

/* ---- all ---- */

static void begin_order(struct key_order *o, const struct loaded_list *list)
{
    *o = (struct key_order){.phase = ORDER_LOOKING, .previous = SIZE_MAX, .common = SIZE_MAX};
    if (!list->len)
        end_order(o);
}

bool key_order_continue(struct key_order *order, const struct loaded_list *list, size_t n)
{
    for (; n; n--) {
        switch (order->phase) {
        case ORDER_BEGIN: begin_order(order, list); break;
        case ORDER_LOOKING: look_at_one(order, list); break;
        case ORDER_COPYING: copy_one(order, list); break;
        case ORDER_MERGING: merge_one(order, list); break;
        case ORDER_DONE: return true;
        }
    }
    return order->phase == ORDER_DONE;
}
