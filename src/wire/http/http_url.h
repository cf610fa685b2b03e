/*
 * http_url.h - the URL of a request: http or https, host, port, and path with query.
 */
#ifndef WIRE_HTTP_URL_H
#define WIRE_HTTP_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

enum {
    HTTP_URL_MAX = 4096, /* LIMIT: bytes of a URL */
};

/* Owned strings. */
struct http_url {
    bool https;
    char *host; /* a name, or an address without brackets */
    uint16_t port;
    char *host_header; /* "example.com", "[::1]:8080" */
    char *target;      /* path and query as written, at least "/" */
};

/*
 * Returns 0, or -INF_ECONF. The message never repeats the URL because it may contain a secret. A URL
 * with a user, a password or a fragment is refused.
 */
int http_url_parse(const char *text, struct http_url *ret, struct inf_error *err);

/* Overwrites the target. A zeroed struct is allowed. */
void http_url_free(struct http_url *url);

/* Whether the host is an address of this machine or localhost. */
bool http_url_is_local(const struct http_url *url);

#endif
