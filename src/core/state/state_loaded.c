/*
 * state_loaded.c - a list of objects of which some are behind, and a merge of those with the others.
 *
 * Normal path: add all, sort, take all. Objects may be released at any time. If they are taken before they
 * are sorted, their order is only mostly that of their keys. Nothing here fails.
 */
#include "core/state/state_loaded.h"

#include <stdlib.h>

#include "informer/object.h"

#include "base/alloc.h"
#include "base/str.h"
#include "core/object/object.h"

enum {
    FIRST_CAP = 64,
};

/* ---- adding ---- */

static void add_behind(struct loaded_list *list, uint32_t index)
{
    if (list->n_behind == list->behind_cap) {
        list->behind_cap = list->behind_cap ? list->behind_cap * 2 : FIRST_CAP;
        list->behind = xrealloc(list->behind, list->behind_cap * sizeof(*list->behind));
    }
    list->behind[list->n_behind++] = index;
}

uint32_t loaded_list_add(struct loaded_list *list, struct loaded_object object)
{
    if (list->len == list->cap) {
        list->cap = list->cap ? list->cap * 2 : FIRST_CAP;
        list->objects = xrealloc(list->objects, list->cap * sizeof(*list->objects));
    }
    if (list->highest && str_cmp(object_key(list->highest), object_key(object.object)) >= 0) {
        add_behind(list, (uint32_t)list->len);
    } else {
        inf_object_unref(list->highest);
        list->highest = inf_object_ref(object.object);
    }
    list->objects[list->len++] = object;
    list->count++;
    return (uint32_t)list->len;
}

static void release(struct loaded_list *list, struct loaded_object *object)
{
    if (!object->object)
        return;
    inf_object_unref(object->object);
    label_set_unref(object->labels);
    object->object = NULL;
    list->count--;
}

void loaded_list_release(struct loaded_list *list, uint32_t number)
{
    release(list, &list->objects[number - 1]);
}

/* ---- taking ---- */

bool loaded_list_sort_some(struct loaded_list *list, size_t n)
{
    return key_order_continue(&list->order, list, n);
}

/* The first one that is not behind and was not taken; NULL: there are no more. */
static struct loaded_object *first_ahead(struct loaded_list *list)
{
    for (; list->next < list->len; list->next++) {
        struct loaded_object *object = &list->objects[list->next];
        if (list->next_behind < list->n_behind && list->behind[list->next_behind] == list->next)
            list->next_behind++;
        else if (object->object)
            return object;
    }
    return NULL;
}

/* The first one of those that are behind. */
static struct loaded_object *first_behind(struct loaded_list *list)
{
    const uint32_t *numbers = list->order.numbers ? list->order.numbers : list->behind;
    size_t len = list->order.numbers ? list->order.count : list->n_behind;
    for (; list->next_sorted < len; list->next_sorted++) {
        struct loaded_object *object = &list->objects[numbers[list->next_sorted]];
        if (object->object)
            return object;
    }
    return NULL;
}

/* Its names: they are in the first two cache lines. */
static void prefetch_object(const struct inf_object *object)
{
    __builtin_prefetch(object);
    __builtin_prefetch((const char *)object + 64);
}

static void prefetch(const struct loaded_list *list)
{
    size_t ahead = list->next + LOADED_PREFETCH, sorted = list->next_sorted + LOADED_PREFETCH;
    if (ahead < list->len)
        prefetch_object(list->objects[ahead].object);
    if (sorted < list->order.count)
        prefetch_object(list->objects[list->order.numbers[sorted]].object);
}

bool loaded_list_take(struct loaded_list *list, struct loaded_object *ret_object)
{
    struct loaded_object *next = first_ahead(list), *behind = first_behind(list);
    prefetch(list);
    if (!next || (behind && str_cmp(object_key(behind->object), object_key(next->object)) < 0))
        next = behind;
    if (!next)
        return false;
    *ret_object = *next;
    next->object = NULL;
    list->count--;
    return true;
}

bool loaded_list_free_some(struct loaded_list *list, size_t n)
{
    if (!list->count)
        list->len = 0;
    if (list->highest) { /* from now on in the order of the list */
        inf_object_unref(list->highest);
        list->highest = NULL;
        list->next = 0;
    }
    for (; list->next < list->len; list->next++, n--) {
        if (!n)
            return false;
        release(list, &list->objects[list->next]);
    }
    free(list->objects);
    free(list->behind);
    key_order_free(&list->order);
    *list = (struct loaded_list){0};
    return true;
}
