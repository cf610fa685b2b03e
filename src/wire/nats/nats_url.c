/*
 * nats_url.c - parses the list from left to right.
 */
#include "wire/nats/nats_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "wire/http/server_url.h"

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
    if (inet_pton(AF_INET6, host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcasecmp(host, "localhost") == 0;
}

static int parse_scheme(const char **at, struct nats_urls *urls, struct inf_error *err)
{
    bool tls = strncasecmp(*at, "tls://", 6) == 0;
    if (!tls && strncasecmp(*at, "nats://", 7) != 0)
        return err_set(err, INF_ECONF,
                       "must start with tls:// or nats://; separate several servers with commas");
    *at += tls ? 6 : 7;
    if (urls->count && urls->tls != tls)
        return err_set(err, INF_ECONF, "use tls:// for all servers or for none");
    urls->tls = tls;
    return 0;
}

static int parse_server(const char *text, struct nats_urls *urls, struct inf_error *err)
{
    struct server_url u = {.port = NATS_PORT};
    const char *at = text;
    int rc = parse_scheme(&at, urls, err);
    if (rc == 0 && strchr(at, '@'))
        rc = err_set(err, INF_ECONF,
                     "must not contain a user or a password; use user and "
                     "password_file, or token_file");
    if (rc == 0)
        rc = server_url_parse_host(&at, &u, err);
    if (rc == 0 && *at && strcmp(at, "/") != 0)
        rc = err_set(err, INF_ECONF, "must end after the port");
    if (rc == 0) {
        urls->is_local = urls->is_local && is_loopback(u.host);
        urls->servers[urls->count++] =
            (struct nats_server){.host = xstrdup(u.host), .port = u.port};
    }
    server_url_free(&u);
    return rc;
}

int nats_urls_parse(const char *text, struct nats_urls *ret, struct inf_error *err)
{
    int rc = 0;
    *ret = (struct nats_urls){.is_local = true};
    for (bool more = true; rc == 0 && more;) {
        size_t len = strcspn(text, ",");
        char *one = xstrndup(text, len);
        if (ret->count == NATS_SERVERS_MAX)
            rc = err_set(err, INF_ECONF, "has more than %d servers", NATS_SERVERS_MAX);
        else
            rc = parse_server(one, ret, err);
        more = text[len] == ',';
        text += len + more;
        secret_free(one);
    }
    if (rc < 0)
        nats_urls_free(ret);
    return rc;
}

void nats_urls_free(struct nats_urls *urls)
{
    for (size_t i = 0; i < urls->count; i++)
        free(urls->servers[i].host);
    *urls = (struct nats_urls){0};
}
