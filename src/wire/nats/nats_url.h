/*
 * nats_url.h - the servers of NATS: "tls://a.example.com:4222,tls://b.example.com", or nats:// without TLS.
 */
#ifndef WIRE_NATS_URL_H
#define WIRE_NATS_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

enum {
    NATS_SERVERS_MAX = 16, /* LIMIT: servers of a cluster */
    NATS_PORT = 4222,      /* if none is written */
};

struct nats_server {
    char *host; /* a name, or an address without brackets; owned */
    uint16_t port;
};

struct nats_urls {
    struct nats_server servers[NATS_SERVERS_MAX];
    size_t count;
    bool tls;      /* all of them, or none */
    bool is_local; /* all hosts are addresses of this machine or localhost */
};

/* Returns 0, or -INF_ECONF with the remedy. The message never repeats the text, which may contain a password by
 * mistake: a URL with one is refused. */
int nats_urls_parse(const char *text, struct nats_urls *ret, struct inf_error *err);

/* A zeroed struct is allowed. */
void nats_urls_free(struct nats_urls *urls);

#endif
