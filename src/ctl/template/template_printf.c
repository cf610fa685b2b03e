/*
 * template_printf.c - printf with Go's verbs: %v %s %q %d %b %o %x %X %c %U %t %e %f %g %T and %%, with
 * flags, width and precision. Lists and maps print each of their items with the verb. A verb that does not
 * fit its value prints Go's message, "%!d(string=x)".
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "ctl/template/template_internal.h"

enum {
    WIDTH_MAX = 10000, /* LIMIT: width and precision; Go has 1,000,000 */
};

struct verb {
    uint32_t c;
    struct str spelled;
    bool minus, plus, sharp, space, zero;
    int width;     /* -1: none */
    int precision; /* -1: none */
};

static void put_verb(struct buf *out, const struct verb *verb, const struct value *v);

/* ---- padding ---- */

static size_t count_chars(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.at[i] & 0xc0) != 0x80;
    return n;
}

static void put_padded(struct buf *out, const struct verb *verb, struct str text, bool zeros)
{
    size_t len = count_chars(text);
    size_t blanks = verb->width > 0 && (size_t)verb->width > len ? (size_t)verb->width - len : 0;
    size_t sign = zeros && text.len && strchr("+-", text.at[0]) ? 1 : 0;
    if (sign && !verb->minus)
        buf_put(out, text.at, 1);
    for (size_t i = 0; !verb->minus && i < blanks; i++)
        buf_putc(out, zeros ? '0' : ' ');
    if (text.len)
        buf_put(out, text.at + (verb->minus ? 0 : sign), text.len - (verb->minus ? 0 : sign));
    for (size_t i = 0; verb->minus && i < blanks; i++)
        buf_putc(out, ' ');
}

static void put_finished(struct buf *out, const struct verb *verb, struct buf *text, bool zeros)
{
    put_padded(out, verb, (struct str){text->bytes, text->len}, zeros && verb->zero);
    buf_free(text);
}

static void put_bad_verb(struct buf *out, const struct verb *verb, const struct value *v)
{
    buf_printf(out, "%%!%.*s(", (int)verb->spelled.len, verb->spelled.at);
    if (v->kind != VALUE_INVALID && v->kind != VALUE_NIL)
        buf_printf(out, "%s=", value_inner_type_name(v));
    value_put(out, v);
    buf_putc(out, ')');
}

/* ---- integers ---- */

static void put_digits(struct buf *out, const struct verb *verb, int64_t i, unsigned base,
                       bool upper)
{
    char digits[65];
    size_t n = sizeof(digits);
    uint64_t left = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    int precision = verb->precision;
    if (precision < 0 && verb->zero && !verb->minus && verb->width > 0)
        precision = verb->width - (i < 0 || verb->plus || verb->space);
    do
        digits[--n] = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[left % base];
    while (left /= base);
    if (i < 0 || verb->plus || verb->space)
        buf_putc(out, i < 0 ? '-' : verb->plus ? '+' : ' ');
    if (verb->sharp && base != 10)
        buf_puts(out, base == 2 ? "0b" : base == 8 ? "0" : upper ? "0X" : "0x");
    for (int have = (int)(sizeof(digits) - n); have < precision; have++)
        buf_putc(out, '0');
    if (!(verb->precision == 0 && i == 0))
        buf_put(out, digits + n, sizeof(digits) - n);
}

static void put_utf8(struct buf *out, int64_t i)
{
    uint32_t c = i < 0 || i > 0x10ffff || (i >= 0xd800 && i <= 0xdfff) ? 0xfffd : (uint32_t)i;
    char bytes[4] = {(char)c};
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t k = len; len > 1 && k-- > 1; c >>= 6)
        bytes[k] = (char)(0x80 | (c & 0x3f));
    if (len > 1)
        bytes[0] = (char)((0xf00 >> len & 0xff) | c);
    buf_put(out, bytes, len);
}

/* 'x', a character in single quotes. */
static void put_quoted_char(struct buf *out, int64_t i)
{
    struct buf text = {0}, quoted = {0};
    put_utf8(&text, i);
    if (i == '\'' || i == '"')
        buf_printf(&quoted, i == '"' ? "x\"x" : "x\\'x");
    else
        template_put_quoted(&quoted, (struct str){text.bytes, text.len});
    quoted.bytes[0] = quoted.bytes[quoted.len - 1] = '\'';
    buf_put(out, quoted.bytes, quoted.len);
    buf_free(&text);
    buf_free(&quoted);
}

static void put_int(struct buf *out, const struct verb *verb, const struct value *v)
{
    struct buf text = {0};
    switch (verb->c) {
    case 'v':
    case 'd': put_digits(&text, verb, v->i, 10, false); break;
    case 'b': put_digits(&text, verb, v->i, 2, false); break;
    case 'o': put_digits(&text, verb, v->i, 8, false); break;
    case 'x': put_digits(&text, verb, v->i, 16, false); break;
    case 'X': put_digits(&text, verb, v->i, 16, true); break;
    case 'c': put_utf8(&text, v->i); break;
    case 'q': put_quoted_char(&text, v->i); break;
    case 'U': buf_printf(&text, "U+%04llX", (unsigned long long)v->i); break;
    default: put_bad_verb(out, verb, v); return;
    }
    put_finished(out, verb, &text, false);
}

/* ---- floats, strings, booleans ---- */

static void put_float(struct buf *out, const struct verb *verb, const struct value *v)
{
    struct buf text = {0};
    char format = verb->c == 'v' ? 'g' : (char)tolower((int)verb->c);
    int precision = verb->precision;
    if (!strchr("vefgEFG", (int)verb->c)) {
        put_bad_verb(out, verb, v);
        return;
    }
    if (precision < 0 && format != 'g')
        precision = 6;
    if ((verb->plus || verb->space) && !(v->f < 0))
        buf_putc(&text, verb->plus ? '+' : ' ');
    value_put_float(&text, v->f, precision < 0 ? 'v' : format, precision);
    for (size_t i = 0; isupper((int)verb->c) && i < text.len; i++)
        text.bytes[i] = (char)toupper((unsigned char)text.bytes[i]);
    put_finished(out, verb, &text, true);
}

static struct str cut_chars(struct str s, int chars)
{
    size_t len = 0;
    for (; chars > 0 && len < s.len; chars--)
        for (len++; len < s.len && ((unsigned char)s.at[len] & 0xc0) == 0x80;)
            len++;
    return (struct str){s.at, len};
}

static void put_hex(struct buf *out, const struct verb *verb, struct str s)
{
    size_t n =
        verb->precision >= 0 && (size_t)verb->precision < s.len ? (size_t)verb->precision : s.len;
    for (size_t i = 0; i < n; i++) {
        if (verb->space && i)
            buf_putc(out, ' ');
        if (verb->sharp && (verb->space || !i))
            buf_puts(out, verb->c == 'x' ? "0x" : "0X");
        buf_printf(out, verb->c == 'x' ? "%02x" : "%02X", (unsigned char)s.at[i]);
    }
}

static void put_string(struct buf *out, const struct verb *verb, const struct value *v)
{
    struct str s = verb->precision < 0 ? v->text : cut_chars(v->text, verb->precision);
    struct buf text = {0};
    if (verb->c == 'q' || (verb->c == 'v' && verb->sharp)) {
        if (verb->sharp && verb->c == 'q' && s.len && !memchr(s.at, '`', s.len) &&
            !str_has_control(s))
            buf_printf(&text, "`%.*s`", (int)s.len, s.at);
        else
            template_put_quoted(&text, s);
    } else if (verb->c == 'x' || verb->c == 'X') {
        put_hex(&text, verb, v->text);
    } else if (verb->c == 's' || verb->c == 'v') {
        if (s.len)
            buf_put(&text, s.at, s.len);
    } else {
        put_bad_verb(out, verb, v);
        return;
    }
    put_finished(out, verb, &text, true);
}

/* ---- lists, maps ---- */

static void put_child(struct buf *out, const struct verb *verb, const struct json_node *node)
{
    struct arena arena = {0};
    struct value v = value_of_node(&arena, node);
    if (v.kind == VALUE_NIL)
        buf_puts(out, verb->sharp && verb->c == 'v' ? "interface {}(nil)" : "<nil>");
    else
        put_verb(out, verb, &v);
    arena_free(&arena);
}

static void put_key(struct buf *out, const struct verb *verb, const struct json_node *member)
{
    struct buf key = {0};
    struct value v = {.kind = VALUE_STRING};
    json_put_decoded(&key, member->key);
    v.text = (struct str){key.bytes, key.len};
    put_string(out, verb, &v);
    buf_putc(out, ':');
    buf_free(&key);
}

static void put_container(struct buf *out, const struct verb *verb, const struct value *v)
{
    bool go = verb->sharp && verb->c == 'v', is_map = v->kind == VALUE_MAP;
    const struct json_node *node = is_map ? v->node->first : v->node;
    size_t len = is_map ? value_map_len(v) : v->len;
    if (go)
        buf_printf(out, "%s{", value_inner_type_name(v));
    else
        buf_puts(out, is_map ? "map[" : "[");
    for (size_t i = 0; i < len; i++, node = node->next) {
        if (i)
            buf_puts(out, go ? ", " : " ");
        if (is_map)
            put_key(out, verb, node);
        put_child(out, verb, node);
    }
    buf_putc(out, go ? '}' : ']');
}

static void put_nil(struct buf *out, const struct verb *verb)
{
    if (verb->c == 'v')
        put_padded(out, verb, STR("<nil>"), false);
    else
        buf_printf(out, "%%!%.*s(<nil>)", (int)verb->spelled.len, verb->spelled.at);
}

static void put_verb(struct buf *out, const struct verb *verb, const struct value *v)
{
    if (verb->c == 'T') {
        put_padded(out, verb, str_of(value_inner_type_name(v)), false);
        return;
    }
    switch ((int)v->kind) {
    case VALUE_INVALID:
    case VALUE_NIL: put_nil(out, verb); break;
    case VALUE_BOOL:
        if (verb->c == 't' || verb->c == 'v')
            put_padded(out, verb, v->truth ? STR("true") : STR("false"), verb->zero);
        else
            put_bad_verb(out, verb, v);
        break;
    case VALUE_INT: put_int(out, verb, v); break;
    case VALUE_FLOAT: put_float(out, verb, v); break;
    case VALUE_STRING: put_string(out, verb, v); break;
    case VALUE_MAP:
    case VALUE_LIST: put_container(out, verb, v); break;
    }
}

void value_put_string(struct buf *out, const struct value *v)
{
    struct verb verb = {.c = 's', .spelled = STR("s"), .width = -1, .precision = -1};
    put_verb(out, &verb, v);
}

/* ---- the format ---- */

struct format {
    struct str left;
    struct call *call;
    size_t next; /* argument */
};

static char peek(const struct format *f)
{
    return f->left.len ? f->left.at[0] : '\0';
}

static void skip(struct format *f, size_t n)
{
    f->left = (struct str){f->left.at + n, f->left.len - n};
}

static void read_flags(struct format *f, struct verb *verb)
{
    for (; f->left.len; skip(f, 1))
        switch (peek(f)) {
        case '-': verb->minus = true; break;
        case '+': verb->plus = true; break;
        case '#': verb->sharp = true; break;
        case ' ': verb->space = true; break;
        case '0': verb->zero = true; break;
        default: return;
        }
}

/* Digits, or '*' for an argument. -1: neither. */
static int read_size(struct format *f, struct buf *out, const char *bad)
{
    int n = -1;
    if (peek(f) == '*') {
        const struct value *v = f->next < f->call->n ? &f->call->args[f->next] : NULL;
        skip(f, 1);
        f->next += v != NULL;
        if (v && v->kind == VALUE_INT && v->i >= -WIDTH_MAX && v->i <= WIDTH_MAX)
            return (int)v->i;
        buf_puts(out, bad);
        return -1;
    }
    for (; f->left.len && isdigit((unsigned char)peek(f)); skip(f, 1))
        if (n < WIDTH_MAX)
            n = (n < 0 ? 0 : n) * 10 + (peek(f) - '0');
    return n > WIDTH_MAX ? WIDTH_MAX : n;
}

/* A directive, of which the percent sign was taken. */
static void put_directive(struct format *f, struct buf *out)
{
    struct verb verb = {.width = -1, .precision = -1};
    size_t size;
    read_flags(f, &verb);
    verb.width = read_size(f, out, "%!(BADWIDTH)");
    if (verb.width < -1) {
        verb.minus = true;
        verb.width = -verb.width;
    }
    if (peek(f) == '.') {
        skip(f, 1);
        verb.precision = read_size(f, out, "%!(BADPREC)");
        verb.precision = verb.precision < 0 ? 0 : verb.precision;
    }
    if (!f->left.len) {
        buf_puts(out, "%!(NOVERB)");
        return;
    }
    size = utf8_next(f->left, &verb.c);
    verb.spelled = (struct str){f->left.at, size ? size : 1};
    skip(f, verb.spelled.len);
    verb.zero = verb.zero && !verb.minus;
    verb.plus = verb.plus && verb.c != 'v'; /* which means names of struct members */
    if (verb.c == '%')
        buf_putc(out, '%');
    else if (f->next >= f->call->n)
        buf_printf(out, "%%!%.*s(MISSING)", (int)verb.spelled.len, verb.spelled.at);
    else
        put_verb(out, &verb, &f->call->args[f->next++]);
}

static void put_extra(struct format *f, struct buf *out)
{
    buf_puts(out, "%!(EXTRA ");
    for (size_t i = f->next; i < f->call->n; i++) {
        const struct value *v = &f->call->args[i];
        if (i > f->next)
            buf_puts(out, ", ");
        if (v->kind != VALUE_INVALID && v->kind != VALUE_NIL)
            buf_printf(out, "%s=", value_inner_type_name(v));
        value_put(out, v);
    }
    buf_putc(out, ')');
}

int template_run_printf(struct call *call, struct value *ret)
{
    struct format f = {.left = call->args[0].text, .call = call, .next = 1};
    struct buf out = {0};
    while (f.left.len) {
        const char *percent = memchr(f.left.at, '%', f.left.len);
        size_t len = percent ? (size_t)(percent - f.left.at) : f.left.len;
        buf_put(&out, f.left.at, len);
        skip(&f, len);
        if (percent) {
            skip(&f, 1);
            put_directive(&f, &out);
        }
    }
    if (f.next < call->n)
        put_extra(&f, &out);
    *ret = eval_text(call->eval, &out);
    return 0;
}
