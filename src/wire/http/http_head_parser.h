/*
 * http_head_parser.h - what the parsers of responses (http_parser.c) and requests
 * (http_request_parser.c) share: llhttp, and the header lines it finds.
 *
 * Strings arrive in pieces and are stored one after the other, each NUL-terminated: first the
 * request target, if there is one, then names and values alternately. Pointers are made when the
 * head is complete. The parsers limit the total size.
 */
#ifndef WIRE_HTTP_HEAD_PARSER_H
#define WIRE_HTTP_HEAD_PARSER_H

#include <stdbool.h>

#include <llhttp.h>

#include "base/buf.h"
#include "wire/http/http_conn.h"

struct http_head_parser {
    llhttp_t http;
    llhttp_settings_t settings;
    llhttp_type_t type;
    size_t lines_max;
    bool complete; /* further lines are trailers: they are discarded */
    bool too_many; /* there are more than lines_max lines; llhttp was stopped with HPE_USER */
    struct buf text;
    size_t count;
    struct http_header *lines; /* pointers into the text, once the head is complete */
};

/* Embedded in its owner, which calls http_head_parser_start() before the first message. @callbacks
 * are those of the owner; the ones for header lines are added. */
void http_head_parser_init(struct http_head_parser *p, llhttp_type_t type, size_t lines_max,
                           const llhttp_settings_t *callbacks);

/* Prepares for the next message: no state is carried over. */
void http_head_parser_start(struct http_head_parser *p);

/* Callbacks for a text of the owner, such as the target: a piece, and the end. */
int http_head_parser_on_text(llhttp_t *http, const char *at, size_t len);
int http_head_parser_on_text_end(llhttp_t *http);

/* Makes the pointers. The first name is at @first. */
void http_head_parser_complete(struct http_head_parser *p, const char *first);

/* Frees the lines. */
void http_head_parser_clear(struct http_head_parser *p);

/* The string after @text. */
const char *http_head_parser_next_text(const char *text);

#endif
