/*
 * ignored.c - one allocation for each object, which contains its key and version, in a tree by key.
 * A tree, because names chosen by a tenant can't make it slow.
 */
#include "daemon/journal/ignored.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

static struct ignored_entry *entry_at(const struct tree_node *node)
{
    return container_of(node, struct ignored_entry, node);
}

static int compare_keys(const char *ns, const char *name, const struct ignored_entry *e)
{
    int order = strcmp(ns, e->ns);
    return order ? order : strcmp(name, e->name);
}

static int by_key(const struct tree_node *a, const struct tree_node *b)
{
    return compare_keys(entry_at(a)->ns, entry_at(a)->name, entry_at(b));
}

static int object_to_node(const void *object, const struct tree_node *node)
{
    return compare_keys(inf_object_namespace(object), inf_object_name(object), entry_at(node));
}

static struct ignored_entry *find_entry(const struct ignored *ignored,
                                        const struct inf_object *object)
{
    struct tree_node *node = tree_at_least(&ignored->by_key, object_to_node, object);
    return node && object_to_node(object, node) == 0 ? entry_at(node) : NULL;
}

/* Copies @text to *@room, and advances *@room by its size. */
static const char *copy_string(char **room, const char *text)
{
    size_t size = strlen(text) + 1;
    const char *at = memcpy(*room, text, size);
    *room += size;
    return at;
}

static struct ignored_entry *add_entry(struct ignored *ignored, const struct inf_object *last)
{
    const char *ns = inf_object_namespace(last), *name = inf_object_name(last);
    const char *rv = inf_object_resource_version(last);
    struct ignored_entry *e =
        xcalloc(1, sizeof(*e) + strlen(ns) + strlen(name) + strlen(rv) + 3 /* NULs */);
    char *room = e->texts;
    e->ns = copy_string(&room, ns);
    e->name = copy_string(&room, name);
    e->rv = copy_string(&room, rv);
    tree_add(&ignored->by_key, &e->node);
    return e;
}

void ignored_note(struct ignored *ignored, const struct inf_event *event)
{
    struct ignored_entry *e = find_entry(ignored, event->new_object);
    if (!ignored->by_key.root)
        tree_init(&ignored->by_key, by_key);
    if (!e)
        e = add_entry(ignored, event->old_object);
    e->count++;
}

struct ignored_entry *ignored_take(struct ignored *ignored, const struct inf_object *object)
{
    struct ignored_entry *e = find_entry(ignored, object);
    if (e)
        tree_remove(&ignored->by_key, &e->node);
    return e;
}

void ignored_free(struct ignored *ignored)
{
    struct tree_node *node;
    while ((node = tree_first(&ignored->by_key))) {
        tree_remove(&ignored->by_key, node);
        free(entry_at(node));
    }
}
