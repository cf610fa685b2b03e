/*
 * ctl_get_watch.c - `informerctl get -w`: the objects of a target, then each change as it arrives.
 *
 * Normal path: the objects of the list are printed one by one, and a watch continues from its version. The first event of
 * a single object repeats it and is left out. The watch ends with an error of informerd, a closed connection, or
 * when the output is closed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "ctl/get/ctl_get_internal.h"

struct get_watch {
    struct client_follower follower;
    struct get *get;
    struct get_target *target;
    char *seen; /* version of the named object that was printed; its first event repeats it */
    int rc;
};

/* Adds one object or Table of a watch. */
static int put_change(struct get *g, struct get_target *t, struct json_node *object,
                      const char *type, struct buf *out, struct inf_error *err)
{
    const char *event = g->o->watch_events ? type : NULL;
    if (g->form.type) {
        get_set_type(g, t, object);
        return get_form_put(&g->form, object, event, out, err);
    }
    get_table_add(&g->table, g->o, g->form.wide, &t->resource, g->with_kind, object, event);
    ctl_table_put(&g->table.rows, out);
    return 0;
}

/* The metadata of the object of a change, which in a Table is that of its only row. */
static const struct json_node *metadata_of(const struct json_node *object)
{
    const struct json_node *rows = ctl_json_get(object, "rows");
    const struct json_node *one =
        rows && rows->first ? ctl_json_get(rows->first, "object") : object;
    return ctl_json_get(one, "metadata");
}

/* Whether this is the event that repeats the printed object. */
static bool is_repeated(struct get_watch *w, const struct json_node *object)
{
    char *version = w->seen ? ctl_json_text(metadata_of(object), "resourceVersion") : NULL;
    bool repeated = version && strcmp(version, w->seen) == 0;
    free(version);
    free(w->seen);
    w->seen = NULL;
    return repeated;
}

static bool on_event(struct client_follower *follower, struct str line)
{
    struct get_watch *w = container_of(follower, struct get_watch, follower);
    struct arena arena = {0};
    struct buf out = {0};
    struct json_node *event = json_tree_make(&arena, line), *object = NULL;
    char *type = ctl_json_text(event, "type");
    struct inf_error err;
    for (struct json_node *m = event->first; m; m = m->next)
        if (str_eq(m->key, STR("object")))
            object = m;
    if (strcmp(type, "ERROR") == 0) {
        ctl_json_error(0, object ? object->text : (struct str){0}, &err);
        w->rc = ctl_fail(&err);
    } else if (object && strcmp(type, "BOOKMARK") != 0 && !is_repeated(w, object)) {
        w->rc = put_change(w->get, w->target, object, type, &out, &err) < 0 ? ctl_fail(&err)
                                                                            : command_print(&out);
    }
    arena_free(&w->get->arena);
    free(type);
    buf_free(&out);
    arena_free(&arena);
    return w->rc == 0;
}

/* Prints the objects that are there, each by itself. */
static int print_initial(struct get *g, struct get_target *t)
{
    struct buf out = {0};
    struct inf_error err;
    int rc = 0;
    if (g->o->watch_only)
        return 0;
    if (get_sort_rows(g, t->answer.root, &err) < 0)
        return ctl_fail(&err);
    if (!g->form.type) {
        rc = put_change(g, t, t->answer.tree, "ADDED", &out, &err);
    } else {
        struct json_node *next;
        for (struct json_node *o = get_take_objects(g, t); rc == 0 && o; o = next) {
            next = o->next;
            g->form.more = next != NULL;
            rc = put_change(g, t, o, "ADDED", &out, &err);
        }
    }
    rc = rc < 0 ? ctl_fail(&err) : command_print(&out);
    buf_free(&out);
    return rc;
}

int get_watch_target(struct get *g, struct get_target *t)
{
    struct get_watch w = {.follower = {on_event}, .get = g, .target = t};
    struct buf target = {0};
    struct inf_error err;
    char *version;
    int rc;
    if (t->name) { /* the version of an object may be too old to watch from */
        w.seen = ctl_json_text(metadata_of(t->answer.root), "resourceVersion");
        version = xstrdup("0");
    } else {
        version = ctl_json_text(ctl_json_get(t->answer.root, "metadata"), "resourceVersion");
    }
    get_put_target(g, t, version, &target);
    w.rc = print_initial(g, t);
    rc = w.rc ? 0 : client_follow(g->client, target.bytes, get_accept(g), &w.follower, &err);
    buf_free(&target);
    free(version);
    free(w.seen);
    return w.rc ? w.rc : rc < 0 ? ctl_fail(&err) : 0;
}
