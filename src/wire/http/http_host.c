/*
 * http_host.c - checks the host that a request is addressed to.
 *
 * Reads "host", "host:port" and "[address]:port", and compares the host with what is allowed. Anything
 * else is not allowed.
 */
#include "wire/http/http_host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "wire/http/http_target.h"

enum {
    HOST_MAX = 255, /* LIMIT: length of a DNS name; longer ones are not allowed */
};

static bool is_port(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isdigit((unsigned char)text.at[i]))
            return false;
    return true;
}

/* The host in @authority, without brackets and without a trailing dot; false if it is invalid. */
static bool read_host(struct str authority, char ret[HOST_MAX + 1], bool *ret_brackets)
{
    const char *end, *after = authority.at + authority.len;
    size_t len;
    *ret_brackets = authority.at[0] == '[';
    end = memchr(authority.at, *ret_brackets ? ']' : ':', authority.len);
    if (*ret_brackets && !end)
        return false;
    len = end ? (size_t)(end - authority.at) : authority.len;
    end = authority.at + len + *ret_brackets;
    if (len > HOST_MAX ||
        (end < after &&
         (*end != ':' || !is_port((struct str){end + 1, (size_t)(after - end - 1)}))))
        return false;
    memcpy(ret, authority.at + *ret_brackets, len - *ret_brackets);
    ret[len - *ret_brackets] = '\0';
    if (len > 1 && ret[len - 1 - *ret_brackets] == '.')
        ret[len - 1 - *ret_brackets] = '\0';
    return true;
}

static bool is_allowed(struct str authority, char *const *names, size_t n_names)
{
    unsigned char address[sizeof(struct in6_addr)];
    char host[HOST_MAX + 1];
    bool brackets;
    if (!authority.len)
        return true;
    if (!read_host(authority, host, &brackets))
        return false;
    if (brackets)
        return inet_pton(AF_INET6, host, address) == 1;
    if (inet_pton(AF_INET, host, address) == 1 || strcasecmp(host, "localhost") == 0)
        return true;
    for (size_t i = 0; i < n_names; i++)
        if (strcasecmp(host, names[i]) == 0)
            return true;
    return false;
}

bool http_host_is_allowed(const struct http_server_request *request, char *const *names,
                          size_t n_names)
{
    return is_allowed(http_target_authority(request->target), names, n_names) &&
           is_allowed(str_of(http_server_request_get(request, "Host")), names, n_names);
}
