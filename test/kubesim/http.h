/*
 * http.h - one HTTP/1.1 request, taken apart. Only what a client of the API server sends: a body
 * has a Content-Length.
 */
#ifndef KUBESIM_HTTP_H
#define KUBESIM_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "params.h"

enum {
    HEAD_MAX = 64 * 1024,        /* LIMIT: request line and headers */
    BODY_MAX = 64 * 1024 * 1024, /* LIMIT: an object, or a control command's data */
};

struct request {
    char *method;
    char *target; /* path and query, as they came */
    char *path;   /* decoded is not needed: names of Kubernetes have nothing to decode */
    struct params query;
    char *token;  /* of Authorization: Bearer; NULL: none */
    char *accept; /* "" if there is none */
    bool gzip;    /* Accept-Encoding has the token gzip */
    bool close;   /* Connection: close */
    char *body;
    size_t body_len;
};

enum heard {
    HEARD_PART,
    HEARD_ALL,
    HEARD_NONSENSE,
};

/* Reads one request from the front of @bytes; on HEARD_ALL it took @ret_used of them. */
enum heard http_parse(struct request *r, const char *bytes, size_t len, size_t *ret_used);
void request_free(struct request *r);

#endif
