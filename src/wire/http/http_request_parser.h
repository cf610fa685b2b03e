/*
 * http_request_parser.h - an incremental parser for HTTP/1.1 requests; a thin layer over llhttp.
 *
 * It makes no callbacks, and consumes no byte after the end of a request: the next request may
 * follow.
 *
 *     at += http_request_parser_feed(p, bytes + at, len - at, &result);
 *     REQUEST_MORE:      more bytes are needed
 *     REQUEST_COMPLETE:  http_request_parser_request(p); then http_request_parser_start(p) for the next
 *     REQUEST_BAD:       respond with http_request_parser_status(p), and close: the start of the next
 *                        request is not known
 *
 * A request that announces a body is refused: with 405 if it is neither GET nor HEAD. Other methods
 * are refused by the server. The only exception is a POST to the path of
 * http_request_parser_accept_post(), whose body is part of the request.
 */
#ifndef WIRE_HTTP_REQUEST_PARSER_H
#define WIRE_HTTP_REQUEST_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "wire/http/http_conn.h"

enum {
    HTTP_REQUEST_HEADERS_MAX = 100,     /* LIMIT: header lines in one request: 431 */
    HTTP_REQUEST_TARGET_MAX = 8 * 1024, /* LIMIT: bytes of a target: 414 */
    HTTP_REQUEST_BODY_MAX = 1024,       /* LIMIT: bytes of a body, where one is accepted: 413 */
};

/* The reason of 405. */
#define HTTP_METHODS_REFUSAL "only GET and HEAD are supported"

struct http_request_parser;

struct http_server_request {
    const char *method; /* "GET" */
    const char *target; /* as sent */
    const char *path;   /* decoded; begins with '/' */
    const char *query;  /* as sent: see http_query_get(); "" if there is none */
    const struct http_header *headers;
    size_t n_headers;
    struct str body; /* of an accepted POST; empty otherwise */
    bool head;       /* the method is HEAD: only the head of the response is sent */
    bool keep_alive; /* the client may send another request after this one */
    bool http_1_0;   /* the client does not support chunks */
};

enum http_request_result {
    REQUEST_MORE, /* more bytes are needed */
    REQUEST_COMPLETE,
    REQUEST_BAD,
};

/* @head_max: LIMIT: bytes of a request and of empty lines before it: 431. */
struct http_request_parser *http_request_parser_new(size_t head_max);
void http_request_parser_free(struct http_request_parser *p); /* NULL is allowed */

/* Accepts POST to @path, which is borrowed, with a body of at most HTTP_REQUEST_BODY_MAX bytes and a
 * Content-Length. */
void http_request_parser_accept_post(struct http_request_parser *p, const char *path);

/* Prepares for the next request and frees the last one. */
void http_request_parser_start(struct http_request_parser *p);

/* Returns the number of bytes consumed. After REQUEST_COMPLETE and REQUEST_BAD it consumes none. */
size_t http_request_parser_feed(struct http_request_parser *p, const char *bytes, size_t len,
                                enum http_request_result *ret_result);

/* After REQUEST_MORE: whether any byte of a request arrived, not counting empty lines before it. */
bool http_request_parser_began(const struct http_request_parser *p);

/* After REQUEST_COMPLETE: valid until start or free. */
const struct http_server_request *http_request_parser_request(const struct http_request_parser *p);

/* After REQUEST_BAD: 400, 405, 413, 414, 417, 431 or 505, and a short reason. */
int http_request_parser_status(const struct http_request_parser *p);
const char *http_request_parser_why(const struct http_request_parser *p);

/* The first header of that name, or NULL. */
const char *http_server_request_get(const struct http_server_request *request, const char *name);

/* Whether the client accepts a response in gzip. A quality value, which no Kubernetes client sends, means no, as
 * for kube-apiserver. */
bool http_accepts_gzip(const struct http_server_request *request);

#endif
