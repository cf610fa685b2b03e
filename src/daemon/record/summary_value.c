/*
 * summary_value.c - formats the values of a change by their type and size.
 *
 * A string is written decoded and without quotes, a number as it is, a small structure as JSON. Of
 * a large structure only "added", "removed" or "changed" is written. A long value is cut so that the part
 * that differs stays visible. Nothing here fails.
 */
#include "daemon/record/summary_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/display.h"
#include "base/text/utf8.h"
#include "daemon/record/summary.h"

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
           (value->len <= SUMMARY_VALUE_MAX || (value->json[0] != '{' && value->json[0] != '['));
}

static void put_value(struct buf *out, const struct inf_diff_value *value)
{
    struct buf text = {0};
    if (value->json[0] != '"') {
        summary_put_cut(out, (struct str){value->json, value->len}, SUMMARY_VALUE_MAX);
        return;
    }
    put_decoded(&text, (struct str){value->json + 1, value->len - 2});
    if (text.len)
        summary_put_cut(out, (struct str){text.bytes, text.len}, SUMMARY_VALUE_MAX);
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
    if (!end || end == at || end - at > SUMMARY_VALUE_MAX)
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

bool summary_shows_both_values(const struct inf_change *change)
{
    const struct inf_diff_value *old = &change->old_value, *new = &change->new_value;
    return change->op == INF_DIFF_REPLACE && is_small(old) && is_small(new) &&
           !(is_hashed(old) && is_hashed(new));
}

void summary_put_effect(struct buf *out, const struct inf_change *change,
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
        if (!lines && summary_shows_both_values(change))
            put_replacement(out, change, arrow, ellipsis, max);
        else
            buf_puts(out, lines ? " changed, " : " changed");
        if (lines)
            line_diff_put_lines(out, lines);
        break;
    case INF_DIFF_REORDER: buf_puts(out, " reordered"); break;
    }
}
