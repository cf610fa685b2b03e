/*
 * summary.c - a short text of a diff: orders the changes by a table of interest and adds them while
 * there is room.
 *
 * Normal path: the next change in the order of interest is written, as a whole or fitted to the columns of
 * a terminal, until the room is used up; the rest is counted. summary_value.c writes the values. Nothing
 * here fails.
 */
#include "daemon/record/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/display.h"
#include "daemon/record/summary_value.h"

enum {
    CHANGES_MAX = 12,     /* changes in one summary; more are only counted */
    BOTH_VALUES_MIN = 24, /* columns: with less room only the new value is shown */
    PATH_MIN = 24,        /* columns of a path that is shortened, if a third of the room has them */
};

/* The first match counts, and a lower rank comes first. Other paths have rank 12. The lengths are constants: without
 * them the ranks of two changes took 3,300 instructions. */
#define ROW(begin, end, rank)                                \
    {                                                        \
        begin, sizeof(begin) - 1, end, sizeof(end) - 1, rank \
    }
static const struct {
    const char *begin;
    size_t begin_len;
    const char *end;
    size_t end_len;
    int rank;
} interest[] = {
    ROW("metadata.deletionTimestamp", "", 0),
    ROW("status.phase", "", 1),
    ROW("status.conditions[type=Ready]", "status", 2),
    ROW("status.conditions[type=Available]", "status", 2),
    ROW("status.conditions[", "].status", 3),
    ROW("spec.replicas", "", 4),
    ROW("status", "restartCount", 4),
    ROW("spec", "image", 5),
    ROW("status", ".state.waiting", 5),
    ROW("status", ".state.terminated", 6),
    ROW("status", ".state.running", 8),
    ROW("status", ".reason", 6),
    ROW("status", "ready", 7),
    ROW("status", "Replicas", 7),
    ROW("status.conditions[", "Time", 30),
    ROW("status", "Time", 29),
    ROW("status", "At", 29),
    ROW("status.observedGeneration", "", 31),
    ROW("metadata.generation", "", 32),
    ROW("spec", "", 10),
    ROW("data", "", 11),
    ROW("status", ".message", 21),
    ROW("status", "", 20),
    ROW("metadata.labels", "", 15),
    ROW("metadata.annotations", "", 25),
    ROW("metadata", "", 24),
};
#undef ROW

static bool ends_with(struct str path, const char *end, size_t len)
{
    return !len || (path.len >= len && path.at[path.len - 1] == end[len - 1] &&
                    memcmp(path.at + path.len - len, end, len) == 0);
}

static int rank_of(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(interest); i++)
        if (ends_with(path, interest[i].end, interest[i].end_len) &&
            path.len >= interest[i].begin_len &&
            memcmp(path.at, interest[i].begin, interest[i].begin_len) == 0)
            return interest[i].rank;
    return 12;
}

static void put_change(struct buf *out, const struct inf_change *change,
                       const struct line_diff *lines, bool values)
{
    buf_puts(out, change->path);
    if (values || change->op == INF_DIFF_REMOVE || change->op == INF_DIFF_REORDER)
        summary_put_effect(out, change, lines, " -> ", DISPLAY_ELLIPSIS, SUMMARY_VALUE_COLUMNS);
}

/* ---- order ---- */

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
        order->ranks[i] = rank_of(str_of(inf_diff_get(diff, i)->path));
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
    summary_put_effect(&effect, change, lines, fit->arrow, fit->ellipsis, SUMMARY_VALUE_COLUMNS);
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
        if (room < BOTH_VALUES_MIN && !lines && summary_shows_both_values(change)) {
            new_only.op = INF_DIFF_ADD;
            change = &new_only;
            buf_clear(&effect);
            summary_put_effect(&effect, change, lines, fit->arrow, fit->ellipsis,
                               SUMMARY_VALUE_COLUMNS);
            make_visible(&effect, fit);
        }
        if (width_of(&effect) + path_min > room) {
            size_t arrow = display_width(str_of(fit->arrow)) + 1;
            size_t sides = change->op == INF_DIFF_REPLACE ? 2 : 1;
            buf_clear(&effect);
            summary_put_effect(&effect, change, lines, fit->arrow, fit->ellipsis,
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
