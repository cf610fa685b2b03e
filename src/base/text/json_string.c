/*
 * json_string.c - copies runs of plain characters in one piece and escapes the others one by one.
 */
#include "base/text/json_string.h"

#include <string.h>

#include "base/text/utf8.h"

/* @json: quotes and backslashes are part of the JSON syntax, here and below. */
static bool is_plain(unsigned char c, bool json)
{
    return c >= 0x20 && c < 0x7f && (json || (c != '"' && c != '\\'));
}

/*
 * Whether eight bytes are all plain, tested together: each test sets the highest bit of a byte that
 * fails it. A failing byte may make the next one seem to fail as well. That is harmless: after "no"
 * the caller tests each byte.
 */
static bool are_plain(const char *at, bool json)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), top = ones << 7;
    uint64_t x, quotes, slashes, syntax;
    memcpy(&x, at, sizeof(x));
    quotes = x ^ ones * '"';
    slashes = x ^ ones * '\\';
    syntax = json ? 0 : (quotes - ones) | (slashes - ones);
    return !(((x - ones * 0x20) | (x + ones) | x | syntax) & top);
}

/* Writes one character that is not plain; returns its length in @text. */
static size_t put_special(struct buf *out, struct str text, bool json)
{
    uint32_t c = 0;
    size_t len = utf8_next(text, &c);
    if (!len) {
        buf_puts(out, "\\ufffd");
        return 1;
    }
    if (!utf8_is_unsafe(c) && (json || (c != '"' && c != '\\'))) {
        buf_put(out, text.at, len);
        return len;
    }
    switch (c) {
    case '"': buf_puts(out, "\\\""); break;
    case '\\': buf_puts(out, "\\\\"); break;
    case '\n': buf_puts(out, "\\n"); break;
    case '\t': buf_puts(out, "\\t"); break;
    default: buf_printf(out, "\\u%04x", (unsigned)c); /* nothing unsafe needs more digits */
    }
    return len;
}

static void put_safe(struct buf *out, struct str text, bool json)
{
    while (text.len) {
        size_t len = 0;
        while (text.len - len >= sizeof(uint64_t) && are_plain(text.at + len, json))
            len += sizeof(uint64_t);
        while (len < text.len && is_plain((unsigned char)text.at[len], json))
            len++;
        buf_put(out, text.at, len);
        if (len < text.len)
            len += put_special(out, (struct str){text.at + len, text.len - len}, json);
        text = (struct str){text.at + len, text.len - len};
    }
}

void json_put_string(struct buf *out, struct str text)
{
    buf_putc(out, '"');
    put_safe(out, text, false);
    buf_putc(out, '"');
}

void json_put_key(struct buf *out, const char *name)
{
    size_t len = strlen(name);
    char *at = buf_room(out, len + 3);
    *at++ = '"';
    memcpy(at, name, len);
    memcpy(at + len, "\":", 2);
    out->len += len + 3;
}

void json_put_json(struct buf *out, struct str json)
{
    put_safe(out, json, true);
}
