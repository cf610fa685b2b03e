/*
 * server_url.h - the `server` of a cluster: https://host[:port][/prefix], or http.
 */
#ifndef KUBE_CONFIG_SERVER_URL_H
#define KUBE_CONFIG_SERVER_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

struct server_url {
    bool https;
    char *host;        /* a name, or an address without brackets; owned */
    uint16_t port;     /* 443 or 80 if not said */
    char *path_prefix; /* "" or "/k8s/clusters/c-1": before every path of the API; owned */
};

/*
 * Returns 0, or -INF_ECONF with what is wrong and what would be right. The text never repeats the
 * URL: one that has a password in it is among those refused.
 */
int server_url_parse(const char *url, struct server_url *ret, struct inf_error *err);

/* Only "host[:port]", of another URL: moves *@at behind it; u->port stays if none is said. What is
 * in @u is the caller's to free, also after an error. */
int server_url_parse_host(const char **at, struct server_url *u, struct inf_error *err);

void server_url_free(struct server_url *url);

#endif
