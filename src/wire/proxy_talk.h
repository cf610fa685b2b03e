/*
 * proxy_talk.h - the dialogue with a proxy before it passes bytes through.
 *
 *     proxy_http_begin(&talk);                          fills talk.out, to be sent
 *     rc = proxy_http_next(&talk, &input, &err);        1: connected; 0: more input is needed
 *
 * Each protocol has these two functions. They consume from @input only the proxy's own response,
 * and leave what is to be sent next in talk.out. They make no callbacks.
 */
#ifndef WIRE_PROXY_TALK_H
#define WIRE_PROXY_TALK_H

#include "base/buf.h"
#include "base/str.h"
#include "wire/proxy.h"

struct proxy_talk {
    const struct proxy *proxy;
    char *name; /* of the proxy, for messages: host:port */
    char *host; /* the destination */
    uint16_t port;
    char *target;  /* the destination as host:port */
    int step;      /* of the protocol */
    struct buf in; /* the part of a response that has arrived */
    struct buf out;
};

void proxy_http_begin(struct proxy_talk *talk);
int proxy_http_next(struct proxy_talk *talk, struct str *input, struct inf_error *err);

void proxy_socks_begin(struct proxy_talk *talk);
int proxy_socks_next(struct proxy_talk *talk, struct str *input, struct inf_error *err);

/* Sets @err to "proxy HOST:PORT ..." and returns -@code. */
__attribute__((format(printf, 4, 5))) int proxy_error(const struct proxy_talk *talk,
                                                      struct inf_error *err, int code,
                                                      const char *fmt, ...);

#endif
