/*
 * http_url.c - parses a URL from left to right: scheme, host, port, path and query. Fails with INF_ECONF.
 */
#include "wire/http/http_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "wire/http/server_url.h"

static int check_target(const char *target, struct inf_error *err)
{
    for (const char *at = target; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '#')
            return err_set(err, INF_ECONF, "must not contain a fragment (#)");
        if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}", c))
            return err_set(err, INF_ECONF,
                           "path or query contains a character that must be escaped as %%xx");
    }
    return 0;
}

static char *host_header_of(const struct server_url *u)
{
    bool usual = u->port == (u->https ? 443 : 80), v6 = strchr(u->host, ':');
    const char *open = v6 ? "[" : "", *close = v6 ? "]" : "";
    return usual ? xasprintf("%s%s%s", open, u->host, close)
                 : xasprintf("%s%s%s:%u", open, u->host, close, u->port);
}

int http_url_parse(const char *text, struct http_url *ret, struct inf_error *err)
{
    const char *host = strstr(text, "://"), *end;
    struct server_url server;
    char *origin;
    int rc;
    if (strlen(text) > HTTP_URL_MAX)
        return err_set(err, INF_ECONF, "exceeds %d bytes", HTTP_URL_MAX);
    end = host ? host + 3 + strcspn(host + 3, "/?#") : text + strlen(text);
    rc = check_target(end, err);
    if (rc < 0)
        return rc;
    origin = xstrndup(text, (size_t)(end - text));
    rc = strchr(origin, '@')
             ? err_set(err, INF_ECONF, "must not contain a user name or password; use a header")
             : server_url_parse(origin, &server, err);
    secret_free(origin);
    if (rc < 0)
        return rc;
    *ret = (struct http_url){
        .https = server.https,
        .host = xstrdup(server.host),
        .port = server.port,
        .host_header = host_header_of(&server),
        .target = *end == '/' ? xstrdup(end) : xasprintf("/%s", end),
    };
    server_url_free(&server);
    return 0;
}

void http_url_free(struct http_url *url)
{
    free(url->host);
    free(url->host_header);
    secret_free(url->target);
    *url = (struct http_url){0};
}

bool http_url_is_local(const struct http_url *url)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, url->host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
    if (inet_pton(AF_INET6, url->host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcasecmp(url->host, "localhost") == 0;
}
