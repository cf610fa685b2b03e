/*
 * ctl_kyaml.c - KYAML, a strict form of YAML: braces and brackets, all strings in double quotes, keys only
 * where they could be read as another type, a comma after each value, strings of several lines folded.
 *
 *     ---
 *     {
 *       kind: "List",
 *       items: [{
 *         ...
 *       }],
 *     }
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/text/utf8.h"
#include "ctl/get/ctl_get.h"

static void put_node(struct buf *out, const struct json_node *node, size_t level);

static void put_indent(struct buf *out, size_t level)
{
    while (level--)
        buf_puts(out, "  ");
}

/* ---- strings ---- */

static void put_escaped(struct buf *out, struct str bytes, uint32_t c)
{
    static const char plain[] = "\a\b\f\r\v\"\\\x1b", names[] = "abfrv\"\\e";
    const char *named = c && c < 0x80 ? strchr(plain, (int)c) : NULL;
    if (named)
        buf_printf(out, "\\%c", names[named - plain]);
    else if (c == 0)
        buf_puts(out, "\\0");
    else if (c == 0x85 || c == 0xa0)
        buf_puts(out, c == 0x85 ? "\\N" : "\\_");
    else if (c == 0x2028 || c == 0x2029)
        buf_puts(out, c == 0x2028 ? "\\L" : "\\P");
    else if (c != '\t' && (c < ' ' || c == 0x7f))
        buf_printf(out, "\\x%02x", c);
    else if (c != '\t' && utf8_is_unsafe(c))
        buf_printf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    else
        buf_put(out, bytes.at, bytes.len);
}

/* The first character of a folded line: white space needs a backslash, everything else gets a blank. */
static void start_line(struct buf *out, size_t level, uint32_t c)
{
    put_indent(out, level);
    buf_putc(out,
             c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == 0x85 || c == 0xa0
                 ? '\\'
                 : ' ');
}

/* @folded: line ends continue in another line; otherwise, as in keys, everything is in one. */
static void put_quoted(struct buf *out, struct str s, size_t level, bool folded)
{
    bool several = folded && memchr(s.at ? s.at : "", '\n', s.len);
    buf_puts(out, several ? "\"\\\n" : "\"");
    while (s.len) {
        uint32_t c = 0;
        size_t size = utf8_next(s, &c);
        if (out->bytes[out->len - 1] == '\n')
            start_line(out, level, size ? c : 0xfffd);
        if (!size)
            buf_printf(out, "\\x%02x", (unsigned char)s.at[0]);
        else if (c == '\n')
            buf_puts(out, folded ? "\\n\\\n" : "\\n");
        else if (c == '\t' && !folded)
            buf_puts(out, "\\t");
        else
            put_escaped(out, (struct str){s.at, size}, c);
        size += !size;
        s = (struct str){s.at + size, s.len - size};
    }
    if (several) {
        if (out->bytes[out->len - 1] != '\n')
            buf_puts(out, "\\\n");
        put_indent(out, level);
    }
    buf_putc(out, '"');
}

static void put_string(struct buf *out, struct str spelled, size_t level)
{
    struct buf text = {0};
    json_put_decoded(&text, spelled);
    put_quoted(out, (struct str){text.bytes, text.len}, level, true);
    buf_free(&text);
}

/* ---- keys ---- */

static bool is_word_of_another_type(const char *key)
{
    static const char *const words[] = {"null", "true", "false", "y", "n",        "yes", "no",
                                        "on",   "off",  "t",     "f", "infinity", "inf", "nan"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(words[i], key) == 0)
            return true;
    return false;
}

/* Underscores separate digits. */
static bool is_number(const char *key)
{
    char digits[64];
    size_t n = 0;
    char *end;
    for (const char *c = key; *c && n + 1 < sizeof(digits); c++)
        if (*c != '_')
            digits[n++] = *c;
    digits[n] = '\0';
    if (!n || strlen(key) >= sizeof(digits) || !isdigit((unsigned char)digits[0]))
        return false;
    if (digits[0] == '0' && n > 2 && strchr("bBoO", digits[1]))
        return strtoull(digits + 2, &end, strchr("bB", digits[1]) ? 2 : 8), !*end;
    strtod(digits, &end);
    return !*end;
}

/* 2026-1-31, alone or with a time. */
static bool is_date(const char *key)
{
    int used = 0, year, month, day;
    return isdigit((unsigned char)key[0]) && strcspn(key, "-") == 4 &&
           sscanf(key, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 && month >= 1 &&
           month <= 12 && day >= 1 && day <= 31 && !key[used];
}

static bool needs_quotes(struct str key)
{
    char copy[256];
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.at[i];
        bool inside = i > 0 && i + 1 < key.len;
        if (!isalnum(c) && c != '_' && c < 0x80 && !(inside && c && strchr("-./", c)))
            return true;
    }
    if (!key.len || key.len >= sizeof(copy))
        return !key.len;
    memcpy(copy, key.at, key.len);
    copy[key.len] = '\0';
    return is_word_of_another_type(copy) || is_number(copy) || is_date(copy);
}

static void put_key(struct buf *out, struct str spelled, size_t level)
{
    struct buf text = {0};
    struct str key;
    json_put_decoded(&text, spelled);
    key = (struct str){text.bytes, text.len};
    if (needs_quotes(key))
        put_quoted(out, key, level, false);
    else
        buf_put(out, key.at, key.len);
    buf_puts(out, ": ");
    buf_free(&text);
}

/* ---- lists and maps ---- */

static void put_map(struct buf *out, const struct json_node *map, size_t level)
{
    buf_puts(out, "{\n");
    for (const struct json_node *m = map->first; m; m = m->next) {
        put_indent(out, level + 1);
        put_key(out, m->key, level + 1);
        put_node(out, m, level + 1);
        buf_puts(out, ",\n");
    }
    put_indent(out, level);
    buf_putc(out, '}');
}

/* Lists of lists and maps have their brackets next to those of the items. */
static void put_list(struct buf *out, const struct json_node *list, size_t level)
{
    bool scalars = false;
    for (const struct json_node *item = list->first; item; item = item->next)
        scalars = scalars || (item->type != JSON_OBJECT && item->type != JSON_ARRAY);
    buf_puts(out, scalars ? "[\n" : "[");
    for (const struct json_node *item = list->first; item; item = item->next) {
        if (scalars)
            put_indent(out, level + 1);
        put_node(out, item, scalars ? level + 1 : level);
        buf_puts(out, scalars ? ",\n" : item->next ? ", " : "");
    }
    if (scalars)
        put_indent(out, level);
    buf_putc(out, ']');
}

static void put_node(struct buf *out, const struct json_node *node, size_t level)
{
    switch (node->type) {
    case JSON_OBJECT:
        if (node->first)
            put_map(out, node, level);
        else
            buf_puts(out, "{}");
        break;
    case JSON_ARRAY:
        if (node->first)
            put_list(out, node, level);
        else
            buf_puts(out, "[]");
        break;
    case JSON_STRING: put_string(out, node->text, level + 1); break;
    case JSON_LITERAL: buf_put(out, node->text.at, node->text.len); break;
    }
}

void kyaml_put_document(struct buf *out, const struct json_node *node)
{
    buf_puts(out, "---\n");
    put_node(out, node, 0);
    buf_putc(out, '\n');
}
