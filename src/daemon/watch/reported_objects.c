#include "daemon/watch/reported_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

struct entry {
    struct tree_node node;
    const struct inf_object *object;
};

static const char *name_at(const struct tree_node *node)
{
    return inf_object_name(container_of(node, struct entry, node)->object);
}

static int by_name(const struct tree_node *a, const struct tree_node *b)
{
    return strcmp(name_at(a), name_at(b));
}

static int name_to_node(const void *key, const struct tree_node *node)
{
    return strcmp(key, name_at(node));
}

void reported_objects_init(struct reported_objects *told)
{
    tree_init(&told->by_name, by_name);
}

void reported_objects_free(struct reported_objects *told)
{
    const struct inf_object *object;
    while ((object = reported_objects_take(told)))
        inf_object_unref(object);
}

static const struct inf_object *take(struct reported_objects *told, struct entry *e)
{
    const struct inf_object *object = e->object;
    tree_remove(&told->by_name, &e->node);
    free(e);
    return object;
}

static struct entry *find(const struct reported_objects *told, const char *name)
{
    struct tree_node *node = tree_at_least(&told->by_name, name_to_node, name);
    return node && strcmp(name_at(node), name) == 0 ? container_of(node, struct entry, node) : NULL;
}

void reported_objects_note(struct reported_objects *told, const struct inf_event *event)
{
    struct entry *e = find(told, inf_object_name(inf_event_object(event)));
    if (e)
        inf_object_unref(take(told, e));
    if (event->verb == INF_DELETED)
        return;
    e = NEW(struct entry);
    e->object = inf_object_ref(event->new_object);
    tree_add(&told->by_name, &e->node);
}

bool reported_objects_is_empty(const struct reported_objects *told)
{
    return !told->by_name.root;
}

const struct inf_object *reported_objects_take(struct reported_objects *told)
{
    struct tree_node *first = tree_first(&told->by_name);
    return first ? take(told, container_of(first, struct entry, node)) : NULL;
}
