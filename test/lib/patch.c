#include "patch.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "core/object/path.h"

struct patch {
    yyjson_mut_doc *doc;
    struct str new_text;
    struct buf *why;
};

/* The target of a change: a member of an object, an item of a list, or the root itself. */
struct place {
    yyjson_mut_val *in; /* NULL: the root */
    yyjson_mut_val *key;
    size_t index;
    bool counted;          /* the index is in the path */
    yyjson_mut_val *value; /* NULL: it does not exist yet */
};

static bool wrong(struct patch *p, const char *what, const char *path)
{
    buf_printf(p->why, "%s: %s\n", path, what);
    return false;
}

static yyjson_mut_val *read_value(struct patch *p, struct str text)
{
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_mut_val *value = doc ? yyjson_val_mut_copy(p->doc, yyjson_doc_get_root(doc)) : NULL;
    yyjson_doc_free(doc);
    return value;
}

/* ---- comparing ---- */

static bool same(yyjson_mut_val *a, yyjson_mut_val *b);

/* Compares members by key; or in order, if keys occur twice. */
static bool same_members(yyjson_mut_val *a, yyjson_mut_val *b, bool in_order)
{
    yyjson_mut_obj_iter x = yyjson_mut_obj_iter_with(a), y = yyjson_mut_obj_iter_with(b);
    yyjson_mut_val *key, *other;
    while ((key = yyjson_mut_obj_iter_next(&x))) {
        other = yyjson_mut_obj_iter_next(&y);
        if (in_order && !yyjson_mut_equals(key, other))
            return false;
        other = in_order ? yyjson_mut_obj_iter_get_val(other)
                         : yyjson_mut_obj_getn(b, yyjson_mut_get_str(key), yyjson_mut_get_len(key));
        if (!same(yyjson_mut_obj_iter_get_val(key), other))
            return false;
    }
    return true;
}

static bool same_items(yyjson_mut_val *a, yyjson_mut_val *b)
{
    yyjson_mut_arr_iter x = yyjson_mut_arr_iter_with(a), y = yyjson_mut_arr_iter_with(b);
    yyjson_mut_val *item;
    while ((item = yyjson_mut_arr_iter_next(&x)))
        if (!same(item, yyjson_mut_arr_iter_next(&y)))
            return false;
    return true;
}

static bool same(yyjson_mut_val *a, yyjson_mut_val *b)
{
    if (!a || !b || yyjson_mut_get_type(a) != yyjson_mut_get_type(b))
        return false;
    if (yyjson_mut_is_obj(a))
        return yyjson_mut_obj_size(a) == yyjson_mut_obj_size(b) &&
               (same_members(a, b, true) || same_members(a, b, false));
    if (yyjson_mut_is_arr(a))
        return yyjson_mut_arr_size(a) == yyjson_mut_arr_size(b) && same_items(a, b);
    return yyjson_mut_equals(a, b);
}

/* ---- finding the target ---- */

static bool has_text(yyjson_mut_val *value, struct str text)
{
    const char *at =
        yyjson_mut_is_raw(value) ? yyjson_mut_get_raw(value) : yyjson_mut_get_str(value);
    return at && str_eq((struct str){at, yyjson_mut_get_len(value)}, text);
}

/* The index of the item that a step selects; the length of the list if there is none. */
static size_t item_index(yyjson_mut_val *list, const struct path_step *step)
{
    size_t i, count;
    yyjson_mut_val *item;
    if (step->kind == PATH_INDEX)
        return step->index;
    yyjson_mut_arr_foreach(list, i, count, item)
    {
        if (has_text(yyjson_mut_obj_getn(item, step->key.at, step->key.len), step->value))
            return i;
    }
    return yyjson_mut_arr_size(list);
}

static bool go(struct patch *p, struct place *place, const struct path_step *step)
{
    yyjson_mut_val *in = place->value;
    *place = (struct place){.in = in};
    if (step->kind == PATH_KEY) {
        place->key = yyjson_mut_strncpy(p->doc, step->key.at ? step->key.at : "", step->key.len);
        place->value = yyjson_mut_obj_getn(in, step->key.at ? step->key.at : "", step->key.len);
        return yyjson_mut_is_obj(in);
    }
    place->index = item_index(in, step);
    place->counted = step->kind == PATH_INDEX;
    place->value = yyjson_mut_arr_get(in, place->index);
    return yyjson_mut_is_arr(in) && place->index <= yyjson_mut_arr_size(in);
}

static bool find_place(struct patch *p, const struct inf_path *path, struct place *place)
{
    place->value = yyjson_mut_doc_get_root(p->doc);
    for (size_t i = 0; path && i < path->count; i++)
        if (!place->value || !go(p, place, &path->steps[i]))
            return false;
    return true;
}

/* ---- applying a change ---- */

static void set(struct patch *p, const struct place *place, yyjson_mut_val *value)
{
    if (!place->in)
        yyjson_mut_doc_set_root(p->doc, value);
    else if (place->key)
        yyjson_mut_obj_replace(place->in, place->key, value);
    else
        yyjson_mut_arr_replace(place->in, place->index, value);
}

static void insert(const struct place *place, size_t at, yyjson_mut_val *value)
{
    if (place->key)
        yyjson_mut_obj_add(place->in, place->key, value);
    else
        yyjson_mut_arr_insert(place->in, value, at != INF_DIFF_END ? at : place->index);
}

static void take_out(const struct place *place)
{
    if (place->key)
        yyjson_mut_obj_remove(place->in, place->key);
    else
        yyjson_mut_arr_remove(place->in, place->index);
}

/* Removes and returns the item of @list that "name=web" selects. */
static yyjson_mut_val *take_named(yyjson_mut_val *list, const char *name)
{
    char *text = xasprintf("[%s]", name);
    struct inf_path *path = inf_path_parse(text, NULL);
    yyjson_mut_val *item = NULL;
    if (path && path->count == 1 && path->steps[0].kind == PATH_WHERE)
        item = yyjson_mut_arr_remove(list, item_index(list, &path->steps[0]));
    inf_path_free(path);
    free(text);
    return item;
}

static bool reorder(struct patch *p, yyjson_mut_val *list, struct str order)
{
    yyjson_mut_val *names = read_value(p, order), *sorted = yyjson_mut_arr(p->doc), *name;
    size_t i, count;
    yyjson_mut_arr_foreach(names, i, count, name)
    {
        yyjson_mut_val *item = take_named(list, yyjson_mut_get_str(name));
        if (!item)
            return false;
        yyjson_mut_arr_append(sorted, item);
    }
    if (yyjson_mut_arr_size(list))
        return false;
    while ((name = yyjson_mut_arr_remove_first(sorted)))
        yyjson_mut_arr_append(list, name);
    return true;
}

/* ---- one change ---- */

static struct str given(const struct inf_diff_value *value)
{
    return (struct str){value->json, value->json ? value->len : 0};
}

static bool old_value_is_there(struct patch *p, const struct inf_change *c, const struct place *at)
{
    yyjson_mut_val *expected;
    if (!c->old_value.json || c->op == INF_DIFF_REORDER)
        return at->value;
    expected = read_value(p, given(&c->old_value));
    return same(expected, at->value);
}

static yyjson_mut_val *new_value(struct patch *p, const struct inf_change *c,
                                 const struct inf_path *path)
{
    struct str text = given(&c->new_value);
    if (!c->new_value.json && !path)
        text = p->new_text;
    else if (!c->new_value.json && !path_first(path, p->new_text, &text))
        return NULL;
    return read_value(p, text);
}

static bool do_at(struct patch *p, const struct inf_change *c, const struct inf_path *path,
                  const struct place *at)
{
    yyjson_mut_val *value = NULL;
    if (c->op != INF_DIFF_ADD && !old_value_is_there(p, c, at))
        return wrong(p, "has not the old value", c->path);
    if (c->op == INF_DIFF_ADD && at->value && !at->counted)
        return wrong(p, "is there already", c->path);
    if (c->op == INF_DIFF_REORDER && !reorder(p, at->value, given(&c->new_value)))
        return wrong(p, "can't be reordered", c->path);
    if (c->op == INF_DIFF_ADD || c->op == INF_DIFF_REPLACE)
        value = new_value(p, c, path);
    if (c->op != INF_DIFF_REORDER && c->op != INF_DIFF_REMOVE && !value)
        return wrong(p, "has no new value", c->path);
    if (c->op == INF_DIFF_ADD)
        insert(at, c->at, value);
    else if (c->op == INF_DIFF_REPLACE)
        set(p, at, value);
    else if (c->op == INF_DIFF_REMOVE)
        take_out(at);
    return true;
}

static bool do_change(struct patch *p, const struct inf_change *c)
{
    struct inf_error err = {.text = ""};
    struct inf_path *path = strcmp(c->path, ".") == 0 ? NULL : inf_path_parse(c->path, &err);
    struct place at = {.in = NULL};
    bool done = false;
    if (err.code)
        wrong(p, err.text, c->path);
    else if (path && strcmp(inf_path_text(path), c->path) != 0)
        wrong(p, inf_path_text(path), c->path);
    else if (!find_place(p, path, &at))
        wrong(p, "no such place", c->path);
    else
        done = do_at(p, c, path, &at);
    inf_path_free(path);
    return done;
}

bool patch_gives(const struct inf_diff *diff, struct str old_text, struct str new_text,
                 struct buf *why)
{
    struct patch p = {.doc = yyjson_mut_doc_new(NULL), .new_text = new_text, .why = why};
    bool good = true;
    yyjson_mut_doc_set_root(p.doc, read_value(&p, old_text));
    for (size_t i = 0; i < inf_diff_count(diff) && good; i++)
        good = do_change(&p, inf_diff_get(diff, i));
    if (good && !same(yyjson_mut_doc_get_root(p.doc), read_value(&p, new_text)))
        good = wrong(&p, "all done, and it is something else", ".");
    yyjson_mut_doc_free(p.doc);
    return good;
}
