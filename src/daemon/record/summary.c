/*
 * summary.c - orders the changes by a table of interest, and formats each value by its type and
 * size.
 *
 * A string is written decoded and without quotes, a number as it is, a small structure as JSON. Of
 * a large structure only "added", "removed" or "changed" is written.
 */
#include "daemon/record/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/display.h"
#include "base/text/utf8.h"

enum {
    VALUE_MAX = 48,              /* bytes of one value */
    WHOLE_VALUE = 2 * VALUE_MAX, /* columns: a value with its ellipsis */
    CHANGES_MAX = 12,            /* changes in one summary; more are only counted */
    BOTH_VALUES_MIN = 24,        /* columns: with less room only the new value is shown */
    PATH_MIN = 24, /* columns of a path that is shortened, if a third of the room has them */
};

/* The first match counts, and a lower rank comes first. Other paths have rank 12. */
static const struct {
    const char *begin, *end;
    int rank;
} interest[] = {
    {"metadata.deletionTimestamp", "", 0},
    {"status.phase", "", 1},
    {"status.conditions[type=Ready]", "status", 2},
    {"status.conditions[type=Available]", "status", 2},
    {"status.conditions[", "].status", 3},
    {"spec.replicas", "", 4},
    {"status", "restartCount", 4},
    {"spec", "image", 5},
    {"status", ".state.waiting", 5},
    {"status", ".state.terminated", 6},
    {"status", ".state.running", 8},
    {"status", ".reason", 6},
    {"status", "ready", 7},
    {"status", "Replicas", 7},
    {"status.conditions[", "Time", 30},
    {"status", "Time", 29},
    {"status", "At", 29},
    {"status.observedGeneration", "", 31},
    {"metadata.generation", "", 32},
    {"spec", "", 10},
    {"data", "", 11},
    {"status", ".message", 21},
    {"status", "", 20},
    {"metadata.labels", "", 15},
    {"metadata.annotations", "", 25},
    {"metadata", "", 24},
};

static int rank_of(const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < ARRAY_LEN(interest); i++) {
        size_t end_len = strlen(interest[i].end);
        if (strncmp(path, interest[i].begin, strlen(interest[i].begin)) == 0 && len >= end_len &&
            strcmp(path + len - end_len, interest[i].end) == 0)
            return interest[i].rank;
    }
    return 12;
}

/* ---- values ---- */

static void put_code_unit(struct buf *out, const char *digits)
{
    char hex[5] = {0};
    unsigned long c;
    memcpy(hex, digits, 4);
    c = strtoul(hex, NULL, 16);
    if (c >= 0x20 && c < 0x7f)
        buf_putc(out, (char)c);
    else
        buf_printf(out, "\\u%s", hex);
}

/* A JSON string without its quotes. Escapes are decoded where that makes it easier to read. */
static void put_decoded(struct buf *out, struct str json)
{
    for (size_t i = 0; i < json.len; i++) {
        if (json.at[i] != '\\' || i + 1 == json.len) {
            buf_putc(out, json.at[i]);
            continue;
        }
        switch (json.at[++i]) {
        case 'n':
        case 'r':
        case 't': buf_putc(out, ' '); break;
        case 'u':
            if (i + 4 < json.len)
                put_code_unit(out, json.at + i + 1);
            i += 4;
            break;
        case 'b':
        case 'f': break;
        default: buf_putc(out, json.at[i]);
        }
    }
}

void summary_put_cut(struct buf *out, struct str text, size_t max)
{
    struct str cut = utf8_cut(text, max);
    buf_put(out, cut.at, cut.len);
    if (cut.len < text.len)
        buf_puts(out, "\xe2\x80\xa6");
}

static bool is_small(const struct inf_diff_value *value)
{
    return value->json &&
           (value->len <= VALUE_MAX || (value->json[0] != '{' && value->json[0] != '['));
}

static void put_value(struct buf *out, const struct inf_diff_value *value)
{
    struct buf text = {0};
    if (value->json[0] != '"') {
        summary_put_cut(out, (struct str){value->json, value->len}, VALUE_MAX);
        return;
    }
    put_decoded(&text, (struct str){value->json + 1, value->len - 2});
    if (text.len)
        summary_put_cut(out, (struct str){text.bytes, text.len}, VALUE_MAX);
    else
        buf_puts(out, "\"\"");
    buf_free(&text);
}

/* Adds at most @columns of @text, of which the part from byte @at on is the most important. */
static void put_near(struct buf *out, struct str text, size_t at, size_t columns,
                     const char *ellipsis)
{
    size_t dots = display_width(str_of(ellipsis));
    struct str head, tail;
    if (display_width(text) <= columns || columns <= 2 * dots) {
        buf_put(out, text.at, text.len);
        return;
    }
    tail = display_tail(text, columns - dots);
    if (tail.at <= text.at + at) {
        buf_puts(out, ellipsis);
        buf_put(out, tail.at, tail.len);
        return;
    }
    head = utf8_cut(text, at);
    if (display_width(head) > columns / 3 + dots) {
        tail = display_tail(head, columns / 3);
        text = (struct str){tail.at, text.len - (size_t)(tail.at - text.at)};
        buf_puts(out, ellipsis);
        columns -= dots;
    }
    head = display_head(text, columns - dots);
    buf_put(out, head.at, head.len);
    buf_puts(out, ellipsis);
}

/* ---- changes ---- */

/* A value that is kept only as a hash: all that can be shown is that it changed. */
static bool is_hashed(const struct inf_diff_value *value)
{
    static const char mark[] = "\"hmac:";
    return value->json && value->len > sizeof(mark) &&
           memcmp(value->json, mark, sizeof(mark) - 1) == 0;
}

/* A value that is too large may have a `reason`, as states and conditions do: "(Error)". */
static void put_reason(struct buf *out, const struct inf_diff_value *value)
{
    static const char key[] = "\"reason\":\"";
    const char *at, *end;
    at = value->json ? memmem(value->json, value->len, key, sizeof(key) - 1) : NULL;
    if (!at)
        return;
    at += sizeof(key) - 1;
    end = memchr(at, '"', value->len - (size_t)(at - value->json));
    if (!end || end == at || end - at > VALUE_MAX)
        return;
    buf_printf(out, " (%.*s)", (int)(end - at), at);
}

/* Both values, together with at most twice @max columns. Of a longer one the part is shown where they
 * differ. */
static void put_replacement(struct buf *out, const struct inf_change *change, const char *arrow,
                            const char *ellipsis, size_t max)
{
    struct buf texts[2] = {{0}, {0}};
    size_t same = 0, widths[2];
    put_value(&texts[0], &change->old_value);
    put_value(&texts[1], &change->new_value);
    while (same < texts[0].len && same < texts[1].len &&
           texts[0].bytes[same] == texts[1].bytes[same])
        same++;
    for (size_t i = 0; i < 2; i++)
        widths[i] = display_width((struct str){texts[i].bytes, texts[i].len});
    buf_putc(out, ' ');
    for (size_t i = 0; i < 2; i++) {
        size_t other = widths[1 - i] < max ? widths[1 - i] : max;
        if (i)
            buf_puts(out, arrow);
        put_near(out, (struct str){texts[i].bytes, texts[i].len}, same, 2 * max - other, ellipsis);
        buf_free(&texts[i]);
    }
}

static bool shows_both_values(const struct inf_change *change)
{
    const struct inf_diff_value *old = &change->old_value, *new = &change->new_value;
    return change->op == INF_DIFF_REPLACE && is_small(old) && is_small(new) &&
           !(is_hashed(old) && is_hashed(new));
}

/* What happened to the value: " Pending -> Running", " removed". */
static void put_effect(struct buf *out, const struct inf_change *change,
                       const struct line_diff *lines, const char *arrow, const char *ellipsis,
                       size_t max)
{
    const struct inf_diff_value *new = &change->new_value;
    switch (change->op) {
    case INF_DIFF_ADD:
        if (is_small(new)) {
            struct buf text = {0};
            buf_puts(out, arrow);
            put_value(&text, new);
            put_near(out, (struct str){text.bytes, text.len}, 0, max, ellipsis);
            buf_free(&text);
        } else {
            buf_puts(out, " added");
            put_reason(out, new);
        }
        break;
    case INF_DIFF_REMOVE: buf_puts(out, " removed"); break;
    case INF_DIFF_REPLACE:
        if (!lines && shows_both_values(change))
            put_replacement(out, change, arrow, ellipsis, max);
        else
            buf_puts(out, lines ? " changed, " : " changed");
        if (lines)
            line_diff_put_lines(out, lines);
        break;
    case INF_DIFF_REORDER: buf_puts(out, " reordered"); break;
    }
}

static void put_change(struct buf *out, const struct inf_change *change,
                       const struct line_diff *lines, bool values)
{
    buf_puts(out, change->path);
    if (values || change->op == INF_DIFF_REMOVE || change->op == INF_DIFF_REORDER)
        put_effect(out, change, lines, " -> ", DISPLAY_ELLIPSIS, WHOLE_VALUE);
}

/* The change that follows *@last (rank and index) in the order of interest. */
static size_t next_change(const int *ranks, size_t count, int *last_rank, size_t *last)
{
    size_t best = count;
    int best_rank = 0;
    for (size_t i = 0; i < count; i++) {
        bool done = ranks[i] < *last_rank || (ranks[i] == *last_rank && i <= *last);
        if (!done && (best == count || ranks[i] < best_rank)) {
            best = i;
            best_rank = ranks[i];
        }
    }
    *last_rank = best_rank;
    *last = best;
    return best;
}

/* The order of the changes: a zeroed `next` is the first one. */
struct order {
    int *ranks;
    size_t count, last;
    int rank;
};

static void order_init(struct order *order, const struct inf_diff *diff)
{
    size_t count = inf_diff_count(diff);
    *order = (struct order){.ranks = xcalloc(count, sizeof(int)), .count = count, .rank = -1};
    for (size_t i = 0; i < count; i++)
        order->ranks[i] = rank_of(inf_diff_get(diff, i)->path);
}

static const struct inf_change *order_next(struct order *order, const struct inf_diff *diff)
{
    return inf_diff_get(diff, next_change(order->ranks, order->count, &order->rank, &order->last));
}

void summary_put_changes(struct buf *out, const struct inf_diff *diff,
                         const struct line_diffs *lines, bool values, size_t max)
{
    size_t shown = 0, start = out->len;
    struct buf one = {0};
    struct order order;
    const struct inf_change *change;
    order_init(&order, diff);
    while (shown < order.count && shown < CHANGES_MAX) {
        buf_clear(&one);
        change = order_next(&order, diff);
        put_change(&one, change, line_diffs_get(lines, order.last), values);
        if (shown && out->len - start + one.len + 2 > max)
            break;
        if (shown++)
            buf_puts(out, ", ");
        buf_put(out, one.bytes, one.len);
    }
    if (shown < order.count)
        buf_printf(out, ", %zu more", order.count - shown);
    free(order.ranks);
    buf_free(&one);
}

/* ---- fitted to columns ---- */

/* The path with [web] instead of [name=web]. */
static void put_compact_path(struct buf *out, struct str path)
{
    for (size_t i = 0; i < path.len; i++) {
        size_t equals = i + 1;
        buf_putc(out, path.at[i]);
        while (path.at[i] == '[' && equals < path.len && !strchr("=\"]", path.at[equals]))
            equals++;
        if (path.at[i] == '[' && equals < path.len && path.at[equals] == '=')
            i = equals;
    }
}

/* The end of the path in at most @columns, from the start of a step if possible. */
static void put_path_end(struct buf *out, struct str path, size_t columns, const char *ellipsis)
{
    size_t dots = display_width(str_of(ellipsis)), i = 0;
    struct str tail = display_tail(path, columns > dots ? columns - dots : 0);
    while (i < tail.len && tail.at[i] != '.' && tail.at[i] != '[')
        i++;
    if (i < tail.len && tail.at > path.at && tail.at[-1] != '.')
        tail = (struct str){tail.at + i, tail.len - i};
    if (tail.len > 1 && tail.at[0] == '.')
        tail = (struct str){tail.at + 1, tail.len - 1};
    buf_puts(out, ellipsis);
    buf_put(out, tail.at, tail.len);
}

/* Replaces @text by its visible form. */
static void make_visible(struct buf *text, const struct summary_fit *fit)
{
    struct buf visible = {0};
    fit->put(&visible, (struct str){text->bytes, text->len});
    buf_free(text);
    *text = visible;
}

static size_t width_of(const struct buf *text)
{
    return display_width((struct str){text->bytes, text->len});
}

/* Adds one change in at most @room columns: first with its whole path, then with a compact one, then,
 * if it @must fit, with the end of the path and shorter values. Returns false if it does not fit. */
static bool put_fitted_change(struct buf *out, const struct inf_change *change,
                              const struct line_diff *lines, const struct summary_fit *fit,
                              size_t room, bool must)
{
    struct inf_change new_only = *change; /* for very narrow terminals */
    struct buf path = {0}, effect = {0};
    bool fits;
    buf_puts(&path, change->path);
    make_visible(&path, fit);
    put_effect(&effect, change, lines, fit->arrow, fit->ellipsis, WHOLE_VALUE);
    make_visible(&effect, fit);
    if (width_of(&path) + width_of(&effect) > room) {
        struct buf compact = {0};
        put_compact_path(&compact, (struct str){path.bytes, path.len});
        buf_free(&path);
        path = compact;
    }
    fits = width_of(&path) + width_of(&effect) <= room;
    if (!fits && must) {
        struct buf end = {0};
        size_t path_min = room / 3 < PATH_MIN ? room / 3 : PATH_MIN, path_room;
        path_min = width_of(&path) < path_min ? width_of(&path) : path_min;
        if (room < BOTH_VALUES_MIN && !lines && shows_both_values(change)) {
            new_only.op = INF_DIFF_ADD;
            change = &new_only;
            buf_clear(&effect);
            put_effect(&effect, change, lines, fit->arrow, fit->ellipsis, WHOLE_VALUE);
            make_visible(&effect, fit);
        }
        if (width_of(&effect) + path_min > room) {
            size_t arrow = display_width(str_of(fit->arrow)) + 1;
            size_t sides = change->op == INF_DIFF_REPLACE ? 2 : 1;
            buf_clear(&effect);
            put_effect(&effect, change, lines, fit->arrow, fit->ellipsis,
                       room > path_min + arrow ? (room - path_min - arrow) / sides : 1);
            make_visible(&effect, fit);
        }
        path_room = width_of(&effect) < room ? room - width_of(&effect) : 0;
        path_room = path_room < path_min ? path_min : path_room;
        if (width_of(&path) > path_room) {
            put_path_end(&end, (struct str){path.bytes, path.len}, path_room, fit->ellipsis);
            buf_free(&path);
            path = end;
        }
    }
    if (fits || must) {
        buf_put(out, path.bytes, path.len);
        buf_put(out, effect.bytes, effect.len);
    }
    buf_free(&path);
    buf_free(&effect);
    return fits || must;
}

/* Columns of ", 12 more". */
static size_t more_width(size_t count)
{
    return strlen(", 1 more") + (count > 9) + (count > 99);
}

void summary_put_fitted(struct buf *out, const struct inf_diff *diff, const struct summary_fit *fit)
{
    size_t shown = 0, columns = fit->columns ? fit->columns : fit->max, used = 0;
    struct order order;
    const struct inf_change *change;
    order_init(&order, diff);
    while (shown < order.count && shown < CHANGES_MAX) {
        size_t start = out->len, rest = order.count - shown - 1;
        size_t reserved = (shown ? 2u : 0u) + (rest ? more_width(rest) : 0u);
        size_t room = columns > used + reserved ? columns - used - reserved : 0;
        if (!shown && fit->columns && room < 2 * more_width(rest))
            room = columns; /* a value rather than the number of other changes */
        if (shown)
            buf_puts(out, ", ");
        change = order_next(&order, diff);
        if (!put_fitted_change(out, change, line_diffs_get(fit->lines, order.last), fit, room,
                               !shown)) {
            out->len = start;
            break;
        }
        used += display_width((struct str){out->bytes + start, out->len - start});
        shown++;
    }
    if (shown < order.count && (!fit->columns || used + more_width(order.count - shown) <= columns))
        buf_printf(out, ", %zu more", order.count - shown);
    free(order.ranks);
}
