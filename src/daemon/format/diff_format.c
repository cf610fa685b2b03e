/*
 * diff_format.c - a change as several lines, with the old and new values of its fields as YAML:
 *
 *     12:04:31 MODIFIED pod shop/web-0  (kubelet)
 *       - status.phase: Pending
 *       + status.phase: Running
 *       + status.conditions[type=Ready]:
 *       +   status: "True"
 *       +   type: Ready
 *       ~ data.web\.conf:
 *         @@ -3,1 +3,1 @@
 *         -keepalive 60;
 *         +keepalive 75;
 *
 * Of a long string with several lines only the lines that differ are shown: see line_diff.h.
 * An added or deleted object is shown as a whole; one that existed at the start only by its name. On a
 * terminal lines are cut at its width.
 */
#include <string.h>

#include "base/base.h"
#include "daemon/format/json_tree.h"
#include "daemon/format/text_line.h"
#include "daemon/format/yaml_text.h"
#include "daemon/record/line_diff.h"

enum {
    LINES_MAX = 500, /* LIMIT: lines of one value; more are only counted */
};

/* ---- lines ---- */

static void put_line(struct buf *out, const struct record_options *options, const char *colour,
                     const char *sign, struct str text)
{
    struct text_line line;
    struct buf whole = {0};
    buf_puts(&whole, sign);
    buf_put(&whole, text.at, text.len);
    text_line_start(&line, out, options, options->width);
    text_line_put(&line, colour, (struct str){whole.bytes, whole.len});
    text_line_end(&line);
    buf_free(&whole);
}

/* The first line of *@text, which is removed from it with its line end. */
static struct str take_line(struct str *text)
{
    const char *end = memchr(text->at, '\n', text->len);
    struct str line = {text->at, end ? (size_t)(end - text->at) : text->len};
    size_t used = line.len + (end != NULL);
    *text = (struct str){text->at + used, text->len - used};
    return line;
}

static size_t count_lines(struct str text)
{
    size_t n = 0;
    for (; text.len; n++)
        take_line(&text);
    return n;
}

/* All lines of @text with @sign in front. */
static void put_lines(struct buf *out, const struct record_options *options, const char *colour,
                      const char *sign, struct str text)
{
    for (size_t n = 0; text.len && n < LINES_MAX; n++)
        put_line(out, options, colour, sign, take_line(&text));
    if (text.len) {
        struct buf more = {0};
        buf_printf(&more, "(%zu more lines)", count_lines(text));
        put_line(out, options, TEXT_DIM, sign, (struct str){more.bytes, more.len});
        buf_free(&more);
    }
}

static void put_removed(struct buf *out, const struct record_options *options, struct str text)
{
    put_lines(out, options, TEXT_RED, "  - ", text);
}

static void put_added(struct buf *out, const struct record_options *options, struct str text)
{
    put_lines(out, options, TEXT_GREEN, "  + ", text);
}

/* "path: value" as YAML. */
static void put_field(struct buf *out, const struct record_options *options,
                      const struct inf_change *change, const struct inf_diff_value *value,
                      void put(struct buf *out, const struct record_options *options,
                               struct str text))
{
    struct arena arena = {0};
    struct buf text = {0};
    buf_printf(&text, "%s:", change->path);
    yaml_put_value(&text, json_tree_make(&arena, (struct str){value->json, value->len}), 0);
    put(out, options, (struct str){text.bytes, text.len});
    buf_free(&text);
    arena_free(&arena);
}

/* A change without values. */
static void put_remark(struct buf *out, const struct record_options *options, const char *path,
                       const char *remark)
{
    struct buf text = {0};
    buf_printf(&text, "%s%s", path, remark);
    put_line(out, options, TEXT_YELLOW, "  ~ ", (struct str){text.bytes, text.len});
    buf_free(&text);
}

/* ---- strings with several lines ---- */

static void put_hunk_lines(struct buf *out, const struct record_options *options,
                           const char *colour, const char *sign, struct str json)
{
    struct buf text = {0};
    json_put_decoded(&text, json);
    put_lines(out, options, colour, sign, (struct str){text.bytes, text.len});
    buf_free(&text);
}

static void put_hunk(struct buf *out, const struct record_options *options,
                     const struct line_hunk *hunk)
{
    struct buf head = {0};
    buf_printf(&head, "@@ -%zu,%zu +%zu,%zu @@", hunk->old_line, hunk->old_count, hunk->new_line,
               hunk->new_count);
    put_line(out, options, TEXT_CYAN, "    ", (struct str){head.bytes, head.len});
    put_hunk_lines(out, options, TEXT_RED, "    -", hunk->old_text);
    put_hunk_lines(out, options, TEXT_GREEN, "    +", hunk->new_text);
    buf_free(&head);
}

static void put_line_changes(struct buf *out, const struct record_options *options,
                             const char *path, const struct line_diff *lines)
{
    put_remark(out, options, path, ":");
    for (size_t i = 0; i < lines->count; i++)
        put_hunk(out, options, &lines->hunks[i]);
    if (lines->more) {
        struct buf more = {0};
        buf_printf(&more, "(%zu more hunks)", lines->more);
        put_line(out, options, TEXT_DIM, "    ", (struct str){more.bytes, more.len});
        buf_free(&more);
    }
}

/* ---- changes ---- */

static void put_field_change(struct buf *out, const struct record_options *options,
                             const struct inf_change *change, const struct line_diff *lines)
{
    const struct inf_diff_value *old = &change->old_value, *new = &change->new_value;
    if (change->op == INF_DIFF_REORDER) {
        put_remark(out, options, change->path, ": reordered");
        return;
    }
    if (lines) {
        put_line_changes(out, options, change->path, lines);
        return;
    }
    if ((old->len && !old->json) || (new->len && !new->json)) {
        put_remark(out, options, change->path, ": changed, too large to show");
        return;
    }
    if (old->json)
        put_field(out, options, change, old, put_removed);
    if (new->json)
        put_field(out, options, change, new, put_added);
}

/* The whole object, unless it existed at the start. */
static void put_whole(struct buf *out, const struct change *change,
                      const struct record_options *options)
{
    bool deleted = change->event->verb == INF_DELETED;
    struct arena arena = {0};
    struct buf text = {0};
    struct str json;
    if (change->event->origin == INF_INITIAL)
        return;
    json.at = inf_object_json(change->object, &json.len);
    yaml_put_document(&text, json_tree_make(&arena, json), 0);
    if (deleted)
        put_removed(out, options, (struct str){text.bytes, text.len});
    else
        put_added(out, options, (struct str){text.bytes, text.len});
    buf_free(&text);
    arena_free(&arena);
}

static void put_header(struct buf *out, const struct change *change,
                       const struct record_options *options)
{
    struct text_line line;
    struct buf text = {0};
    text_line_start(&line, out, options, options->width);
    text_line_put_change_verb(&line, change);
    text_put_object(&text, change, options->charset);
    text_line_put(&line, TEXT_BOLD, (struct str){text.bytes, text.len});
    buf_clear(&text);
    text_put_manager(&text, change);
    text_line_put_optional(&line, TEXT_DIM, (struct str){text.bytes, text.len});
    text_line_end(&line);
    buf_free(&text);
}

static void diff_put_change(struct buf *out, const struct change *change,
                            const struct record_options *options)
{
    put_header(out, change, options);
    if (!change->diff) {
        put_whole(out, change, options);
        return;
    }
    for (size_t i = 0; i < inf_diff_count(change->diff); i++)
        put_field_change(out, options, inf_diff_get(change->diff, i),
                         line_diffs_get(change->lines, i));
}

static void diff_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                          const struct watch_id *watch, const struct record_options *options)
{
    text_format.put_note(out, note, stamp, watch, options);
}

const struct record_format diff_format = {
    .orders_events = true,
    .put_change = diff_put_change,
    .put_note = diff_put_note,
};
