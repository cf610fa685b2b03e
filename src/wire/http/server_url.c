/*
 * server_url.c - parses the URL of a server from left to right: scheme, host, port, prefix.
 *
 *     https://[2001:db8::1]:6443/k8s/clusters/c-1/
 *     scheme   host         port path prefix (without the last slash)
 *
 * Stricter than client-go, which accepts a URL without a scheme and drops a query: an ambiguous URL
 * is refused with INF_ECONF.
 */
#include "wire/http/server_url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    HOST_MAX = 253, /* LIMIT: of a DNS name */
    PORT_HTTPS = 443,
    PORT_HTTP = 80,
};

static int parse_ipv6_address(const char **at, struct server_url *u, struct inf_error *err)
{
    struct in6_addr address;
    size_t len = strcspn(*at, "]");
    if ((*at)[len] != ']')
        return err_set(err, INF_ECONF, "']' is missing after the IPv6 address");
    u->host = xstrndup(*at + 1, len - 1);
    if (inet_pton(AF_INET6, u->host, &address) != 1)
        return err_set(err, INF_ECONF, "needs an IPv6 address between '[' and ']'");
    *at += len + 1;
    return 0;
}

static int parse_host_name(const char **at, struct server_url *u, struct inf_error *err)
{
    size_t len = strcspn(*at, ":/");
    if (len == 0)
        return err_set(err, INF_ECONF, "host name is missing");
    if (len > HOST_MAX)
        return err_set(err, INF_ECONF, "host name exceeds %d characters", HOST_MAX);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)(*at)[i];
        if (!isascii(c) || (!isalnum(c) && !strchr("-._", c)))
            return err_set(err, INF_ECONF,
                           "host name contains characters other than a-z 0-9 - . _");
    }
    u->host = xstrndup(*at, len);
    *at += len;
    return 0;
}

int server_url_parse_host(const char **at, struct server_url *u, struct inf_error *err)
{
    int rc = **at == '[' ? parse_ipv6_address(at, u, err) : parse_host_name(at, u, err);
    unsigned long port = 0;
    size_t len;
    if (rc || **at != ':')
        return rc;
    len = strspn(++*at, "0123456789");
    if (len >= 1 && len <= 5)
        port = strtoul(*at, NULL, 10);
    *at += len;
    if (port < 1 || port > UINT16_MAX || (**at && **at != '/'))
        return err_set(err, INF_ECONF,
                       "port after ':' must be 1 to 65535 (an IPv6 address needs brackets)");
    u->port = (uint16_t)port;
    return 0;
}

static int parse_path_prefix(const char *at, struct server_url *u, struct inf_error *err)
{
    size_t len = strlen(at);
    if (*at && *at != '/')
        return err_set(err, INF_ECONF, "only ':' or '/' may follow the host");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c <= ' ' || c >= 0x7F || strchr("\"<>\\^`{|}", c))
            return err_set(err, INF_ECONF,
                           "path contains a character that must be escaped as %%xx");
    }
    while (len && at[len - 1] == '/')
        len--;
    u->path_prefix = xstrndup(at, len);
    return 0;
}

int server_url_parse(const char *url, struct server_url *ret, struct inf_error *err)
{
    struct server_url u = {.https = strncasecmp(url, "https://", 8) == 0};
    int rc;
    if (!u.https && strncasecmp(url, "http://", 7) != 0)
        return err_set(err, INF_ECONF, "must begin with https:// or http://");
    u.port = u.https ? PORT_HTTPS : PORT_HTTP;
    url += u.https ? 8 : 7;
    /* Checked first because these change how the rest is read. */
    if (strcspn(url, "@") < strcspn(url, "/?#"))
        return err_set(err, INF_ECONF,
                       "must not contain a user name or password; put credentials into the user "
                       "entry");
    if (strpbrk(url, "?#"))
        return err_set(err, INF_ECONF, "must not contain a query (?) or a fragment (#)");
    rc = server_url_parse_host(&url, &u, err);
    if (!rc)
        rc = parse_path_prefix(url, &u, err);
    if (rc) {
        server_url_free(&u);
        return rc;
    }
    *ret = u;
    return 0;
}

void server_url_free(struct server_url *url)
{
    free(url->host);
    free(url->path_prefix);
    *url = (struct server_url){0};
}
