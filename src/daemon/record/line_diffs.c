/*
 * line_diffs.c - the line diffs of all changes of a diff, made once for all event logs.
 *
 * Most diffs have none: then this costs a look at each change and no allocation.
 */
#include <stdlib.h>

#include "informer/path.h"

#include "base/alloc.h"
#include "daemon/record/line_diff.h"

enum {
    LINE_DIFFS_MAX = 64, /* LIMIT: texts of an object that are compared by lines */
};

struct line_diffs {
    struct {
        size_t change;
        struct line_diff *lines;
    } at[LINE_DIFFS_MAX];
    size_t count;
};

/* Cheap: whether a comparison by lines is possible. */
static bool may_have_lines(const struct inf_change *change)
{
    return change->op == INF_DIFF_REPLACE &&
           (change->old_value.len >= LINE_DIFF_BYTES || change->new_value.len >= LINE_DIFF_BYTES);
}

static bool take_first(void *ctx, const char *json, size_t len)
{
    *(struct str *)ctx = (struct str){json, len};
    return false;
}

/* The value of a change, from the object if the diff omitted it. */
static struct str value_of(const struct inf_diff_value *value, const char *path,
                           const struct inf_object *object)
{
    struct str json = {value->json, value->json ? value->len : 0};
    struct inf_path *parsed = value->json ? NULL : inf_path_parse(path, NULL);
    if (parsed)
        inf_path_each(parsed, object, take_first, &json);
    inf_path_free(parsed);
    return json;
}

struct line_diffs *line_diffs_make(const struct inf_diff *diff, const struct inf_event *event)
{
    struct line_diffs *diffs = NULL;
    size_t lookups = 0;
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        const struct inf_change *change = inf_diff_get(diff, i);
        struct line_diff lines;
        if (!may_have_lines(change) ||
            /* the diff omits both values or none */
            (!change->new_value.json && ++lookups > LINE_DIFFS_LOOKUPS_MAX) ||
            !line_diff_make(value_of(&change->old_value, change->path, event->old_object),
                            value_of(&change->new_value, change->path, event->new_object), &lines))
            continue;
        if (!diffs)
            diffs = NEW(struct line_diffs);
        diffs->at[diffs->count].change = i;
        diffs->at[diffs->count].lines = NEW(struct line_diff);
        *diffs->at[diffs->count++].lines = lines;
        if (diffs->count == LINE_DIFFS_MAX)
            break;
    }
    return diffs;
}

void line_diffs_free(struct line_diffs *diffs)
{
    for (size_t i = 0; diffs && i < diffs->count; i++)
        free(diffs->at[i].lines);
    free(diffs);
}

const struct line_diff *line_diffs_get(const struct line_diffs *diffs, size_t i)
{
    for (size_t k = 0; diffs && k < diffs->count; k++)
        if (diffs->at[k].change == i)
            return diffs->at[k].lines;
    return NULL;
}
