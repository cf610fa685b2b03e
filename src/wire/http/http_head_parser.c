/*
 * http_head_parser.c - collects header lines from llhttp's callbacks as NUL-terminated strings in one
 * buffer.
 *
 * Stops llhttp with HPE_USER if there are too many lines; everything else that is wrong is found by
 * llhttp or by the owner.
 */
#include "wire/http/http_head_parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

static struct http_head_parser *head_parser_of(llhttp_t *http)
{
    return container_of(http, struct http_head_parser, http);
}

int http_head_parser_on_text(llhttp_t *http, const char *at, size_t len)
{
    struct http_head_parser *p = head_parser_of(http);
    if (!p->complete)
        buf_put(&p->text, at, len);
    return 0;
}

int http_head_parser_on_text_end(llhttp_t *http)
{
    struct http_head_parser *p = head_parser_of(http);
    if (!p->complete)
        buf_putc(&p->text, '\0');
    return 0;
}

/* Ends a value, and with it a line. llhttp skips spaces before a value and keeps those after it. */
static int head_parser_on_value_end(llhttp_t *http)
{
    struct http_head_parser *p = head_parser_of(http);
    if (p->complete)
        return 0;
    if (++p->count > p->lines_max) {
        p->too_many = true;
        return HPE_USER;
    }
    while (p->text.bytes[p->text.len - 1] == ' ' || p->text.bytes[p->text.len - 1] == '\t')
        p->text.len--; /* ends at the NUL of the name at the latest */
    buf_putc(&p->text, '\0');
    return 0;
}

void http_head_parser_init(struct http_head_parser *p, llhttp_type_t type, size_t lines_max,
                           const llhttp_settings_t *callbacks)
{
    *p = (struct http_head_parser){.type = type, .lines_max = lines_max, .settings = *callbacks};
    p->settings.on_header_field = http_head_parser_on_text;
    p->settings.on_header_field_complete = http_head_parser_on_text_end;
    p->settings.on_header_value = http_head_parser_on_text;
    p->settings.on_header_value_complete = head_parser_on_value_end;
}

void http_head_parser_start(struct http_head_parser *p)
{
    llhttp_init(&p->http, p->type, &p->settings);
    http_head_parser_clear(p);
    p->complete = p->too_many = false;
}

const char *http_head_parser_next_text(const char *text)
{
    return text + strlen(text) + 1; /* llhttp rejects NUL characters */
}

void http_head_parser_complete(struct http_head_parser *p, const char *first)
{
    const char *text = first;
    p->complete = true;
    p->lines = xcalloc(p->count ? p->count : 1, sizeof(*p->lines));
    for (size_t i = 0; i < p->count; i++) {
        p->lines[i].name = text;
        p->lines[i].value = http_head_parser_next_text(text);
        text = http_head_parser_next_text(p->lines[i].value);
    }
}

void http_head_parser_clear(struct http_head_parser *p)
{
    buf_free(&p->text);
    free(p->lines);
    p->lines = NULL;
    p->count = 0;
}
