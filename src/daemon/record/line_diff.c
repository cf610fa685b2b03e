/*
 * line_diff.c - compares two texts line by line, on their JSON spelling. See line_diff.h.
 *
 * Normal path: line_diff_make() finds the lines of both texts that differ at all, then the shortest edit
 * between them is found and each run of edits becomes a hunk. A line includes its line break, the two
 * bytes \n. Nothing here fails: beyond a limit there are fewer and larger hunks.
 */
#include "daemon/record/line_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/json_string.h"

enum {
    BLOCK = 256, /* bytes that are compared at once */
};

/* ---- lines ---- */

/* The position after the next line break; NULL: there is none. */
static const char *after_break(const char *at, const char *end)
{
    while ((at = memchr(at, '\\', (size_t)(end - at))) && end - at >= 2) {
        at += 2;
        if (at[-1] == 'n')
            return at;
    }
    return NULL;
}

/* The end of the line at @at: after its line break, or @end. */
static const char *line_end(const char *at, const char *end)
{
    const char *next = after_break(at, end);
    return next ? next : end;
}

static size_t count_lines(struct str text)
{
    const char *at = text.at, *end = at + text.len;
    size_t lines = 0;
    for (; at < end; lines++)
        at = line_end(at, end);
    return lines;
}

static bool has_breaks(struct str text)
{
    const char *at = text.at;
    for (size_t breaks = 0; at && breaks < LINE_DIFF_BREAKS; breaks++)
        at = after_break(at, text.at + text.len);
    return at != NULL;
}

/* Bytes of the lines that both texts start with. */
static size_t common_start(struct str a, struct str b)
{
    size_t len = a.len < b.len ? a.len : b.len, same = 0;
    const char *at = a.at, *next;
    while (len - same >= BLOCK && memcmp(a.at + same, b.at + same, BLOCK) == 0)
        same += BLOCK;
    while (same < len && a.at[same] == b.at[same])
        same++;
    while ((next = after_break(at, a.at + same)))
        at = next;
    return (size_t)(at - a.at);
}

/* Bytes of the lines that both texts end with. The lines are found from the start, because a backslash
 * may belong to an escape that begins before the common bytes. */
static size_t common_end(struct str a, struct str b)
{
    size_t len = a.len < b.len ? a.len : b.len, same = 0;
    const char *in_a = a.at, *in_b = b.at, *a_end = a.at + a.len, *b_end = b.at + b.len;
    while (len - same >= BLOCK && memcmp(a_end - same - BLOCK, b_end - same - BLOCK, BLOCK) == 0)
        same += BLOCK;
    while (same < len && a_end[-1 - (ptrdiff_t)same] == b_end[-1 - (ptrdiff_t)same])
        same++;
    while (in_a < a_end && in_b < b_end) {
        size_t a_rest = (size_t)(a_end - in_a), b_rest = (size_t)(b_end - in_b);
        if (a_rest == b_rest && a_rest <= same)
            return a_rest;
        if (a_rest >= b_rest)
            in_a = line_end(in_a, a_end);
        if (b_rest >= a_rest)
            in_b = line_end(in_b, b_end);
    }
    return 0;
}

/* ---- the shortest edit ---- */

struct lines {
    struct str *at;
    size_t count;
};

static struct lines split(struct str text, size_t count)
{
    struct lines lines = {xcalloc(count ? count : 1, sizeof(*lines.at)), count};
    const char *at = text.at, *end = at + text.len;
    for (size_t i = 0; i < count; i++) {
        const char *next = line_end(at, end);
        lines.at[i] = (struct str){at, (size_t)(next - at)};
        at = next;
    }
    return lines;
}

/* Rows of the furthest positions for each number of edits (Myers, "An O(ND) Difference Algorithm", 1986):
 * row d has an entry for each diagonal -d..d, the line of the new text reached on it. */
struct search {
    struct lines old_lines, new_lines;
    int32_t *rows[LINE_DIFF_EDITS_MAX + 1];
};

static int32_t follow_equal_lines(const struct search *s, int32_t diagonal, int32_t at_old)
{
    while (at_old < (int32_t)s->old_lines.count &&
           at_old - diagonal < (int32_t)s->new_lines.count &&
           str_eq(s->old_lines.at[at_old], s->new_lines.at[at_old - diagonal]))
        at_old++;
    return at_old;
}

/* Whether diagonal @k is reached from k + 1, by adding a line; else from k - 1, by removing one. */
static bool comes_from_added(const int32_t *before, int32_t d, int32_t k)
{
    return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

/* Fills rows until both ends are reached. Returns the number of edits; -1: more than the limit. */
static int32_t search_edits(struct search *s)
{
    int32_t goal = (int32_t)s->old_lines.count - (int32_t)s->new_lines.count;
    for (int32_t d = 0; d <= LINE_DIFF_EDITS_MAX; d++) {
        int32_t *row = s->rows[d] = xmalloc((size_t)(2 * d + 1) * sizeof(*row));
        for (int32_t k = -d; k <= d; k += 2) {
            const int32_t *before = d ? s->rows[d - 1] : NULL;
            int32_t at = !d                               ? 0
                         : comes_from_added(before, d, k) ? before[k + 1 + d - 1]
                                                          : before[k - 1 + d - 1] + 1;
            row[k + d] = follow_equal_lines(s, k, at);
            if (k == goal && row[k + d] >= (int32_t)s->old_lines.count)
                return d;
        }
    }
    return -1;
}

/* Marks the removed lines of the old text and the added lines of the new one, from the end. */
static void mark_edits(const struct search *s, int32_t d, bool *removed, bool *added)
{
    int32_t k = (int32_t)s->old_lines.count - (int32_t)s->new_lines.count;
    for (; d > 0; d--) {
        const int32_t *before = s->rows[d - 1];
        if (comes_from_added(before, d, k)) {
            k++;
            added[before[k + d - 1] - k] = true;
        } else {
            k--;
            removed[before[k + d - 1]] = true;
        }
    }
}

/* ---- hunks ---- */

static void add_hunk(struct line_diff *diff, const struct line_hunk *hunk)
{
    if (diff->count < LINE_DIFF_HUNKS_MAX)
        diff->hunks[diff->count++] = *hunk;
    else
        diff->more++;
}

static struct str text_of_lines(const struct lines *lines, size_t from, size_t count)
{
    const struct str *first, *last;
    if (!count)
        return (struct str){"", 0};
    first = &lines->at[from];
    last = &lines->at[from + count - 1];
    return (struct str){first->at, (size_t)(last->at + last->len - first->at)};
}

/* Makes a hunk of each run of edits. @skipped: lines before both. */
static void add_runs(struct line_diff *diff, const struct search *s, const bool *removed,
                     const bool *added, size_t skipped)
{
    size_t i = 0, k = 0;
    while (i < s->old_lines.count || k < s->new_lines.count) {
        size_t from = i, to = k;
        struct line_hunk hunk;
        while (i < s->old_lines.count && removed[i])
            i++;
        while (k < s->new_lines.count && added[k])
            k++;
        if (i == from && k == to) {
            i++;
            k++;
            continue;
        }
        hunk = (struct line_hunk){
            .old_line = skipped + from + (i > from),
            .old_count = i - from,
            .new_line = skipped + to + (k > to),
            .new_count = k - to,
            .old_text = text_of_lines(&s->old_lines, from, i - from),
            .new_text = text_of_lines(&s->new_lines, to, k - to),
        };
        add_hunk(diff, &hunk);
    }
}

/* The texts as one hunk. */
static void add_whole(struct line_diff *diff, struct str old_text, struct str new_text,
                      size_t old_count, size_t new_count, size_t skipped)
{
    add_hunk(diff, &(struct line_hunk){
                       .old_line = skipped + (old_count > 0),
                       .old_count = old_count,
                       .new_line = skipped + (new_count > 0),
                       .new_count = new_count,
                       .old_text = old_text,
                       .new_text = new_text,
                   });
}

static void compare(struct line_diff *diff, struct str old_text, struct str new_text,
                    size_t skipped)
{
    size_t old_count = count_lines(old_text), new_count = count_lines(new_text);
    struct search s = {.old_lines = {0}};
    int32_t edits = -1;
    if (old_count && new_count && old_count <= LINE_DIFF_LINES_MAX &&
        new_count <= LINE_DIFF_LINES_MAX) {
        s.old_lines = split(old_text, old_count);
        s.new_lines = split(new_text, new_count);
        edits = search_edits(&s);
    }
    if (edits >= 0) {
        bool *removed = xcalloc(old_count, sizeof(*removed));
        bool *added = xcalloc(new_count, sizeof(*added));
        mark_edits(&s, edits, removed, added);
        add_runs(diff, &s, removed, added, skipped);
        free(removed);
        free(added);
    } else {
        add_whole(diff, old_text, new_text, old_count, new_count, skipped);
    }
    for (size_t i = 0; i <= LINE_DIFF_EDITS_MAX; i++)
        free(s.rows[i]);
    free(s.old_lines.at);
    free(s.new_lines.at);
}

static bool is_text(struct str json)
{
    static const char hashed[] = "\"hmac:";
    return json.len >= 2 && json.at[0] == '"' &&
           (json.len < sizeof(hashed) || memcmp(json.at, hashed, sizeof(hashed) - 1) != 0);
}

bool line_diff_make(struct str old_json, struct str new_json, struct line_diff *ret)
{
    struct str before, after;
    size_t start, end;
    if (!is_text(old_json) || !is_text(new_json) ||
        (old_json.len < LINE_DIFF_BYTES && new_json.len < LINE_DIFF_BYTES))
        return false;
    before = (struct str){old_json.at + 1, old_json.len - 2};
    after = (struct str){new_json.at + 1, new_json.len - 2};
    if (!has_breaks(before) && !has_breaks(after))
        return false;
    *ret = (struct line_diff){.old_size = old_json.len, .new_size = new_json.len};
    start = common_start(before, after);
    before = (struct str){before.at + start, before.len - start};
    after = (struct str){after.at + start, after.len - start};
    end = common_end(before, after);
    before.len -= end;
    after.len -= end;
    compare(ret, before, after, count_lines((struct str){old_json.at + 1, start}));
    return true;
}

/* ---- writing ---- */

static void put_range(struct buf *out, char sign, size_t line, size_t count)
{
    buf_printf(out, "%c%zu", sign, line);
    if (count != 1)
        buf_printf(out, ",%zu", count);
}

/* Each line of @text after @sign, in the JSON spelling of the server. */
static void put_lines(struct buf *out, char sign, struct str text)
{
    const char *at = text.at, *end = at + text.len;
    while (at < end) {
        const char *next = line_end(at, end);
        bool broken = next - at >= 2 && memcmp(next - 2, "\\n", 2) == 0;
        buf_puts(out, "\\n");
        buf_putc(out, sign);
        buf_put(out, at, (size_t)(next - at) - (broken ? 2 : 0));
        if (!broken)
            buf_puts(out, "\\n\\\\ No newline at end of file");
        at = next;
    }
}

static void put_hunk(struct buf *out, const struct line_hunk *hunk, bool lines)
{
    struct buf json = {0};
    buf_puts(&json, "\"@@ ");
    put_range(&json, '-', hunk->old_line, hunk->old_count);
    buf_putc(&json, ' ');
    put_range(&json, '+', hunk->new_line, hunk->new_count);
    buf_puts(&json, " @@");
    if (lines) {
        put_lines(&json, '-', hunk->old_text);
        put_lines(&json, '+', hunk->new_text);
    }
    buf_putc(&json, '"');
    json_put_json(out, (struct str){json.bytes, json.len});
    buf_free(&json);
}

size_t line_diff_put_hunks(struct buf *out, const struct line_diff *diff, size_t max)
{
    size_t omitted = diff->more, used = 0;
    if (max > LINE_DIFF_TEXT_MAX)
        max = LINE_DIFF_TEXT_MAX;
    buf_putc(out, '[');
    for (size_t i = 0; i < diff->count; i++) {
        const struct line_hunk *hunk = &diff->hunks[i];
        size_t len = hunk->old_text.len + hunk->new_text.len + hunk->old_count + hunk->new_count;
        bool fits = used + len <= max;
        if (i)
            buf_putc(out, ',');
        put_hunk(out, hunk, fits);
        used += fits ? len : 0;
        omitted += !fits;
    }
    buf_putc(out, ']');
    return omitted;
}

void line_diff_put_lines(struct buf *out, const struct line_diff *diff)
{
    enum {
        SHOWN = 3
    };
    bool one = diff->count == 1 && diff->hunks[0].new_count == 1;
    buf_puts(out, one ? "line " : "lines ");
    for (size_t i = 0; i < diff->count && i < SHOWN; i++) {
        const struct line_hunk *hunk = &diff->hunks[i];
        buf_puts(out, i ? ", " : "");
        buf_printf(out, hunk->new_count ? "%zu" : "after %zu", hunk->new_line);
        if (hunk->new_count > 1)
            buf_printf(out, "-%zu", hunk->new_line + hunk->new_count - 1);
    }
    if (diff->count > SHOWN)
        buf_printf(out, " and %zu more", diff->count - SHOWN + diff->more);
}
