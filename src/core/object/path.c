/*
 * path.c - finds the values that a path selects in a text. Parsing is in path_parse.c.
 *
 * A walk has one level for each step, so neither the depth of the text nor the branches of a path
 * need recursion. A level ends when its step can match nothing more: the rest of the text is not
 * read. A path that matches nothing is no error.
 */
#include "core/object/path.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json/json_text.h"

/* ---- one step ---- */

bool path_step_matches_key(const struct inf_path *path, size_t step, struct str key)
{
    const struct path_step *s = &path->steps[step];
    return s->kind == PATH_ALL || (s->kind == PATH_KEY && json_text_is(key, s->key));
}

bool path_step_matches_item(const struct inf_path *path, size_t step, size_t index, struct str item)
{
    const struct path_step *s = &path->steps[step];
    struct str value;
    switch (s->kind) {
    case PATH_KEY: return false;
    case PATH_ALL: return true;
    case PATH_INDEX: return index == s->index;
    case PATH_WHERE: return json_member_get(item, s->key, &value) && json_value_is(value, s->value);
    }
    return false;
}

/* ---- all steps ---- */

static void level_end(struct path_level *level)
{
    level->walk.at = level->walk.end;
}

static void level_start(struct path_level *level, enum path_kind kind, struct str value)
{
    level->index = 0;
    level->list = json_items_start(&level->walk, value);
    if (!level->list)
        json_walk_start(&level->walk, value);
    if (kind != PATH_ALL && level->list != (kind != PATH_KEY))
        level_end(
            level); /* a key matches nothing in a list, an index or a filter nothing in a map */
}

static bool level_next(struct path_walk *walk, struct str *ret_value)
{
    struct path_level *level = &walk->levels[walk->depth];
    enum path_kind kind = walk->path->steps[walk->depth].kind;
    struct json_member member;
    bool found = false;
    if (level->list) {
        while (!found && json_items_next(&level->walk, ret_value))
            found = path_step_matches_item(walk->path, walk->depth, level->index++, *ret_value);
    } else {
        while (!found && json_walk_next(&level->walk, &member))
            found = path_step_matches_key(walk->path, walk->depth, member.key);
        if (found)
            *ret_value = member.value;
    }
    if (found && (kind == PATH_KEY || kind == PATH_INDEX))
        level_end(level); /* there is only one */
    return found;
}

void path_walk_start(struct path_walk *walk, const struct inf_path *path, struct str text)
{
    walk->path = path;
    walk->depth = 0;
    level_start(&walk->levels[0], path->steps[0].kind, text);
}

bool path_walk_next(struct path_walk *walk, struct str *ret_value)
{
    struct str value;
    for (;;) {
        if (!level_next(walk, &value)) {
            if (walk->depth == 0)
                return false;
            walk->depth--;
        } else if (walk->depth + 1 == walk->path->count) {
            *ret_value = value;
            return true;
        } else {
            walk->depth++;
            level_start(&walk->levels[walk->depth], walk->path->steps[walk->depth].kind, value);
        }
    }
}

static bool has_only_keys(const struct inf_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        if (path->steps[i].kind != PATH_KEY)
            return false;
    return true;
}

/* A path of keys: each value is entered at its first byte, without a search for its end. That halves
 * the cost of spec.nodeName, which the record of each Pod has (make instructions, write_lines). */
static bool find_by_keys(const struct inf_path *path, struct str text, struct str *ret_value)
{
    struct json_walk walk;
    struct str key;
    size_t step = 0;
    json_walk_start(&walk, text);
    while (json_walk_key(&walk, &key)) {
        if (!path_step_matches_key(path, step, key)) {
            json_walk_value(&walk);
        } else if (++step == path->count) {
            *ret_value = json_walk_value(&walk);
            return true;
        } else if (!json_walk_pass(&walk, '{')) {
            return false;
        }
    }
    return false;
}

bool path_first(const struct inf_path *path, struct str text, struct str *ret_value)
{
    struct path_walk walk;
    if (has_only_keys(path))
        return find_by_keys(path, text, ret_value);
    path_walk_start(&walk, path, text);
    return path_walk_next(&walk, ret_value);
}

/* ---- many paths ---- */

uint64_t path_set_all(size_t count)
{
    assert(count <= PATH_SET_MAX);
    return count ? UINT64_MAX >> (PATH_SET_MAX - count) : 0;
}

static void match_add(struct path_match *match, const struct inf_path *path, size_t depth,
                      uint64_t bit)
{
    if (depth + 1 == path->count)
        match->ended |= bit;
    else
        match->live |= bit;
}

struct path_match path_set_key(const struct inf_path *const *paths, uint64_t live, size_t depth,
                               struct str key)
{
    struct path_match match = {0};
    for (size_t i = 0; i < PATH_SET_MAX && live >> i; i++)
        if ((live >> i & 1) && path_step_matches_key(paths[i], depth, key))
            match_add(&match, paths[i], depth, (uint64_t)1 << i);
    return match;
}

struct path_match path_set_item(const struct inf_path *const *paths, uint64_t live, size_t depth,
                                size_t index, struct str item)
{
    struct path_match match = {0};
    for (size_t i = 0; i < PATH_SET_MAX && live >> i; i++)
        if ((live >> i & 1) && path_step_matches_item(paths[i], depth, index, item))
            match_add(&match, paths[i], depth, (uint64_t)1 << i);
    return match;
}

/* ---- informer/path.h ---- */

struct inf_path *inf_path_parse(const char *text, struct inf_error *err)
{
    return path_parse("path", str_of(text), str_of(text), err);
}

void inf_path_free(struct inf_path *path)
{
    if (!path)
        return;
    free(path->names);
    free(path->text);
    free(path);
}

const char *inf_path_text(const struct inf_path *path)
{
    return path->text;
}

bool inf_path_is_single(const struct inf_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        if (path->steps[i].kind == PATH_ALL || path->steps[i].kind == PATH_WHERE)
            return false;
    return true;
}

static struct str json_of(const struct inf_object *object)
{
    struct str text;
    text.at = inf_object_json(object, &text.len);
    return text;
}

size_t inf_path_each(const struct inf_path *path, const struct inf_object *object,
                     inf_path_value_fn *fn, void *ctx)
{
    struct path_walk walk;
    struct str value;
    size_t calls = 0;
    if (has_only_keys(path)) {
        calls = find_by_keys(path, json_of(object), &value);
        if (calls)
            fn(ctx, value.at, value.len);
        return calls;
    }
    path_walk_start(&walk, path, json_of(object));
    while (path_walk_next(&walk, &value)) {
        calls++;
        if (!fn(ctx, value.at, value.len))
            break;
    }
    return calls;
}

struct paths_walk {
    const struct inf_path *const *paths;
    inf_path_values_fn *each;
    void *ctx;
};

static bool walk_inside(const struct paths_walk *w, uint64_t live, size_t depth,
                        struct json_walk *walk, bool leaves);

/* Reports @value for the paths that end there, and continues inside of it with the others. */
static bool walk_match(const struct paths_walk *w, struct path_match match, size_t depth,
                       struct str value)
{
    struct json_walk inside = {value.at, value.at + value.len};
    for (size_t i = 0; i < PATH_SET_MAX && match.ended >> i; i++)
        if ((match.ended >> i & 1) && !w->each(w->ctx, i, value.at, value.len))
            return false;
    return !match.live || walk_inside(w, match.live, depth + 1, &inside, false);
}

/* Those of @bits whose step at @depth is a key: there is only one such member. */
static uint64_t of_keys(const struct paths_walk *w, uint64_t bits, size_t depth)
{
    uint64_t found = 0;
    for (size_t i = 0; i < PATH_SET_MAX && bits >> i; i++)
        if ((bits >> i & 1) && w->paths[i]->steps[depth].kind == PATH_KEY)
            found |= (uint64_t)1 << i;
    return found;
}

static bool walk_items(const struct paths_walk *w, uint64_t live, size_t depth,
                       struct json_walk *walk)
{
    struct str item;
    for (size_t i = 0; json_items_next(walk, &item); i++)
        if (!walk_match(w, path_set_item(w->paths, live, depth, i, item), depth, item))
            return false;
    return true;
}

/* A value is entered without a search for its end, unless a path ends there. */
static bool walk_members(const struct paths_walk *w, uint64_t live, size_t depth,
                         struct json_walk *walk, bool leaves)
{
    struct str key;
    while (live && json_walk_key(walk, &key)) {
        struct path_match match = path_set_key(w->paths, live, depth, key);
        bool enters = match.live && !match.ended;
        live &= ~of_keys(w, match.ended | match.live, depth);
        if (enters ? !walk_inside(w, match.live, depth + 1, walk, live || leaves)
                   : !walk_match(w, match, depth, json_walk_value(walk)))
            return false;
    }
    return true;
}

/* Descends at most PATH_STEPS_MAX levels. @leaves: moves to the end of the value, for a caller that
 * continues there. Returns false if the caller's function did. */
static bool walk_inside(const struct paths_walk *w, uint64_t live, size_t depth,
                        struct json_walk *walk, bool leaves)
{
    bool more = true, entered = true;
    if (json_walk_pass(walk, '['))
        more = walk_items(w, live, depth, walk);
    else if (json_walk_pass(walk, '{'))
        more = walk_members(w, live, depth, walk, leaves);
    else
        entered = false;
    if (more && leaves && entered)
        json_walk_leave(walk);
    else if (more && leaves)
        json_walk_value(walk);
    return more;
}

void inf_paths_each(const struct inf_path *const *paths, size_t n, const struct inf_object *object,
                    inf_path_values_fn *each, void *ctx)
{
    struct paths_walk walk = {paths, each, ctx};
    struct str text = json_of(object);
    walk_inside(&walk, path_set_all(n), 0, &(struct json_walk){text.at, text.at + text.len}, false);
}

int inf_path_string(const struct inf_path *path, const struct inf_object *object, char *buf,
                    size_t size)
{
    struct str value = {"", 0};
    bool found = path_first(path, json_of(object), &value);
    size_t len = json_value_copy(value, buf, size);
    return found ? (int)len : -INF_ENOTFOUND;
}
