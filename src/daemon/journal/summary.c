/*
 * summary.c - orders the changes by a table of interest, and formats each value by its type and
 * size.
 *
 * A string is written decoded and without quotes, a number as it is, a small structure as JSON. Of
 * a large structure only "added", "removed" or "changed" is written.
 */
#include "daemon/journal/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/utf8.h"

enum {
    VALUE_MAX = 48,   /* bytes of one value */
    CHANGES_MAX = 12, /* changes in one summary; more are only counted */
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

static void put_change(struct buf *out, const struct inf_change *change, bool values)
{
    const struct inf_diff_value *old = &change->old_value, *new = &change->new_value;
    buf_puts(out, change->path);
    switch (change->op) {
    case INF_DIFF_ADD:
        if (values && is_small(new)) {
            buf_puts(out, " -> ");
            put_value(out, new);
        } else if (values) {
            buf_puts(out, " added");
            put_reason(out, new);
        }
        break;
    case INF_DIFF_REMOVE: buf_puts(out, " removed"); break;
    case INF_DIFF_REPLACE:
        if (values && is_small(old) && is_small(new) && !(is_hashed(old) && is_hashed(new))) {
            buf_putc(out, ' ');
            put_value(out, old);
            buf_puts(out, " -> ");
            put_value(out, new);
        } else if (values) {
            buf_puts(out, " changed");
        }
        break;
    case INF_DIFF_REORDER: buf_puts(out, " reordered"); break;
    }
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

void summary_put_changes(struct buf *out, const struct inf_diff *diff, bool values, size_t max)
{
    size_t count = inf_diff_count(diff), shown = 0, last = 0, start = out->len;
    struct buf one = {0};
    int *ranks = xcalloc(count, sizeof(*ranks)), rank = -1;
    for (size_t i = 0; i < count; i++)
        ranks[i] = rank_of(inf_diff_get(diff, i)->path);
    while (shown < count && shown < CHANGES_MAX) {
        buf_clear(&one);
        put_change(&one, inf_diff_get(diff, next_change(ranks, count, &rank, &last)), values);
        if (shown && out->len - start + one.len + 2 > max)
            break;
        if (shown++)
            buf_puts(out, ", ");
        buf_put(out, one.bytes, one.len);
    }
    if (shown < count)
        buf_printf(out, ", %zu more", count - shown);
    free(ranks);
    buf_free(&one);
}
