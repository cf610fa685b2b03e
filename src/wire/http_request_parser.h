/*
 * http_request_parser.h - requests of HTTP/1.1 clients, cut out of the bytes as they come; a thin
 * cover over llhttp.
 *
 * It calls nobody, and takes no byte beyond the end of a request: what follows is the next one.
 *
 *     at += http_request_parser_feed(p, bytes + at, len - at, &answer);
 *     ASKED_MORE:    come back with more bytes
 *     ASKED:         http_request_parser_request(p); then http_request_parser_start(p) for the next
 *     ASKED_BAD:     answer with http_request_parser_status(p), and close: nobody can tell where
 *                    the next request would begin
 *
 * Requests have no body here: one that announces a body is refused. Methods are the server's to
 * judge.
 */
#ifndef WIRE_HTTP_REQUEST_PARSER_H
#define WIRE_HTTP_REQUEST_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/http_conn.h"

enum {
    HTTP_ASK_HEADERS_MAX = 100,     /* LIMIT: header lines in one request: 431 */
    HTTP_ASK_TARGET_MAX = 8 * 1024, /* LIMIT: bytes of a target: 414 */
};

struct http_request_parser;

struct http_server_request {
    const char *method; /* "GET" */
    const char *target; /* as it came */
    const char *path;   /* decoded; begins with '/' */
    const char *query;  /* as it came: see http_query_get(); "" if there is none */
    const struct http_header *headers;
    size_t n_headers;
    bool head;       /* the method is HEAD: nothing but the head of an answer will be sent */
    bool keep_alive; /* the client would send another request after this one */
    bool http_1_0;   /* it does not know chunks */
};

enum http_asked {
    ASKED_MORE,
    ASKED,
    ASKED_BAD,
};

/* @head_max: LIMIT for all bytes of a request, and those before it: 431. */
struct http_request_parser *http_request_parser_new(size_t head_max);
void http_request_parser_free(struct http_request_parser *p); /* NULL is fine */

/* Gets ready for a request, forgetting the last one. */
void http_request_parser_start(struct http_request_parser *p);

/* Returns how many bytes were used up. After ASKED and ASKED_BAD it takes none. */
size_t http_request_parser_feed(struct http_request_parser *p, const char *bytes, size_t len,
                                enum http_asked *ret_asked);

/* After ASKED_MORE: whether any byte of a request has come, blank lines before it aside. */
bool http_request_parser_began(const struct http_request_parser *p);

/* After ASKED: good until start or free. */
const struct http_server_request *http_request_parser_request(const struct http_request_parser *p);

/* After ASKED_BAD: 400, 413, 414, 417, 431 or 505, and why in a few words. */
int http_request_parser_status(const struct http_request_parser *p);
const char *http_request_parser_why(const struct http_request_parser *p);

/* The first header of that name, or NULL. */
const char *http_server_request_get(const struct http_server_request *request, const char *name);

#endif
