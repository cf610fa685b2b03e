#include "base/json_string.h"

/* The length of a good UTF-8 sequence at @at, 0 if it is none. Surrogates and overlong forms are
 * not good. */
static size_t utf8_len(const unsigned char *at, size_t left)
{
    size_t len = *at < 0x80   ? 1
                 : *at < 0xc2 ? 0
                 : *at < 0xe0 ? 2
                 : *at < 0xf0 ? 3
                 : *at < 0xf5 ? 4
                              : 0;
    if (!len || len > left)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    return len;
}

static void put_escaped(struct buf *out, unsigned c)
{
    switch (c) {
    case '"': buf_puts(out, "\\\""); break;
    case '\\': buf_puts(out, "\\\\"); break;
    case '\n': buf_puts(out, "\\n"); break;
    case '\t': buf_puts(out, "\\t"); break;
    default: buf_printf(out, "\\u%04x", c);
    }
}

/* Puts one character; returns how many bytes of @at it was. */
static size_t put_character(struct buf *out, const unsigned char *at, size_t left)
{
    size_t len = utf8_len(at, left);
    if (!len)
        buf_puts(out, "\\ufffd");
    else if (*at < 0x20 || *at == 0x7f || *at == '"' || *at == '\\')
        put_escaped(out, *at);
    else if (len == 2 && *at == 0xc2 && at[1] < 0xa0)
        put_escaped(out, at[1]); /* C1 controls: U+0080 to U+009F */
    else
        buf_put(out, (const char *)at, len);
    return len ? len : 1;
}

void json_put_string(struct buf *out, struct str text)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < text.len;)
        i += put_character(out, (const unsigned char *)text.at + i, text.len - i);
    buf_putc(out, '"');
}
