/*
 * reported_objects.c - a tree by name, with a reference to each object.
 */
#include "daemon/watch/reported_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

struct reported_object {
    struct tree_node node;
    const struct inf_object *object;
};

static const char *name_at(const struct tree_node *node)
{
    return inf_object_name(container_of(node, struct reported_object, node)->object);
}

static int by_name(const struct tree_node *a, const struct tree_node *b)
{
    return strcmp(name_at(a), name_at(b));
}

static int name_to_node(const void *key, const struct tree_node *node)
{
    return strcmp(key, name_at(node));
}

void reported_objects_init(struct reported_objects *objects)
{
    tree_init(&objects->by_name, by_name);
}

void reported_objects_free(struct reported_objects *objects)
{
    const struct inf_object *object;
    while ((object = reported_objects_take(objects)))
        inf_object_unref(object);
}

static const struct inf_object *remove_entry(struct reported_objects *objects,
                                             struct reported_object *e)
{
    const struct inf_object *object = e->object;
    tree_remove(&objects->by_name, &e->node);
    free(e);
    return object;
}

static struct reported_object *find_entry(const struct reported_objects *objects, const char *name)
{
    struct tree_node *node = tree_at_least(&objects->by_name, name_to_node, name);
    return node && strcmp(name_at(node), name) == 0
               ? container_of(node, struct reported_object, node)
               : NULL;
}

void reported_objects_note(struct reported_objects *objects, const struct inf_event *event)
{
    struct reported_object *e = find_entry(objects, inf_object_name(inf_event_object(event)));
    if (e)
        inf_object_unref(remove_entry(objects, e));
    if (event->verb == INF_DELETED)
        return;
    e = NEW(struct reported_object);
    e->object = inf_object_ref(event->new_object);
    tree_add(&objects->by_name, &e->node);
}

bool reported_objects_is_empty(const struct reported_objects *objects)
{
    return !objects->by_name.root;
}

const struct inf_object *reported_objects_take(struct reported_objects *objects)
{
    struct tree_node *first = tree_first(&objects->by_name);
    return first ? remove_entry(objects, container_of(first, struct reported_object, node)) : NULL;
}
