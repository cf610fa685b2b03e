/*
 * proxy_url.h - which proxy leads to a server, from a URL or from the environment.
 */
#ifndef KUBE_CONFIG_PROXY_URL_H
#define KUBE_CONFIG_PROXY_URL_H

#include <stdbool.h>

#include "informer/error.h"

#include "wire/proxy.h"

/*
 * Reads "http://[user:password@]host[:port]", https or socks5; ports are 80, 443 and 1080 if not
 * said. User and password may be %-escaped. Returns 0, or -INF_ECONF with what would be right; the
 * text never repeats the URL: a password may be in it.
 */
int proxy_url_parse(const char *url, struct proxy *ret, struct inf_error *err);

/*
 * What $HTTPS_PROXY or $HTTP_PROXY (by @https; or in lower case) and $NO_PROXY say for a server, by
 * the rules of Go's programs. @ret has no host if it is to be reached directly. Errors name the
 * variable.
 */
int proxy_from_env(bool https, const char *host, uint16_t port, struct proxy *ret,
                   struct inf_error *err);

/* Whether @list, a value of $NO_PROXY, names the server: see proxy_rules.c. */
bool proxy_is_excluded(const char *list, const char *host, uint16_t port);

/* Whether both lead the same way, as the same user. */
bool proxy_equal(const struct proxy *a, const struct proxy *b);

#endif
