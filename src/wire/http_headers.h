/*
 * http_headers.h - the header lines of one head, collected from llhttp's callbacks.
 *
 * Texts come in pieces and are put one behind the other, each with a NUL at its end: names and values in turn, and before
 * them what else a head has. Only when all are there, pointers into them are made. How much comes is
 * for the parsers to limit.
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
    struct http_header *lines; /* into the text, once it is complete */
};

/* A piece of a name, a value, or what comes before them. */
void http_headers_put(struct http_headers *h, const char *at, size_t len);

/* The end of a name, or of what comes before them. */
void http_headers_end_text(struct http_headers *h);

/* The end of a value, and so of a line. False: that is more than @max lines. */
bool http_headers_end_line(struct http_headers *h, size_t max);

/* All is there; the first name is at @first. */
void http_headers_finish(struct http_headers *h, const char *first);

/* Holds nothing any more. */
void http_headers_clear(struct http_headers *h);

/* Behind a text and its NUL. */
const char *http_headers_next_text(const char *text);

#endif
