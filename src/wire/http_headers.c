/*
 * http_headers.c - collects header names and values as NUL-terminated strings in one buffer.
 */
#include "wire/http_headers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void http_headers_put(struct http_headers *h, const char *at, size_t len)
{
    buf_put(&h->text, at, len);
}

void http_headers_end_text(struct http_headers *h)
{
    buf_putc(&h->text, '\0');
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* llhttp skips spaces before a value and keeps those after it. */
bool http_headers_end_line(struct http_headers *h, size_t max)
{
    if (++h->count > max)
        return false;
    while (is_space(h->text.bytes[h->text.len - 1])) /* the NUL of the name ends this loop */
        h->text.len--;
    http_headers_end_text(h);
    return true;
}

const char *http_headers_next_text(const char *text)
{
    return text + strlen(text) + 1; /* llhttp rejects NUL characters */
}

void http_headers_finish(struct http_headers *h, const char *first)
{
    const char *text = first;
    h->lines = xcalloc(h->count ? h->count : 1, sizeof(*h->lines));
    for (size_t i = 0; i < h->count; i++) {
        h->lines[i].name = text;
        h->lines[i].value = http_headers_next_text(text);
        text = http_headers_next_text(h->lines[i].value);
    }
}

void http_headers_clear(struct http_headers *h)
{
    buf_free(&h->text);
    free(h->lines);
    *h = (struct http_headers){0};
}
