/*
 * state_loaded.c - a list of objects that is sorted once.
 *
 * Normal path: add all, sort, take all. Objects may be released at any time. Nothing here fails.
 */
#include "core/state/state_loaded.h"

#include <stdlib.h>

#include "informer/object.h"

#include "base/alloc.h"

enum {
    FIRST_CAP = 64,
};

uint32_t loaded_list_add(struct loaded_list *list, struct loaded_object object)
{
    if (list->len == list->cap) {
        list->cap = list->cap ? list->cap * 2 : FIRST_CAP;
        list->objects = xrealloc(list->objects, list->cap * sizeof(*list->objects));
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

bool loaded_list_sort_some(struct loaded_list *list, size_t n)
{
    return key_order_continue(&list->order, list, n);
}

/* The names of an object that is taken soon: they are in the first two cache lines. */
static void prefetch(const struct loaded_list *list)
{
    size_t soon = list->next + LOADED_PREFETCH;
    const struct inf_object *object;
    if (soon >= list->order.count)
        return;
    object = list->objects[list->order.numbers[soon]].object;
    __builtin_prefetch(object);
    __builtin_prefetch((const char *)object + 64);
}

bool loaded_list_take(struct loaded_list *list, struct loaded_object *ret_object)
{
    while (list->next < list->order.count) {
        struct loaded_object *object = &list->objects[list->order.numbers[list->next++]];
        prefetch(list);
        if (!object->object)
            continue;
        *ret_object = *object;
        object->object = NULL;
        list->count--;
        return true;
    }
    return false;
}

bool loaded_list_free_some(struct loaded_list *list, size_t n)
{
    if (!list->count)
        list->len = 0;
    key_order_free(&list->order);
    for (; list->len; list->len--, n--) {
        if (!n)
            return false;
        release(list, &list->objects[list->len - 1]);
    }
    free(list->objects);
    *list = (struct loaded_list){0};
    return true;
}
