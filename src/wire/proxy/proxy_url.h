/*
 * proxy_url.h - the proxy to use for a server, from a URL or from the environment.
 */
#ifndef WIRE_PROXY_URL_H
#define WIRE_PROXY_URL_H

#include <stdbool.h>

#include "informer/error.h"

#include "wire/proxy/proxy.h"

/*
 * Parses "http://[user:password@]host[:port]", https or socks5; the default ports are 80, 443 and
 * 1080. User and password may be %-escaped. Returns 0, or -INF_ECONF. The message never repeats the
 * URL because it may contain a password.
 */
int proxy_url_parse(const char *url, struct proxy *ret, struct inf_error *err);

/*
 * The proxy for a server according to $HTTPS_PROXY or $HTTP_PROXY (selected by @https; also in
 * lower case) and $NO_PROXY, by the rules of Go programs. @ret has no host if the connection is
 * direct. Returns 0, or -INF_ECONF with a message that names the variable.
 */
int proxy_from_env(bool https, const char *host, uint16_t port, struct proxy *ret,
                   struct inf_error *err);

/* Whether @list, a value of $NO_PROXY, matches the server: see proxy_rules.c. */
bool proxy_is_excluded(const char *list, const char *host, uint16_t port);

/* Whether both are the same proxy with the same login. */
bool proxy_equal(const struct proxy *a, const struct proxy *b);

#endif
