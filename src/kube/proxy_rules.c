/*
 * proxy_rules.c - what the environment says about proxies, as Go's programs read it, kubectl being
 * one.
 *
 * The server's scheme picks the variable: HTTPS_PROXY or HTTP_PROXY, in upper case before lower case.
 * A value without a scheme is an http proxy. This host itself is never asked for through a proxy.
 * NO_PROXY is a list, by commas (or blanks), of what is not either:
 *
 *     *                       everything
 *     10.0.0.0/8  fd00::/8    addresses in it; names are not resolved for that
 *     10.0.0.1    [::1]       this address
 *     example.com             this name, and all names that end with .example.com; no address does
 *     .example.com            only those; also *.example.com
 *     ...:6443                any of the last three, at this port
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/proxy_url.h"

enum {
    ENTRY_MAX =
        300, /* LIMIT: of one entry of the list: a DNS name and a port; others match nothing */
};

/* An address; one of IPv4 in the clothes of IPv6 is one of IPv4. */
struct address {
    int len; /* 4 or 16; 0: it is a name */
    unsigned char bytes[16];
};

static struct address address_of(const char *text)
{
    static const unsigned char mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    struct address a = {0};
    if (inet_pton(AF_INET, text, a.bytes) == 1) {
        a.len = 4;
    } else if (inet_pton(AF_INET6, text, a.bytes) == 1) {
        a.len = 16;
        if (memcmp(a.bytes, mapped, sizeof(mapped)) == 0) {
            memmove(a.bytes, a.bytes + sizeof(mapped), 4);
            a.len = 4;
        }
    }
    return a;
}

static bool is_loopback(const char *host)
{
    static const unsigned char v6[16] = {[15] = 1};
    struct address a = address_of(host);
    return strcmp(host, "localhost") == 0 || (a.len == 4 && a.bytes[0] == 127) ||
           (a.len == 16 && memcmp(a.bytes, v6, sizeof(v6)) == 0);
}

static bool same_bits(const struct address *a, const struct address *b, unsigned bits)
{
    unsigned bytes = bits / 8, rest = bits % 8;
    if (a->len != b->len || memcmp(a->bytes, b->bytes, bytes) != 0)
        return false;
    return !rest || (a->bytes[bytes] ^ b->bytes[bytes]) >> (8 - rest) == 0;
}

/* ---- one entry ---- */

static bool net_matches(const char *net, const char *bits, const char *host)
{
    struct address in = address_of(net), a = address_of(host);
    unsigned long n = strtoul(bits, NULL, 10);
    if (!bits[0] || bits[strspn(bits, "0123456789")] || !in.len || n > (unsigned)in.len * 8)
        return false;
    return same_bits(&in, &a, (unsigned)n);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len > end_len && strcasecmp(text + len - end_len, end) == 0;
}

static bool name_matches(const char *entry, const char *host)
{
    if (strncmp(entry, "*.", 2) == 0)
        entry++;
    if (entry[0] == '.')
        return ends_with(host, entry);
    if (strcasecmp(entry, host) == 0)
        return true;
    return ends_with(host, entry) && host[strlen(host) - strlen(entry) - 1] == '.';
}

static bool host_matches(const char *entry, const char *host)
{
    struct address a = address_of(entry), b = address_of(host);
    if (a.len)
        return same_bits(&a, &b, (unsigned)a.len * 8);
    return entry[0] && !b.len && name_matches(entry, host);
}

/* Cuts the port off "host:port" or "[address]:port", and the brackets. NULL: there is none. */
static char *cut_port(char **text)
{
    char *end = address_of(*text).len ? NULL : strrchr(*text, ':');
    if ((*text)[0] == '[' && (end = strchr(*text, ']'))) {
        ++*text;
        *end++ = '\0';
    }
    if (!end || *end != ':')
        return NULL;
    *end = '\0';
    return end + 1;
}

/* By its digits; none are any port. */
static bool port_matches(const char *wanted, uint16_t port)
{
    char text[8];
    snprintf(text, sizeof(text), "%u", port);
    return !wanted || !wanted[0] || strcmp(wanted, text) == 0;
}

static bool entry_matches(char *entry, const char *host, uint16_t port)
{
    char *slash = strchr(entry, '/'), *wanted;
    if (strcmp(entry, "*") == 0)
        return true;
    if (slash) {
        *slash = '\0';
        return net_matches(entry, slash + 1, host);
    }
    wanted = cut_port(&entry);
    return host_matches(entry, host) && port_matches(wanted, port);
}

/* ---- the list ---- */

bool proxy_is_excluded(const char *list, const char *host, uint16_t port)
{
    while (*list) {
        char entry[ENTRY_MAX + 1];
        size_t len;
        list += strspn(list, ", \t");
        len = strcspn(list, ", \t");
        if (len <= ENTRY_MAX) {
            memcpy(entry, list, len);
            entry[len] = '\0';
            if (entry_matches(entry, host, port))
                return true;
        }
        list += len;
    }
    return false;
}

/* ---- the environment ---- */

static const char *value_of(const char *upper, const char *lower, const char **ret_name)
{
    const char *value = getenv(upper);
    *ret_name = value && value[0] ? upper : lower;
    return value && value[0] ? value : getenv(lower);
}

/* "proxy:3128" is how many write it. */
static int parse_loosely(const char *text, struct proxy *ret, struct inf_error *err)
{
    char *url;
    int rc;
    if (strstr(text, "://"))
        return proxy_url_parse(text, ret, err);
    url = xasprintf("http://%s", text);
    rc = proxy_url_parse(url, ret, err);
    secret_free(url);
    return rc;
}

int proxy_from_env(bool https, const char *host, uint16_t port, struct proxy *ret,
                   struct inf_error *err)
{
    const char *name, *ignored;
    const char *url = https ? value_of("HTTPS_PROXY", "https_proxy", &name)
                            : value_of("HTTP_PROXY", "http_proxy", &name);
    const char *except = value_of("NO_PROXY", "no_proxy", &ignored);
    *ret = (struct proxy){0};
    if (!url || !url[0] || is_loopback(host) || (except && proxy_is_excluded(except, host, port)))
        return 0;
    return parse_loosely(url, ret, err) < 0 ? err_wrap(err, "$%s", name) : 0;
}
