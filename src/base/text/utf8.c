/*
 * utf8.c - a strict decoder (RFC 3629) and the functions on top of it.
 */
#include "base/text/utf8.h"

size_t utf8_decode(struct str text, uint32_t *ret_char)
{
    const unsigned char *at = (const unsigned char *)text.at;
    size_t len = *at < 0x80   ? 1
                 : *at < 0xc2 ? 0
                 : *at < 0xe0 ? 2
                 : *at < 0xf0 ? 3
                 : *at < 0xf5 ? 4
                              : 0;
    uint32_t c = len > 1 ? *at & (0xffu >> (len + 1)) : *at;
    if (!len || len > text.len)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    if ((len == 3 && c < 0x800) || (len == 4 && c < 0x10000) || (c >= 0xd800 && c < 0xe000) ||
        c > 0x10ffff)
        return 0;
    *ret_char = c;
    return len;
}

bool utf8_is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0)          /* C0, DEL, C1 */
           || c == 0x200e || c == 0x200f || c == 0x061c /* marks of direction */
           || (c >= 0x2028 && c <= 0x202e)              /* line ends, embeddings, overrides */
           || (c >= 0x2066 && c <= 0x2069)              /* isolates */
           || c == 0x200b || (c >= 0x2060 && c <= 0x2064) || c == 0xfeff; /* nothing to see */
}

struct str utf8_cut(struct str text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max && ((unsigned char)text.at[max] & 0xc0) == 0x80)
        max--;
    return (struct str){text.at, max};
}

void utf8_put_visible(struct buf *out, struct str text)
{
    while (text.len) {
        uint32_t c = 0;
        size_t len = utf8_next(text, &c);
        if (!len)
            buf_puts(out, "\xef\xbf\xbd");
        else if (c == '\n')
            buf_puts(out, "\\n");
        else if (utf8_is_unsafe(c))
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_put(out, text.at, len);
        len = len ? len : 1;
        text = (struct str){text.at + len, text.len - len};
    }
}

void utf8_put_ascii(struct buf *out, struct str text)
{
    while (text.len) {
        uint32_t c = 0;
        size_t len = utf8_next(text, &c);
        if (!len)
            buf_putc(out, '?');
        else if (c < 0x7f)
            utf8_put_visible(out, (struct str){text.at, 1});
        else
            buf_printf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
        len = len ? len : 1;
        text = (struct str){text.at + len, text.len - len};
    }
}
