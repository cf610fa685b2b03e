/*
 * observers.c - calls the observers of a store inside each change. They may remove themselves.
 */
#include "core/store/observers.h"

#include "core/object/object_packer.h"

_Static_assert(sizeof(((struct inf_store_observer *)0)->internal) >= sizeof(struct list),
               "an observer has room for its node");

static struct list *node_of(struct inf_store_observer *observer)
{
    return (struct list *)observer->internal;
}

static struct inf_store_observer *observer_of(struct list *node)
{
    return container_of((void **)node, struct inf_store_observer, internal[0]);
}

void observers_add(struct list *observers, struct inf_store_observer *observer)
{
    list_push(observers, node_of(observer));
}

void inf_store_unobserve(struct inf_store_observer *observer)
{
    if (observer->internal[0])
        list_remove(node_of(observer));
}

void observers_change(struct list *observers, const struct inf_store_change *change)
{
    list_for_each_safe(node, observers) {
        struct inf_store_observer *observer = observer_of(node);
        observer->on_change(observer, change);
    }
}

void observers_replaced(struct list *observers, bool begins)
{
    list_for_each_safe(node, observers) {
        struct inf_store_observer *observer = observer_of(node);
        observer->on_replaced(observer, begins);
    }
}

void observers_end(struct list *observers)
{
    struct list *node;
    while ((node = list_pop(observers))) {
        struct inf_store_observer *observer = observer_of(node);
        observer->on_end(observer);
    }
}

const struct inf_object *inf_object_expand(const struct inf_object *held)
{
    return object_unpack(held);
}
