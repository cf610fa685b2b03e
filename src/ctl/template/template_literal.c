/*
 * template_literal.c - the values of literals: strings with escapes, raw strings, characters, and numbers in
 * Go's notation (0x1f, 0b1, 0o17, 1_000, 1e3).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text/utf8.h"
#include "ctl/template/template_internal.h"

/* ---- strings ---- */

static void put_char(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
        buf_putc(out, (char)c);
    } else if (c < 0x800) {
        buf_putc(out, (char)(0xc0 | c >> 6));
        buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        buf_putc(out, (char)(0xe0 | c >> 12));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        buf_putc(out, (char)(0xf0 | c >> 18));
        buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_putc(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* @n digits of @base at *@s. */
static bool read_digits(struct str *s, size_t n, int base, uint32_t *ret)
{
    char digits[9] = "";
    char *end;
    if (s->len < n)
        return false;
    memcpy(digits, s->at, n);
    for (size_t i = 0; i < n; i++)
        if (!strchr(base == 8 ? "01234567" : "0123456789abcdefABCDEF", digits[i]) || !digits[i])
            return false;
    *ret = (uint32_t)strtoul(digits, &end, base);
    *s = (struct str){s->at + n, s->len - n};
    return true;
}

/* What follows a backslash. @ret_byte: it is a byte, not a character. */
static bool read_escape(struct str *s, char quote, uint32_t *ret, bool *ret_byte)
{
    static const char names[] = "abfnrtv\\", values[] = "\a\b\f\n\r\t\v\\";
    char c = s->len ? s->at[0] : '\0';
    const char *named = c ? strchr(names, c) : NULL;
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    *ret_byte = c == 'x' || (c >= '0' && c <= '7');
    if (c >= '0' && c <= '7')
        return read_digits(s, 3, 8, ret) && *ret <= 255;
    if (!c)
        return false;
    *s = (struct str){s->at + 1, s->len - 1};
    if (digits)
        return read_digits(s, digits, 16, ret) &&
               (c == 'x' || (*ret <= 0x10ffff && (*ret < 0xd800 || *ret > 0xdfff)));
    *ret = named ? (unsigned char)values[named - names] : (unsigned char)c;
    return named || c == quote;
}

/* One character of a literal in @quote. */
static bool read_char(struct str *s, char quote, uint32_t *ret, bool *ret_byte)
{
    size_t size;
    *ret_byte = false;
    if (!s->len || s->at[0] == quote || s->at[0] == '\n')
        return false;
    if (s->at[0] == '\\') {
        *s = (struct str){s->at + 1, s->len - 1};
        return read_escape(s, quote, ret, ret_byte);
    }
    size = utf8_next(*s, ret);
    if (!size) { /* not UTF-8: the byte as it is */
        *ret = (unsigned char)s->at[0];
        *ret_byte = true;
        size = 1;
    }
    *s = (struct str){s->at + size, s->len - size};
    return true;
}

bool template_unquote(struct arena *arena, struct str quoted, struct str *ret)
{
    struct str s = {quoted.at + 1, quoted.len - 2};
    struct buf out = {0};
    bool good = true;
    if (quoted.at[0] == '`') {
        for (size_t i = 0; i < s.len; i++)
            if (s.at[i] != '\r')
                buf_putc(&out, s.at[i]);
    } else {
        while (s.len && good) {
            uint32_t c = 0;
            bool byte;
            good = read_char(&s, '"', &c, &byte);
            if (good && byte)
                buf_putc(&out, (char)c);
            else if (good)
                put_char(&out, c);
        }
    }
    *ret = arena_copy(arena, (struct str){out.bytes, out.len});
    buf_free(&out);
    return good;
}

/* ---- numbers ---- */

static struct str number_error(struct arena *arena, const char *what, struct str text)
{
    struct buf message = {0};
    struct str copy;
    buf_puts(&message, what);
    template_put_quoted(&message, text);
    copy = arena_copy(arena, (struct str){message.bytes, message.len});
    buf_free(&message);
    return copy;
}

static bool read_character(struct arena *arena, struct str text, struct template_number *ret,
                           struct str *ret_error)
{
    struct str s = {text.at + 1, text.len - 1};
    uint32_t c = 0;
    bool byte;
    if (!read_char(&s, '\'', &c, &byte)) {
        *ret_error = STR("invalid syntax");
        return false;
    }
    if (!str_eq(s, STR("'"))) {
        struct buf message = {0};
        buf_printf(&message, "malformed character constant: %.*s", (int)text.len, text.at);
        *ret_error = arena_copy(arena, (struct str){message.bytes, message.len});
        buf_free(&message);
        return false;
    }
    *ret = (struct template_number){.is_int = true, .is_float = true, .i = c, .f = c};
    return true;
}

/* Underscores separate digits of integers, also from the prefix of a base. */
static bool underscores_fit(const char *text)
{
    bool prefixed = text[0] == '0' && text[1] && strchr("xXbBoO", text[1]);
    char before = prefixed ? '0' : '_';
    if (strchr(text, '_') && strpbrk(text, ".pP"))
        return false;
    for (const char *c = text + (prefixed ? 2 : 0); *c; c++) {
        if (*c == '_' && before == '_')
            return false;
        before = *c;
    }
    return before != '_';
}

/* Reads digits of Go's notation as an integer. */
static bool read_int(const char *text, int64_t *ret)
{
    char digits[80];
    size_t n = 0;
    const char *at = text + (text[0] == '-' || text[0] == '+');
    int base = 10;
    char *end;
    if (at[0] == '0' && at[1])
        base = strchr("xX", at[1]) ? 16 : strchr("bB", at[1]) ? 2 : 8;
    at += base == 16 || base == 2 || (base == 8 && strchr("oO", at[1])) ? 2 : 0;
    digits[n++] = text[0] == '-' ? '-' : '+';
    for (; *at && n + 1 < sizeof(digits); at++)
        if (*at != '_')
            digits[n++] = *at;
    digits[n] = '\0';
    errno = 0;
    *ret = strtoll(digits, &end, base);
    return n > 1 && !*at && !*end && digits[1] != '+' && digits[1] != '-' && errno == 0;
}

static bool read_float(const char *text, double *ret)
{
    char digits[80];
    size_t n = 0;
    char *end;
    for (const char *c = text; *c && n + 1 < sizeof(digits); c++)
        if (*c != '_')
            digits[n++] = *c;
    digits[n] = '\0';
    errno = 0;
    *ret = strtod(digits, &end);
    return strlen(text) < sizeof(digits) && n && !*end && errno == 0 &&
           (!strpbrk(digits, "xX") || strpbrk(digits, "pP"));
}

bool template_read_number(struct arena *arena, const struct token *token,
                          struct template_number *ret, struct str *ret_error)
{
    struct str text = token->text;
    const char *copy = arena_copy(arena, text).at;
    const char *unsigned_part = copy + (copy[0] == '-' || copy[0] == '+');
    struct template_number n = {0};
    if (token->type == TOKEN_CHAR_CONSTANT)
        return read_character(arena, text, ret, ret_error);
    n.looks_float = strpbrk(copy, "pP") || (strpbrk(copy, ".eE") && !strpbrk(copy, "xX"));
    if (underscores_fit(unsigned_part)) {
        n.is_int = read_int(copy, &n.i);
        n.is_float = !n.is_int && read_float(copy, &n.f);
    }
    if (n.is_float && !strpbrk(copy, ".eEpP")) {
        *ret_error = number_error(arena, "integer overflow: ", text);
        return false;
    }
    if (!n.is_int && !n.is_float) {
        *ret_error = number_error(arena, "illegal number syntax: ", text);
        return false;
    }
    if (n.is_int)
        n.f = (double)n.i;
    n.is_float = true;
    *ret = n;
    return true;
}
