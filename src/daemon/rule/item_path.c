/*
 * item_path.c - parses a path with `[*]`, and compares it with the paths of a diff. See item_values.c
 * for its values. Only parsing can fail.
 *
 * Each `[*]` of the path gives a prefix that names the items themselves, which is parsed once.
 */
#include "daemon/rule/item_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "daemon/rule/item_path_internal.h"

/* ---- comparison of paths ---- */

/* The end of the step at @at, of a canonical path. */
static const char *step_end(const char *at)
{
    bool quoted = false;
    if (*at != '[')
        return at + 1 + strcspn(at + 1, ".[");
    for (; *at && (quoted || *at != ']'); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (quoted && at[0] == '\\' && at[1])
            at++;
    }
    return at + (*at == ']');
}

/* Whether the step [@at, @end) is a bracket that may name several items, or one in another way. */
static bool is_item_step(const char *at, const char *end)
{
    return *at == '[' && end > at + 1 && at[1] != '"';
}

static bool is_step_end(char c)
{
    return c == '\0' || c == '.' || c == '[';
}

/* Passes the name at the start of both paths. Returns false if it is not the same. Each change is compared
 * with the paths of all rules, and nearly all differ in a name: finding the ends of steps first took 6 %
 * of a change of a 1 KB object. */
static bool pass_same_name(const char **path, const char **changed)
{
    const char *a = *path, *b = *changed;
    if (*a != *b)
        return false;
    for (a++, b++; *a == *b && !is_step_end(*a); a++, b++)
        continue;
    *path = a;
    *changed = b;
    return is_step_end(*a) && is_step_end(*b);
}

/* The length of the names before the first bracket. */
static size_t names_len(const char *path)
{
    return strcspn(path, "[");
}

/* Whether a value at one of the paths may be part of a value at the other one. The steps of @path are
 * compared with those of @changed; `[*]`, `[type=Ready]` and `[0]` may be any step. @names is the
 * names_len() of @path: these names are compared without looking for the ends of steps. */
static bool overlaps(const char *path, size_t names, const char *changed)
{
    size_t same = 0;
    if (changed[0] == '.' && !changed[1])
        return true;
    if (names && *changed != '[') {
        while (same < names && path[same] == changed[same])
            same++;
        path += same;
        changed += same;
        if (!is_step_end(*path) || !is_step_end(*changed))
            return false;
    }
    while (*path && *changed) {
        const char *end, *changed_end;
        size_t len;
        if (*path != '[' && *changed != '[') {
            if (!pass_same_name(&path, &changed))
                return false;
            continue;
        }
        end = step_end(path);
        changed_end = step_end(changed);
        len = (size_t)(end - path);
        if (!is_item_step(path, end) && !is_item_step(changed, changed_end) &&
            (len != (size_t)(changed_end - changed) || memcmp(path, changed, len) != 0))
            return false;
        path = end;
        changed = changed_end;
    }
    return true;
}

/* ---- parsing ---- */

static void add_star(struct item_path *path, const char *text, size_t len)
{
    struct star *star;
    char *prefix = xstrndup(text, len);
    path->stars = xrealloc(path->stars, (path->n_stars + 1) * sizeof(*path->stars));
    star = &path->stars[path->n_stars++];
    star->items = inf_path_parse(prefix, NULL);
    free(prefix);
}

/* Finds `[*]` in a canonical path, outside of quotes. */
static void find_stars(struct item_path *path, const char *text)
{
    bool quoted = false;
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            quoted = !quoted;
        else if (quoted && *c == '\\')
            c++;
        else if (!quoted && strncmp(c, "[*]", 3) == 0)
            add_star(path, text, (size_t)(c - text) + 3);
    }
}

struct item_path *item_path_parse(const char *text, struct inf_error *err)
{
    struct inf_path *plain = inf_path_parse(text, err);
    struct item_path *path;
    if (!plain)
        return NULL;
    path = NEW(struct item_path);
    path->path = plain;
    text = inf_path_text(plain);
    path->names = names_len(text);
    path->is_in_diffs = !overlaps(text, path->names, "metadata.managedFields") &&
                        !overlaps(text, path->names, "metadata.resourceVersion");
    find_stars(path, text);
    return path;
}

void item_path_free(struct item_path *path)
{
    if (!path)
        return;
    for (size_t i = 0; i < path->n_stars; i++)
        inf_path_free(path->stars[i].items);
    free(path->stars);
    inf_path_free(path->path);
    free(path);
}

const struct inf_path *item_path_plain(const struct item_path *path)
{
    return path->path;
}

char *item_path_lead(const struct item_path *path)
{
    const char *text = inf_path_text(path->path), *end = text;
    for (size_t i = 0; i < ITEM_PATH_LEAD && *end; i++)
        end = step_end(end);
    return xstrndup(text, (size_t)(end - text));
}

bool item_path_has_items(const struct item_path *path)
{
    return path->n_stars > 0;
}

/* ---- diffs ---- */

bool item_path_is_touched_by(const struct item_path *path, const struct inf_diff *diff,
                             item_value_fn *may_be, const void *ctx)
{
    const char *text = inf_path_text(path->path);
    for (size_t i = 0; i < inf_diff_count(diff) && path->is_in_diffs; i++) {
        const struct inf_change *change = inf_diff_get(diff, i);
        const struct inf_diff_value *value = &change->new_value;
        struct str json = {value->json, value->json ? value->len : 0};
        if (overlaps(text, path->names, change->path) &&
            (!may_be || (value->len && may_be(ctx, json))))
            return true;
    }
    return !path->is_in_diffs;
}

bool item_path_covers(const struct item_path *path, const char *changed)
{
    const char *at = inf_path_text(path->path);
    while (*at && *changed && strcmp(changed, ".") != 0) {
        const char *end = step_end(at), *changed_end = step_end(changed);
        size_t len = (size_t)(end - at);
        if (strncmp(at, "[*]", 3) != 0 &&
            (len != (size_t)(changed_end - changed) || memcmp(at, changed, len) != 0))
            return false;
        at = end;
        changed = changed_end;
    }
    return !*at;
}

bool item_path_touches(const struct item_path *path, const char *changed)
{
    return overlaps(inf_path_text(path->path), path->names, changed);
}

bool item_path_names(const struct item_path *path, const char *changed)
{
    const char *at = inf_path_text(path->path);
    while (*at && *changed) {
        const char *end = step_end(at), *changed_end = step_end(changed);
        size_t len = (size_t)(end - at);
        bool same = strncmp(at, "[*]", 3) == 0
                        ? strncmp(changed, "[name=", 6) == 0
                        : len == (size_t)(changed_end - changed) && memcmp(at, changed, len) == 0;
        if (!same)
            return false;
        at = end;
        changed = changed_end;
    }
    return !*at && !*changed;
}

bool item_path_is_touched(const struct item_path *path, const struct inf_diff *diff)
{
    return item_path_is_touched_by(path, diff, NULL, NULL);
}
