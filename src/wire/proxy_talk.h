/*
 * proxy_talk.h - what is said between us and a proxy before it passes bytes on.
 *
 *     proxy_http_begin(&talk);                          fills talk.out: to be sent
 *     rc = proxy_http_next(&talk, &input, &err);        1: connected; 0: go on with what comes next
 *
 * The same two for each protocol; they take from @input no more than is the proxy's own answer, and
 * what is to be sent then is in talk.out. Neither calls anybody.
 */
#ifndef WIRE_PROXY_TALK_H
#define WIRE_PROXY_TALK_H

#include "base/buf.h"
#include "base/str.h"
#include "wire/proxy.h"

struct proxy_talk {
    const struct proxy *proxy;
    char *name; /* of the proxy, for texts: host:port */
    char *host; /* where we want to go */
    uint16_t port;
    char *target;  /* the same: host:port */
    int step;      /* of the protocol */
    struct buf in; /* the part of an answer that has come */
    struct buf out;
};

void proxy_http_begin(struct proxy_talk *talk);
int proxy_http_next(struct proxy_talk *talk, struct str *input, struct inf_error *err);

void proxy_socks_begin(struct proxy_talk *talk);
int proxy_socks_next(struct proxy_talk *talk, struct str *input, struct inf_error *err);

/* Says "proxy HOST:PORT ..."; returns -@code. */
__attribute__((format(printf, 4, 5))) int proxy_error(const struct proxy_talk *talk,
                                                      struct inf_error *err, int code,
                                                      const char *fmt, ...);

#endif
