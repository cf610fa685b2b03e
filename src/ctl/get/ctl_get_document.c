/*
 * ctl_get_document.c - the document of `informerctl get -o FORM`: the object itself if exactly one is named, otherwise
 * a List of the objects of all targets.
 *
 * The nodes of the answers are moved into the document, not copied; nodes that are added live in the arena of the command.
 * Errors are those of the form: a template that fails, a path that is missing in all objects.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "ctl/get/ctl_get_internal.h"

static struct json_node *new_node(struct get *g, enum json_type type, const char *key,
                                  const char *text)
{
    struct json_node *node = arena_alloc(&g->arena, sizeof(*node));
    *node = (struct json_node){
        .type = type,
        .key = str_of(key),
        .text = arena_copy(&g->arena, str_of(text)),
    };
    return node;
}

/* Sets the member @key of @object, whose members are sorted. */
static void set_member(struct get *g, struct json_node *object, const char *key, const char *text)
{
    struct json_node *node = new_node(g, JSON_STRING, key, text), **at = &object->first;
    while (*at && str_cmp((*at)->key, node->key) < 0)
        at = &(*at)->next;
    node->next = *at && str_eq((*at)->key, node->key) ? (*at)->next : *at;
    *at = node;
}

void get_set_type(struct get *g, const struct get_target *t, struct json_node *object)
{
    char *version = t->resource.group[0]
                        ? xasprintf("%s/%s", t->resource.group, t->resource.version)
                        : xstrdup(t->resource.version);
    set_member(g, object, "apiVersion", version);
    set_member(g, object, "kind", t->resource.kind);
    free(version);
}

struct json_node *get_take_objects(struct get *g, struct get_target *t)
{
    struct json_node *root = t->answer.tree, *first = root;
    for (struct json_node *m = t->name ? NULL : root->first; m; m = m->next)
        if (str_eq(m->key, STR("items")))
            first = m->first;
    for (struct json_node *o = first; o; o = o->next)
        get_set_type(g, t, o);
    return first;
}

/* A List of the objects of all targets, or the one object that was named. */
int get_put_document(struct get *g, struct buf *out, struct inf_error *err)
{
    struct json_node *list = new_node(g, JSON_OBJECT, "", "{}");
    struct json_node *items = new_node(g, JSON_ARRAY, "items", "[]"), **last = &items->first;
    struct json_node *metadata = new_node(g, JSON_OBJECT, "metadata", "{}");
    bool single = g->n_targets == 1 && g->targets[0].name;
    for (size_t i = 0; i < g->n_targets; i++) {
        if (g->targets[i].answer.root)
            *last = get_take_objects(g, &g->targets[i]);
        while (*last)
            last = &(*last)->next;
    }
    if (!items->first && (single || g->o->ignore_not_found || !g->n_targets))
        return 0;
    if (single)
        return get_form_put(&g->form, items->first, NULL, out, err);
    if (g->sort_by && ctl_sort(items, NULL, g->sort_by, err) < 0)
        return -err->code;
    set_member(g, list, "apiVersion", "v1");
    set_member(g, list, "kind", "List");
    set_member(g, metadata, "resourceVersion", "");
    list->first->next->next = metadata; /* apiVersion, items, kind, metadata */
    items->next = list->first->next;
    list->first->next = items;
    return get_form_put(&g->form, list, NULL, out, err);
}
