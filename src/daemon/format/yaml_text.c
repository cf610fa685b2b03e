/*
 * yaml_text.c - chooses how each string is written, as the YAML library of kubectl does.
 *
 *     several lines, without odd blanks       a literal block: | (|- without a final line end)
 *     control or invisible characters         double quotes with escapes
 *     a string that would read as a number,
 *     boolean, null or time                   double quotes
 *     a string with YAML syntax               single quotes
 *     everything else                         as it is
 *
 * Text of more than 80 columns is folded at a blank. Every string reads as the same string again.
 */
#include "daemon/format/yaml_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/text/json_string.h"
#include "base/text/utf8.h"

enum {
    LINE_COLUMNS = 80, /* a line with more is folded at the next blank */
};

static void put_blanks(struct buf *out, size_t n)
{
    while (n--)
        buf_putc(out, ' ');
}

/* ---- strings that would read as another type ---- */

static size_t count_digits(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && (isdigit((unsigned char)*at) || *at == '_'))
        at++;
    return (size_t)(at - from);
}

/* Decimal numbers with or without fraction and exponent; 0x1f, 0o17, 0b1; 1:30:00. */
static bool is_number(struct str s)
{
    const char *at = s.at, *end = s.at + s.len;
    size_t digits;
    at += at < end && (*at == '+' || *at == '-');
    if (end - at > 2 && at[0] == '0' && strchr("xob", at[1])) {
        for (at += 2; at < end && (isxdigit((unsigned char)*at) || *at == '_');)
            at++;
        return at == end;
    }
    digits = count_digits(at, end);
    at += digits;
    while (digits && at < end && *at == ':' && count_digits(at + 1, end))
        at += 1 + count_digits(at + 1, end);
    if (at < end && *at == '.') {
        digits += count_digits(at + 1, end);
        at += 1 + count_digits(at + 1, end);
    }
    if (digits && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = count_digits(at, end);
        at += digits;
    }
    return digits && at == end;
}

/* 2026-01-31, alone or with a time. */
static bool is_time(struct str s)
{
    static const char form[] = "dddd-dd-dd";
    if (s.len < sizeof(form) - 1 || (s.len > sizeof(form) - 1 && !strchr("Tt ", s.at[10])))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)s.at[i]) : s.at[i] != form[i])
            return false;
    return true;
}

static bool reads_as_other_type(struct str s)
{
    static const char *const words[] = {"~", "null", "true", "false", "yes",   "no",   "on", "off",
                                        "y", "n",    ".inf", "-.inf", "+.inf", ".nan", "<<", "="};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == s.len && strncasecmp(words[i], s.at, s.len) == 0)
            return true;
    return is_number(s) || is_time(s);
}

/* ---- scalars ---- */

enum style {
    PLAIN,
    SINGLE_QUOTED,
    DOUBLE_QUOTED,
    LITERAL,
};

/* Whether @s has characters that only double quotes can express; line ends do not count. */
static bool has_special(struct str s)
{
    while (s.len) {
        uint32_t c = 0;
        size_t len = utf8_next(s, &c);
        if (!len || (c != '\n' && utf8_is_unsafe(c)) || (c >= 0xfff0 && c <= 0xffff))
            return true;
        s = (struct str){s.at + len, s.len - len};
    }
    return false;
}

/* Whether YAML syntax in @s prevents the plain style. @s is not empty. */
static bool has_syntax(struct str s)
{
    bool blank_next = s.len == 1 || s.at[1] == ' ';
    if (strchr(",[]{}#&*!|>'\"%@`", s.at[0]) || (strchr("-?:", s.at[0]) && blank_next) ||
        s.at[0] == ' ' || s.at[s.len - 1] == ' ' || s.at[s.len - 1] == ':' ||
        (s.len >= 3 && (memcmp(s.at, "---", 3) == 0 || memcmp(s.at, "...", 3) == 0)))
        return true;
    return memmem(s.at, s.len, ": ", 2) || memmem(s.at, s.len, " #", 2);
}

static enum style style_of(struct str s)
{
    if (!s.len || has_special(s))
        return DOUBLE_QUOTED;
    if (memchr(s.at, '\n', s.len))
        return memmem(s.at, s.len, " \n", 2) || s.at[0] == ' ' || s.at[0] == '\n' ||
                       s.at[s.len - 1] == ' '
                   ? DOUBLE_QUOTED
                   : LITERAL;
    if (reads_as_other_type(s))
        return DOUBLE_QUOTED;
    return has_syntax(s) ? SINGLE_QUOTED : PLAIN;
}

/* Characters since the last line end. */
static size_t column_of(const struct buf *out)
{
    const char *end = out->len ? memrchr(out->bytes, '\n', out->len) : NULL;
    size_t from = end ? (size_t)(end - out->bytes) + 1 : 0, column = 0;
    for (size_t i = from; i < out->len; i++)
        column += ((unsigned char)out->bytes[i] & 0xc0) != 0x80;
    return column;
}

/* Appends @s, and continues it with @indent blanks in another line after each blank behind column
 * LINE_COLUMNS: readers replace the line end and the blanks by one blank. In double quotes a blank at the
 * start of a line is marked. @indent 0: one line. */
static void put_folded(struct buf *out, struct str s, size_t indent, enum style style)
{
    size_t column = column_of(out);
    for (size_t i = 0; i < s.len; i++) {
        bool blank = s.at[i] == ' ', blank_before = i && s.at[i - 1] == ' ';
        bool inside = style == PLAIN || (i > 0 && i + 1 < s.len);
        bool blank_next = i + 1 < s.len && s.at[i + 1] == ' ';
        if (indent && blank && !blank_before && inside && column > LINE_COLUMNS &&
            (!blank_next || style == DOUBLE_QUOTED)) {
            buf_putc(out, '\n');
            put_blanks(out, indent);
            if (blank_next)
                buf_putc(out, '\\');
            column = indent + blank_next;
            continue;
        }
        buf_putc(out, s.at[i]);
        column += ((unsigned char)s.at[i] & 0xc0) != 0x80;
    }
}

static void put_single_quoted(struct buf *out, struct str s, size_t indent)
{
    struct buf doubled = {0};
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '\'')
            buf_putc(&doubled, '\'');
        buf_putc(&doubled, s.at[i]);
    }
    buf_putc(out, '\'');
    put_folded(out, (struct str){doubled.bytes, doubled.len}, indent, SINGLE_QUOTED);
    buf_putc(out, '\'');
    buf_free(&doubled);
}

static void put_double_quoted(struct buf *out, struct str s, size_t indent)
{
    struct buf quoted = {0};
    json_put_string(&quoted, s); /* also a double-quoted YAML scalar */
    buf_putc(out, '"');
    put_folded(out, (struct str){quoted.bytes + 1, quoted.len - 2}, indent, DOUBLE_QUOTED);
    buf_putc(out, '"');
    buf_free(&quoted);
}

/* A block with @indent blanks in front of each line; ends without the last newline. */
static void put_literal(struct buf *out, struct str s, size_t indent)
{
    bool ends = s.at[s.len - 1] == '\n', more = s.len > 1 && ends && s.at[s.len - 2] == '\n';
    buf_puts(out, more ? "|+" : ends ? "|" : "|-");
    s.len -= ends;
    while (s.at) {
        const char *end = memchr(s.at, '\n', s.len);
        size_t len = end ? (size_t)(end - s.at) : s.len;
        buf_putc(out, '\n');
        if (len)
            put_blanks(out, indent);
        buf_put(out, s.at, len);
        s = end ? (struct str){end + 1, s.len - len - 1} : (struct str){0};
    }
}

/* @indent: of further lines; 0: they are not possible here, as in a key. */
static void put_string(struct buf *out, struct str spelled, size_t indent)
{
    struct buf text = {0};
    struct str s;
    enum style style;
    json_put_decoded(&text, spelled);
    s = (struct str){text.bytes, text.len};
    style = style_of(s);
    if (style == PLAIN)
        put_folded(out, s, indent, PLAIN);
    else if (style == SINGLE_QUOTED)
        put_single_quoted(out, s, indent);
    else if (style == LITERAL && indent)
        put_literal(out, s, indent);
    else
        put_double_quoted(out, s, indent);
    buf_free(&text);
}

static bool is_block(const struct json_node *node)
{
    return node->first != NULL;
}

static void put_scalar(struct buf *out, const struct json_node *node, size_t indent)
{
    if (node->type == JSON_STRING)
        put_string(out, node->text, indent);
    else if (node->type == JSON_LITERAL)
        buf_put(out, node->text.at, node->text.len);
    else
        buf_puts(out, node->type == JSON_OBJECT ? "{}" : "[]");
    buf_putc(out, '\n');
}

/* ---- blocks ---- */

/* Writes the members or items at @indent. The blanks of the first line are there already if
 * @started. */
static void put_block(struct buf *out, const struct json_node *node, size_t indent, bool started)
{
    for (const struct json_node *child = node->first; child; child = child->next) {
        if (!started)
            put_blanks(out, indent);
        started = false;
        if (node->type == JSON_OBJECT) {
            put_string(out, child->key, 0);
            buf_putc(out, ':');
            yaml_put_value(out, child, indent);
        } else {
            buf_puts(out, "- ");
            if (is_block(child))
                put_block(out, child, indent + 2, true);
            else
                put_scalar(out, child, indent + 2);
        }
    }
}

void yaml_put_value(struct buf *out, const struct json_node *node, size_t indent)
{
    if (is_block(node)) {
        buf_putc(out, '\n');
        put_block(out, node, node->type == JSON_OBJECT ? indent + 2 : indent, false);
    } else {
        buf_putc(out, ' ');
        put_scalar(out, node, indent + 2);
    }
}

void yaml_put_document(struct buf *out, const struct json_node *node, size_t indent)
{
    if (is_block(node)) {
        put_block(out, node, indent, false);
    } else {
        put_blanks(out, indent);
        put_scalar(out, node, indent + 2);
    }
}
