/*
 * diff_write.c - a finished diff: its getters, and how it is written as JSON. Values are copied as
 * the server spelled them.
 */
#include <stdlib.h>

#include "base/json_string.h"
#include "core/diff.h"

void inf_diff_free(struct inf_diff *diff)
{
    if (!diff)
        return;
    arena_free(&diff->memory);
    free(diff->changes);
    free(diff);
}

size_t inf_diff_count(const struct inf_diff *diff)
{
    return diff->count;
}

const struct inf_change *inf_diff_get(const struct inf_diff *diff, size_t i)
{
    return &diff->changes[i];
}

bool inf_diff_truncated(const struct inf_diff *diff)
{
    return diff->truncated;
}

const char *inf_diff_op_name(enum inf_diff_op op)
{
    switch (op) {
    case INF_DIFF_ADD: return "add";
    case INF_DIFF_REMOVE: return "remove";
    case INF_DIFF_REPLACE: return "replace";
    case INF_DIFF_REORDER: return "reorder";
    }
    return "?";
}

static void put_value(struct buf *out, const char *name, const struct inf_diff_value *value)
{
    if (value->json) {
        buf_printf(out, ",\"%s\":", name);
        buf_put(out, value->json, value->len);
    } else if (value->len) {
        buf_printf(out, ",\"%s_size\":%zu", name, value->len);
    }
}

static void put_change(struct buf *out, const struct inf_change *change)
{
    buf_printf(out, "{\"op\":\"%s\",\"path\":", inf_diff_op_name(change->op));
    json_put_string(out, str_of(change->path));
    if (change->at != INF_DIFF_END)
        buf_printf(out, ",\"at\":%zu", change->at);
    put_value(out, "old", &change->old_value);
    put_value(out, "new", &change->new_value);
    buf_putc(out, '}');
}

void diff_put_json(struct buf *out, const struct inf_diff *diff)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        if (i)
            buf_putc(out, ',');
        put_change(out, inf_diff_get(diff, i));
    }
    buf_putc(out, ']');
}

void diff_put_paths(struct buf *out, const struct inf_diff *diff)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        if (i)
            buf_putc(out, ',');
        json_put_string(out, str_of(inf_diff_get(diff, i)->path));
    }
    buf_putc(out, ']');
}
