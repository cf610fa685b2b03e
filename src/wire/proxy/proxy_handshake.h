/*
 * proxy_handshake.h - requests a connection from a proxy. Shared by the proxy*.c files.
 *
 *     protocol->begin(&h);                              fills h.out, to be sent
 *     rc = protocol->next(&h, &input, &err);            1: connected; 0: more input is needed; or an error
 *
 * A protocol consumes from @input only the proxy's own response, and leaves what is to be sent next
 * in h.out. It makes no callbacks. Adding one: its file, and a row in the table of proxy.c.
 */
#ifndef WIRE_PROXY_HANDSHAKE_H
#define WIRE_PROXY_HANDSHAKE_H

#include "base/buf.h"
#include "base/str.h"
#include "wire/proxy/proxy.h"

struct proxy_handshake {
    const struct proxy *proxy;
    char *name; /* of the proxy, for messages: host:port */
    char *host; /* the destination */
    uint16_t port;
    char *target;  /* the destination as host:port */
    int step;      /* of the protocol */
    struct buf in; /* the part of a response that has arrived */
    struct buf out;
};

struct proxy_protocol {
    void (*begin)(struct proxy_handshake *h);
    int (*next)(struct proxy_handshake *h, struct str *input, struct inf_error *err);
};

extern const struct proxy_protocol proxy_http_protocol;
extern const struct proxy_protocol proxy_socks_protocol;

/* Sets @err to "proxy HOST:PORT ..." and returns -@code. */
__attribute__((format(printf, 4, 5))) int proxy_error(const struct proxy_handshake *h,
                                                      struct inf_error *err, int code,
                                                      const char *fmt, ...);

#endif
