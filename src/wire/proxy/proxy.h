/*
 * proxy.h - a connection through a proxy, as a filter: a stream over the stream to the proxy.
 *
 *      wire/tls            to the server, end to end: not visible to the proxy
 *      wire/proxy          requests a connection from the proxy, then hands its stream over
 *      [wire/tls           to an https proxy]
 *      loop/tcp            to the proxy
 *
 * Opens when the proxy reports that it has reached the server. Errors before that name the proxy
 * and its response; no text contains its user or password.
 */
#ifndef WIRE_PROXY_H
#define WIRE_PROXY_H

#include "base/scrubber.h"
#include "seam/clock.h"
#include "seam/stream.h"

enum proxy_kind {
    PROXY_HTTP,  /* HTTP CONNECT */
    PROXY_HTTPS, /* HTTP CONNECT over TLS */
    PROXY_SOCKS5,
};

enum {
    PROXY_LOGIN_MAX = 255, /* LIMIT: bytes of a user or a password, by SOCKS5 */
};

/* Owned strings. */
struct proxy {
    enum proxy_kind kind;
    char *host; /* a name, or an address without brackets; NULL: no proxy */
    uint16_t port;
    char *user; /* NULL: no login */
    char *password;
};

/* Adds @proxy's password, and the login as it is sent, to @scrubber. Has no effect without a
 * user. */
void proxy_hide_login(const struct proxy *proxy, struct scrubber *scrubber);

/* Frees the strings; overwrites user and password. A zeroed struct is allowed. */
void proxy_free(struct proxy *proxy);

/* Dials @proxy with @lower and requests a connection to the dialled host, whose name the proxy
 * resolves. All members are borrowed and must outlive the streams. */
struct proxy_dialer {
    struct dialer dialer;
    struct dialer *lower; /* TCP; for an https proxy, TLS over TCP */
    struct clock *clock;
    const struct proxy *proxy;
};

void proxy_dialer_init(struct proxy_dialer *d, struct dialer *lower, struct clock *clock,
                       const struct proxy *proxy);

#endif
