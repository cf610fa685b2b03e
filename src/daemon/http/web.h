/*
 * web.h - health and metrics by HTTP, on a TCP address and on a Unix socket, the same on both.
 *
 *     /livez              the loop turns
 *     /readyz[?verbose]   every watch is there and fresh
 *     /metrics            numbers, as Prometheus reads them
 */
#ifndef DAEMON_HTTP_WEB_H
#define DAEMON_HTTP_WEB_H

#include "informer/error.h"

#include "daemon/conf/conf.h"
#include "loop/listen.h"
#include "wire/http_server.h"

struct daemon;

/* A place to listen, with connections of its own: what is in use, and what was prepared. */
struct web_place {
    struct http_server_user user;
    struct listener_user accept;
    struct web *web;
    struct http_server *server;
    struct listener *now;
    struct listener *next;
    bool changes; /* `next` takes the place of `now` */
    bool permits; /* `now` stays, and has its new mode and group already */
};

struct web {
    struct daemon *d;
    struct web_place tcp;
    struct web_place local;
};

void web_init(struct web *web, struct daemon *d);

/* Listens where @conf says, beside where it did before; then either of the two: from now on only
 * there, or not there after all. */
int web_prepare(struct web *web, const struct conf *conf, struct inf_error *err);
void web_commit(struct web *web);
void web_abandon(struct web *web);

void web_close(struct web *web);

#endif
