/*
 * server_url.h - the `server` of a cluster: https://host[:port][/prefix], or http.
 */
#ifndef WIRE_SERVER_URL_H
#define WIRE_SERVER_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

struct server_url {
    bool https;
    char *host;        /* a name, or an address without brackets; owned */
    uint16_t port;     /* default 443 or 80 */
    char *path_prefix; /* "" or "/k8s/clusters/c-1": precedes every API path; owned */
};

/*
 * Returns 0, or -INF_ECONF. The message never repeats the URL because it may contain a password; a
 * URL with a password is refused.
 */
int server_url_parse(const char *url, struct server_url *ret, struct inf_error *err);

/* Parses only "host[:port]", for other URLs: advances *@at past it; leaves u->port if no port is
 * given. The caller frees @u, also after an error. */
int server_url_parse_host(const char **at, struct server_url *u, struct inf_error *err);

void server_url_free(struct server_url *url);

#endif
