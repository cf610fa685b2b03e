/*
 * template_value.c - the values of a template: JSON values as Go sees them (map[string]interface{},
 * []interface{}, string, int64, float64, bool, nil) and those of literals and functions.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "ctl/template/template_internal.h"

/* ---- making them ---- */

static struct value value_of_number(struct arena *arena, struct str text)
{
    const char *copy = arena_copy(arena, text).at;
    errno = 0;
    if (!strpbrk(copy, ".eE")) {
        int64_t i = strtoll(copy, NULL, 10);
        if (errno == 0)
            return (struct value){.kind = VALUE_INT, .int_type = INT_INT64, .boxed = true, .i = i};
    }
    return (struct value){.kind = VALUE_FLOAT, .boxed = true, .f = strtod(copy, NULL)};
}

static struct str decoded(struct arena *arena, struct str spelled)
{
    struct buf text = {0};
    struct str copy = spelled;
    if (spelled.len && memchr(spelled.at, '\\', spelled.len)) {
        json_put_decoded(&text, spelled);
        copy = arena_copy(arena, (struct str){text.bytes, text.len});
        buf_free(&text);
    }
    return copy;
}

static struct value value_of_literal(struct arena *arena, struct str text)
{
    char first = text.len ? text.at[0] : 'n';
    if (first == 'n')
        return (struct value){.kind = VALUE_NIL, .boxed = true};
    if (first == 't' || first == 'f')
        return (struct value){.kind = VALUE_BOOL, .boxed = true, .truth = first == 't'};
    return value_of_number(arena, text);
}

struct value value_of_node(struct arena *arena, const struct json_node *node)
{
    struct value v = {.boxed = true};
    switch (node->type) {
    case JSON_OBJECT:
        v.kind = VALUE_MAP;
        v.node = node;
        break;
    case JSON_ARRAY:
        v.kind = VALUE_LIST;
        v.node = node->first;
        for (const struct json_node *n = node->first; n; n = n->next)
            v.len++;
        v.cap = v.len;
        break;
    case JSON_STRING:
        v.kind = VALUE_STRING;
        v.text = decoded(arena, node->text);
        break;
    case JSON_LITERAL: return value_of_literal(arena, node->text);
    }
    return v;
}

struct value value_of_bool(bool truth)
{
    return (struct value){.kind = VALUE_BOOL, .truth = truth};
}

struct value value_of_int(int64_t i)
{
    return (struct value){.kind = VALUE_INT, .i = i};
}

struct value value_of_text(struct str text)
{
    return (struct value){.kind = VALUE_STRING, .text = text};
}

/* ---- reading them ---- */

bool value_truth(const struct value *v)
{
    switch (v->kind) {
    case VALUE_INVALID:
    case VALUE_NIL: return false;
    case VALUE_BOOL: return v->truth;
    case VALUE_INT: return v->i != 0;
    case VALUE_FLOAT: return v->f < 0 || v->f > 0 || isnan(v->f);
    case VALUE_STRING: return v->text.len > 0;
    case VALUE_MAP: return v->node->first != NULL;
    case VALUE_LIST: return v->len > 0;
    }
    return false;
}

const char *value_inner_type_name(const struct value *v)
{
    static const char *const ints[] = {"int", "int64", "uint8"};
    switch (v->kind) {
    case VALUE_INVALID:
    case VALUE_NIL: return "<nil>";
    case VALUE_BOOL: return "bool";
    case VALUE_INT: return ints[v->int_type];
    case VALUE_FLOAT: return "float64";
    case VALUE_STRING: return "string";
    case VALUE_MAP: return "map[string]interface {}";
    case VALUE_LIST: return "[]interface {}";
    }
    return "";
}

const char *value_type_name(const struct value *v)
{
    return v->boxed ? "interface {}" : value_inner_type_name(v);
}

struct value value_member(struct arena *arena, const struct value *map, struct str key)
{
    for (const struct json_node *m = map->node->first; m; m = m->next)
        if (str_eq(decoded(arena, m->key), key))
            return value_of_node(arena, m);
    return (struct value){0};
}

struct value value_item(struct arena *arena, const struct value *list, size_t index)
{
    const struct json_node *node = list->node;
    while (index--)
        node = node->next;
    return value_of_node(arena, node);
}

size_t value_map_len(const struct value *map)
{
    size_t n = 0;
    for (const struct json_node *m = map->node->first; m; m = m->next)
        n++;
    return n;
}

/* ---- printing them ---- */

/* The fewest digits that read as the same number. */
static int shortest_digits(double f)
{
    char text[64];
    for (int digits = 0; digits < 17; digits++) {
        snprintf(text, sizeof(text), "%.*e", digits, f);
        double same = strtod(text, NULL);
        if (!(same < f) && !(same > f))
            return digits;
    }
    return 17;
}

/* @format: 'e', 'f', 'g', or 'v' for Go's %v. @precision: -1: the shortest text that reads as the same. */
void value_put_float(struct buf *out, double f, char format, int precision)
{
    char text[64];
    const char *exponent;
    int digits = precision < 0 ? shortest_digits(f) : precision, exp, limit = 21;
    if (isnan(f) || isinf(f)) {
        buf_puts(out, isnan(f) ? "NaN" : f < 0 ? "-Inf" : "+Inf");
        return;
    }
    if (precision >= 0 && format != 'v' && format != 'g') {
        buf_printf(out, format == 'e' ? "%.*e" : "%.*f", precision, f);
        return;
    }
    if (format == 'g' && precision >= 0) { /* significant digits; without trailing zeros */
        digits = precision ? precision - 1 : 0;
        limit = precision ? precision : 1;
    }
    snprintf(text, sizeof(text), "%.*e", digits > 40 ? 40 : digits, f);
    exponent = strchr(text, 'e');
    exp = exponent ? atoi(exponent + 1) : 0;
    if (format == 'e' || (format != 'f' && (exp < -4 || exp >= limit))) {
        char *end = text + (exponent - text);
        if (format == 'g' && precision >= 0 && memchr(text, '.', (size_t)(end - text)))
            while (end[-1] == '0' || end[-1] == '.')
                if (*--end == '.')
                    break;
        buf_printf(out, "%.*s%s", (int)(end - text), text, exponent);
    } else {
        int decimals = digits - exp > 0 ? digits - exp : 0;
        size_t from = out->len;
        buf_printf(out, "%.*f", decimals, f);
        if (format == 'g' && precision >= 0 && decimals)
            while (out->len > from &&
                   (out->bytes[out->len - 1] == '0' || out->bytes[out->len - 1] == '.'))
                if (out->bytes[--out->len] == '.')
                    break;
    }
}

static void put_node(struct buf *out, const struct json_node *node)
{
    struct arena arena = {0};
    struct value v = value_of_node(&arena, node);
    value_put(out, &v);
    arena_free(&arena);
}

static void put_map(struct buf *out, const struct json_node *map)
{
    buf_puts(out, "map[");
    for (const struct json_node *m = map->first; m; m = m->next) {
        json_put_decoded(out, m->key);
        buf_putc(out, ':');
        put_node(out, m);
        if (m->next)
            buf_putc(out, ' ');
    }
    buf_putc(out, ']');
}

void value_put(struct buf *out, const struct value *v)
{
    const struct json_node *item = v->node;
    switch (v->kind) {
    case VALUE_INVALID:
    case VALUE_NIL: buf_puts(out, "<nil>"); break;
    case VALUE_BOOL: buf_puts(out, v->truth ? "true" : "false"); break;
    case VALUE_INT: buf_printf(out, "%lld", (long long)v->i); break;
    case VALUE_FLOAT: value_put_float(out, v->f, 'v', -1); break;
    case VALUE_STRING:
        if (v->text.len)
            buf_put(out, v->text.at, v->text.len);
        break;
    case VALUE_MAP: put_map(out, v->node); break;
    case VALUE_LIST:
        buf_putc(out, '[');
        for (size_t i = 0; i < v->len; i++, item = item->next) {
            if (i)
                buf_putc(out, ' ');
            put_node(out, item);
        }
        buf_putc(out, ']');
        break;
    }
}

void template_put_go(struct buf *out, const struct json_node *node)
{
    put_node(out, node);
}

void template_put_quoted(struct buf *out, struct str text)
{
    buf_putc(out, '"');
    while (text.len) {
        static const char plain[] = "\a\b\f\n\r\t\v\"\\", names[] = "abfnrtv\"\\";
        uint32_t c = 0;
        size_t size = utf8_next(text, &c);
        const char *named = size == 1 && c ? strchr(plain, (int)c) : NULL;
        if (named)
            buf_printf(out, "\\%c", names[named - plain]);
        else if (!size || c < ' ' || c == 0x7f)
            buf_printf(out, "\\x%02x", (unsigned char)text.at[0]);
        else if (utf8_is_unsafe(c) || c == 0xa0)
            buf_printf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
        else
            buf_put(out, text.at, size);
        size += !size;
        text = (struct str){text.at + size, text.len - size};
    }
    buf_putc(out, '"');
}
