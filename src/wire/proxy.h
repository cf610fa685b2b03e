/*
 * proxy.h - a connection by way of a proxy, as a filter: a stream over the stream to the proxy.
 *
 *      wire/tls            to the server, end to end: the proxy sees none of it
 *      wire/proxy          asks the proxy to connect us, then passes bytes on as they are
 *      [wire/tls           to an https proxy]
 *      loop/tcp            to the proxy
 *
 * Opens when the proxy says that it has reached the server. Until then everything ends with a
 * sentence that names the proxy and what it said; its user and password are in no text.
 */
#ifndef WIRE_PROXY_H
#define WIRE_PROXY_H

#include "base/scrubber.h"
#include "seam/clock.h"
#include "seam/stream.h"

enum proxy_kind {
    PROXY_HTTP,  /* HTTP CONNECT */
    PROXY_HTTPS, /* the same, by TLS */
    PROXY_SOCKS5,
};

enum {
    PROXY_LOGIN_MAX = 255, /* LIMIT: bytes of a user or a password; SOCKS5 has no room for more */
};

/* Owned strings. */
struct proxy {
    enum proxy_kind kind;
    char *host; /* a name, or an address without brackets; NULL: there is no proxy */
    uint16_t port;
    char *user; /* NULL: it wants none */
    char *password;
};

/* Adds @proxy's password, and the login as it is sent, to what @scrubber removes. Does nothing if it has no
 * user. */
void proxy_hide_login(const struct proxy *proxy, struct scrubber *scrubber);

/* Overwrites the password. A zeroed one is fine. */
void proxy_free(struct proxy *proxy);

/* Dials @proxy by @lower, and has it connect to whatever is dialled; the name is resolved there.
 * All is borrowed and must outlive its streams. */
struct proxy_dialer {
    struct dialer dialer;
    struct dialer *lower; /* TCP; for an https proxy TLS over it */
    struct clock *clock;
    const struct proxy *proxy;
};

void proxy_dialer_init(struct proxy_dialer *d, struct dialer *lower, struct clock *clock,
                       const struct proxy *proxy);

#endif
