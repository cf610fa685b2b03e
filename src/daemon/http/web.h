/*
 * web.h - the HTTP listeners of the daemon.
 *
 *     tcp     http.listen    health and metrics (endpoints.h), for every client
 *     local   socket.path    the same, and for readers the local API (daemon/api)
 *     tls     api.listen     all of this over TLS, only for readers; and the page (page.h)
 */
#ifndef DAEMON_HTTP_WEB_H
#define DAEMON_HTTP_WEB_H

#include "informer/error.h"

#include "base/list.h"
#include "daemon/access/access.h"
#include "daemon/api/api.h"
#include "daemon/conf/conf.h"
#include "daemon/service/events.h"
#include "loop/listen.h"
#include "wire/http/http_server.h"

enum {
    WEB_API_CLIENTS_MAX = 512, /* LIMIT: connections of the Unix socket, and of api.listen */
    WEB_FEEDS_SHARE = 4,       /* the feeds of the local API may use 1/4 of memory.backlog */
};

struct daemon;

/* What a reload has prepared for a listener. */
enum web_prepared {
    WEB_UNCHANGED,
    WEB_REPLACED,  /* `next` replaces `current`; NULL: nothing listens then */
    WEB_PERMITTED, /* `current` stays; its new mode and group are already set */
};

/* One listener with its connections: the current one, and the one prepared by a reload. */
struct web_listener {
    struct http_server_user user;
    struct listener_user accept;
    struct web *web;
    struct http_server *server;
    struct listener *current;
    struct listener *next;
    enum web_prepared prepared;
};

struct web {
    struct daemon *d;
    struct api api; /* for readers */
    struct web_listener tcp;
    struct web_listener local;
    struct list metrics; /* responses in progress: see endpoint_metrics.c */
    struct web_listener tls;
    struct api_access access;
    struct event_streams events;
    struct task disconnect; /* of clients whose access a reload may have changed */
};

void web_init(struct web *web, struct daemon *d);

/* Opens the listeners of @conf in addition to the current ones. Then call either web_commit(),
 * which closes the old ones, or web_abandon(), which closes the new ones. Returns 0, or a
 * negative error code with @err set and nothing changed. */
int web_prepare(struct web *web, const struct conf *conf, struct inf_error *err);
void web_commit(struct web *web, const struct conf *conf);
void web_abandon(struct web *web);

void web_close(struct web *web);

#endif
