/*
 * http_headers.h - the header lines of one head, collected from llhttp's callbacks.
 *
 * Strings arrive in pieces and are stored one after the other, each NUL-terminated: first the
 * request target, if there is one, then names and values alternately. Pointers are made when all
 * are complete. The parsers limit the total size.
 */
#ifndef WIRE_HTTP_HEADERS_H
#define WIRE_HTTP_HEADERS_H

#include <stdbool.h>

#include "base/buf.h"
#include "wire/http_conn.h"

/* A zeroed struct is empty. */
struct http_headers {
    struct buf text;
    size_t count;
    struct http_header *lines; /* pointers into the text, once it is complete */
};

/* Appends a piece of a name, a value, or the target. */
void http_headers_put(struct http_headers *h, const char *at, size_t len);

/* Ends a name or the target. */
void http_headers_end_text(struct http_headers *h);

/* Ends a value, and with it a line. Returns false if there are more than @max lines. */
bool http_headers_end_line(struct http_headers *h, size_t max);

/* Makes the pointers. The first name is at @first. */
void http_headers_finish(struct http_headers *h, const char *first);

/* Frees everything. */
void http_headers_clear(struct http_headers *h);

/* The string after @text. */
const char *http_headers_next_text(const char *text);

#endif
