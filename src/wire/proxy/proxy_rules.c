/*
 * proxy_rules.c - proxy settings of the environment, interpreted as Go programs such as kubectl do
 * (golang.org/x/net/http/httpproxy; test/unit/wire/proxy/test_no_proxy.c compares).
 *
 * The server's scheme selects the variable: HTTPS_PROXY or HTTP_PROXY, upper case before lower
 * case. A value without a scheme is an http proxy. Loopback addresses are never reached through a
 * proxy. NO_PROXY lists further exceptions, separated by commas; blanks around an entry are
 * ignored:
 *
 *     *                       every server
 *     10.0.0.0/8  fd00::/8    addresses in this network; names are not resolved for this
 *     10.0.0.1    fd00::1     this address
 *     example.com             this name and all names that end with .example.com; never an address
 *     .example.com            only names that end with it; *.example.com means the same
 *     ...:6443                any of the last three, at this port; IPv6 addresses need brackets
 *
 * An IPv4-mapped IPv6 address (::ffff:10.0.0.1) is treated as the IPv4 address, also in a network.
 * Names that are not ASCII are compared in their DNS form (idna.h). Other entries match nothing.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text/idna.h"
#include "wire/proxy/proxy_url.h"

enum {
    ENTRY_MAX = 1024, /* LIMIT: bytes of one entry of the list; longer ones match nothing */
};

struct address {
    int len; /* 4 or 16; 0: it is a name */
    unsigned char bytes[16];
};

enum {
    MAPPED_LEN = 12, /* bytes before the IPv4 address in an IPv4-mapped IPv6 address */
};

static bool is_mapped(const struct address *a)
{
    static const unsigned char mapped[MAPPED_LEN] = {[10] = 0xFF, [11] = 0xFF};
    return a->len == 16 && memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

static void address_unmap(struct address *a)
{
    memmove(a->bytes, a->bytes + MAPPED_LEN, 4);
    a->len = 4;
}

static struct address parse_address(const char *text)
{
    struct address a = {0};
    if (inet_pton(AF_INET, text, a.bytes) == 1)
        a.len = 4;
    else if (inet_pton(AF_INET6, text, a.bytes) == 1)
        a.len = 16;
    return a;
}

/* Like parse_address(), but turns an IPv4-mapped IPv6 address into IPv4. */
static struct address parse_unmapped_address(const char *text)
{
    struct address a = parse_address(text);
    if (is_mapped(&a))
        address_unmap(&a);
    return a;
}

static bool is_loopback(const char *host)
{
    static const unsigned char v6[16] = {[15] = 1};
    struct address a = parse_unmapped_address(host);
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

struct network {
    struct address address;
    unsigned bits;
};

/* "10.0.0.0/8"; false if it is not a network. */
static bool read_network(const char *entry, struct network *ret)
{
    const char *slash = strchr(entry, '/');
    char *address = slash ? xstrndup(entry, (size_t)(slash - entry)) : NULL;
    unsigned long bits = slash ? strtoul(slash + 1, NULL, 10) : 0;
    if (!slash)
        return false;
    ret->address = parse_address(address);
    free(address);
    if (!slash[1] || slash[1 + strspn(slash + 1, "0123456789")] || !ret->address.len ||
        bits > (unsigned)ret->address.len * 8)
        return false;
    ret->bits = (unsigned)bits;
    if (is_mapped(&ret->address) && bits >= MAPPED_LEN * 8) {
        address_unmap(&ret->address);
        ret->bits -= MAPPED_LEN * 8;
    }
    return true;
}

/* Whether @host ends with "." and @name. */
static bool is_below(const char *host, const char *name)
{
    size_t len = strlen(host), end_len = strlen(name) + 1;
    const char *end = host + len - end_len;
    return len >= end_len && *end == '.' && strcasecmp(end + 1, name) == 0;
}

static bool matches_ascii_name(const char *entry, const char *host)
{
    if (strncmp(entry, "*.", 2) == 0)
        entry++;
    if (entry[0] == '.')
        return is_below(host, entry + 1);
    return strcasecmp(entry, host) == 0 || is_below(host, entry);
}

static bool host_name_matches(const char *entry, const char *host)
{
    struct buf ascii = {0};
    bool wildcard = strncmp(entry, "*.", 2) == 0, matches;
    const char *at = entry;
    while (*at && isascii((unsigned char)*at))
        at++;
    if (!*at)
        return matches_ascii_name(entry, host);
    matches = idna_to_ascii(&ascii, str_of(entry + wildcard)) == 0;
    buf_putc(&ascii, '\0');
    matches = matches && matches_ascii_name(ascii.bytes, host);
    buf_free(&ascii);
    return matches;
}

/*
 * Splits "host:port" or "[address]:port" in two, as Go's net.SplitHostPort does. NULL if there is
 * no port, or colons or brackets are misplaced; then @entry is unchanged.
 */
static char *split_port(char **entry)
{
    char *colon = strrchr(*entry, ':'), *close = strchr(*entry, ']');
    bool brackets = (*entry)[0] == '[';
    if (!colon || (brackets && (!close || close + 1 != colon)) ||
        (!brackets && strchr(*entry, ':') != colon) || strchr(*entry + brackets, '[') ||
        strchr(brackets ? colon : *entry, ']'))
        return NULL;
    if (brackets)
        *close = '\0';
    *colon = '\0';
    *entry += brackets;
    return colon + 1;
}

static bool entry_matches(char *entry, const char *host, uint16_t port)
{
    struct address a, b = parse_unmapped_address(host);
    struct network net;
    char *wanted, digits[8];
    if (strcmp(entry, "*") == 0)
        return true;
    if (read_network(entry, &net))
        return same_bits(&net.address, &b, net.bits);
    wanted = split_port(&entry);
    snprintf(digits, sizeof(digits), "%u", port);
    if (!entry[0] || (wanted && wanted[0] && strcmp(wanted, digits) != 0))
        return false; /* no port, or an empty one, matches any */
    a = parse_unmapped_address(entry);
    return a.len ? same_bits(&a, &b, (unsigned)a.len * 8)
                 : !b.len && host_name_matches(entry, host);
}

/* ---- the list ---- */

bool proxy_is_excluded(const char *list, const char *host, uint16_t port)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        struct str text = {list, len};
        char entry[ENTRY_MAX + 1];
        while (text.len && isspace((unsigned char)text.at[0]))
            text = (struct str){text.at + 1, text.len - 1};
        while (text.len && isspace((unsigned char)text.at[text.len - 1]))
            text.len--;
        if (text.len <= ENTRY_MAX) {
            memcpy(entry, text.at, text.len);
            entry[text.len] = '\0';
            if (entry_matches(entry, host, port))
                return true;
        }
        list += len + (list[len] == ',');
    }
    return false;
}

/* ---- the environment ---- */

static const char *getenv_either(const char *upper, const char *lower, const char **ret_name)
{
    const char *value = getenv(upper);
    *ret_name = value && value[0] ? upper : lower;
    return value && value[0] ? value : getenv(lower);
}

int proxy_from_env(bool https, const char *host, uint16_t port, struct proxy *ret,
                   struct inf_error *err)
{
    const char *name, *ignored;
    const char *url = https ? getenv_either("HTTPS_PROXY", "https_proxy", &name)
                            : getenv_either("HTTP_PROXY", "http_proxy", &name);
    const char *except = getenv_either("NO_PROXY", "no_proxy", &ignored);
    char *full;
    int rc;
    *ret = (struct proxy){0};
    if (!url || !url[0] || is_loopback(host) || (except && proxy_is_excluded(except, host, port)))
        return 0;
    /* The common form "proxy:3128" has no scheme. */
    full = strstr(url, "://") ? xstrdup(url) : xasprintf("http://%s", url);
    rc = proxy_url_parse(full, ret, err);
    secret_free(full);
    return rc < 0 ? err_wrap(err, "$%s", name) : 0;
}
