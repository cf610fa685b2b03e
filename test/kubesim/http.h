/*
 * http.h - parses one HTTP/1.1 request. Only what clients of the API server send: a body has a
 * Content-Length.
 */
#ifndef KUBESIM_HTTP_H
#define KUBESIM_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "params.h"

enum {
    HEAD_MAX = 64 * 1024,        /* LIMIT: request line and headers */
    BODY_MAX = 64 * 1024 * 1024, /* LIMIT: an object, or the data of a control command */
};

struct request {
    char *method;
    char *target; /* path and query, as received */
    char *path;   /* not decoded: Kubernetes names need no escapes */
    struct params query;
    char *token;  /* of Authorization: Bearer; NULL: none */
    char *accept; /* "" if there is none */
    bool gzip;    /* Accept-Encoding has the token gzip */
    bool close;   /* Connection: close */
    char *body;
    size_t body_len;
};

enum parse_result {
    PARSE_PARTIAL,
    PARSE_DONE,
    PARSE_INVALID,
};

/* Reads one request from the front of @bytes; on PARSE_DONE it used @ret_used of them. */
enum parse_result http_parse(struct request *r, const char *bytes, size_t len, size_t *ret_used);
void request_free(struct request *r);

#endif
