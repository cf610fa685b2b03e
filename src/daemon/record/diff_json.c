/*
 * diff_json.c - writes the changes of a diff as JSON arrays.
 */
#include "daemon/record/diff_json.h"

#include "base/text/json_string.h"

static void put_value(struct buf *out, const char *name, const struct inf_diff_value *value,
                      size_t max)
{
    if (value->json && value->len <= max) {
        buf_putc(out, ',');
        json_put_key(out, name);
        json_put_json(out, (struct str){value->json, value->len});
    } else if (value->len) {
        buf_printf(out, ",\"%s_size\":%zu", name, value->len);
    }
}

static void put_lines(struct buf *out, const struct line_diff *lines, size_t max)
{
    size_t omitted;
    buf_printf(out, ",\"old_size\":%zu,\"new_size\":%zu", lines->old_size, lines->new_size);
    if (!max)
        return;
    buf_puts(out, ",\"hunks\":");
    omitted = line_diff_put_hunks(out, lines, max);
    if (omitted)
        buf_printf(out, ",\"hunks_omitted\":%zu", omitted);
}

static void put_change(struct buf *out, const struct inf_change *change,
                       const struct line_diff *lines, size_t value_max)
{
    buf_putc(out, '{');
    json_put_key(out, "op");
    json_put_string(out, str_of(inf_diff_op_name(change->op)));
    buf_putc(out, ',');
    json_put_key(out, "path");
    json_put_string(out, str_of(change->path));
    if (change->at != INF_DIFF_END)
        buf_printf(out, ",\"at\":%zu", change->at);
    if (lines) {
        put_lines(out, lines, value_max);
    } else {
        put_value(out, "old", &change->old_value, value_max);
        put_value(out, "new", &change->new_value, value_max);
    }
    buf_putc(out, '}');
}

void diff_json_put(struct buf *out, const struct inf_diff *diff, const struct line_diffs *lines,
                   size_t changes, size_t value_max)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < inf_diff_count(diff) && i < changes; i++) {
        if (i)
            buf_putc(out, ',');
        put_change(out, inf_diff_get(diff, i), line_diffs_get(lines, i), value_max);
    }
    buf_putc(out, ']');
}

void diff_json_put_paths(struct buf *out, const struct inf_diff *diff, size_t changes)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < inf_diff_count(diff) && i < changes; i++) {
        if (i)
            buf_putc(out, ',');
        json_put_string(out, str_of(inf_diff_get(diff, i)->path));
    }
    buf_putc(out, ']');
}
