/*
 * display.c - sums the columns of characters. A byte that is not UTF-8 counts as one column.
 */
#include "base/text/display.h"

#include <stdint.h>
#include <wchar.h>

#include "base/text/utf8.h"

/* Columns of the first character of @text, which is not empty, and its length in @ret_len. */
static size_t next_width(struct str text, size_t *ret_len)
{
    uint32_t c = 0;
    size_t len = utf8_next(text, &c);
    int width = len > 1 ? wcwidth((wchar_t)c) : 1;
    *ret_len = len ? len : 1;
    return width < 0 ? 1 : (size_t)width;
}

size_t display_width(struct str text)
{
    size_t width = 0, len;
    for (size_t i = 0; i < text.len; i += len)
        width += next_width((struct str){text.at + i, text.len - i}, &len);
    return width;
}

struct str display_head(struct str text, size_t columns)
{
    size_t i = 0, len, width;
    while (i < text.len) {
        width = next_width((struct str){text.at + i, text.len - i}, &len);
        if (width > columns)
            break;
        columns -= width;
        i += len;
    }
    return (struct str){text.at, i};
}

struct str display_tail(struct str text, size_t columns)
{
    size_t all = display_width(text), i = 0, len;
    while (i < text.len && all > columns) {
        all -= next_width((struct str){text.at + i, text.len - i}, &len);
        i += len;
    }
    while (i && i < text.len && !next_width((struct str){text.at + i, text.len - i}, &len))
        i += len; /* its character is not part of the suffix */
    return (struct str){text.at + i, text.len - i};
}
