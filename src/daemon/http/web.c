/*
 * web.c - HTTP endpoints of the daemon on a TCP address and a Unix socket.
 *
 * A reload changes listeners in two steps: web_prepare() opens the new ones next to the old ones,
 * then web_commit() closes the old ones or web_abandon() the new ones. Requests over TCP with an
 * unknown Host header get status 421, which protects against DNS rebinding; unknown paths get 404.
 */
#include "daemon/http/web.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "daemon/conf/conf_same.h"
#include "daemon/daemon.h"
#include "daemon/http/metrics.h"
#include "daemon/http/report.h"
#include "wire/http_host.h"
#include "wire/http_target.h"

/* ---- endpoints ---- */

static void reply_body(struct http_exchange *x, int status, const char *type, struct buf *body)
{
    http_exchange_reply(x, status, type, body->bytes, body->len);
    buf_free(body);
}

static void reply_text(struct http_exchange *x, int status, const char *text)
{
    http_exchange_reply(x, status, "text/plain; charset=utf-8", text, strlen(text));
}

static void answer_live(struct daemon *d, const struct http_server_request *request,
                        struct http_exchange *x)
{
    (void)d;
    (void)request;
    reply_text(x, 200, "ok\n");
}

static bool has_query(const struct http_server_request *request, const char *name)
{
    char *value = NULL;
    bool found = http_query_get(request->query, name, &value) > 0;
    free(value);
    return found;
}

static void answer_ready(struct daemon *d, const struct http_server_request *request,
                         struct http_exchange *x)
{
    struct buf body = {0};
    bool verbose = has_query(request, "verbose"), ready = report_ready(d, verbose, &body);
    if (ready && !verbose) {
        buf_clear(&body);
        buf_puts(&body, "ok\n");
    }
    reply_body(x, ready ? 200 : 503, "text/plain; charset=utf-8", &body);
}

static void answer_metrics(struct daemon *d, const struct http_server_request *request,
                           struct http_exchange *x)
{
    struct buf body = {0};
    (void)request;
    report_metrics(d, &body);
    reply_body(x, 200, METRICS_CONTENT_TYPE, &body);
}

static const struct {
    const char *path;
    void (*answer)(struct daemon *d, const struct http_server_request *request,
                   struct http_exchange *x);
} pages[] = {
    {"/livez", answer_live},
    {"/readyz", answer_ready},
    {"/metrics", answer_metrics},
};

static void web_on_request(struct http_server_user *user, const struct http_server_request *request,
                           struct http_exchange *x)
{
    struct web_place *place = container_of(user, struct web_place, user);
    struct web *web = place->web;
    const struct conf_list *hosts = &web->d->conf.http.allowed_hosts;
    if (place == &web->tcp && !http_host_is_allowed(request, hosts->items, hosts->count)) {
        reply_text(x, 421,
                   "host name not allowed; use an IP address or add the name to "
                   "http.allowed_hosts in the configuration\n");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(pages); i++)
        if (strcmp(request->path, pages[i].path) == 0) {
            pages[i].answer(web->d, request, x);
            return;
        }
    reply_text(x, 404, "not found; the endpoints are /livez, /readyz?verbose and /metrics\n");
}

static const struct http_server_user_ops user_ops = {.on_request = web_on_request};

static void web_on_accept(struct listener_user *user, struct stream *stream)
{
    http_server_accept(container_of(user, struct web_place, accept)->server, stream);
}

/* Closes an idle connection, so that probes can connect even if many clients keep connections
 * open. */
static bool web_on_full(struct listener_user *user)
{
    return http_server_make_room(container_of(user, struct web_place, accept)->server);
}

/* ---- listeners ---- */

static void init_place(struct web_place *place, struct web *web)
{
    *place =
        (struct web_place){.user = {&user_ops}, .accept = {web_on_accept, web_on_full}, .web = web};
    place->server = http_server_new(&web->d->loop.clock, NULL, &place->user);
}

void web_init(struct web *web, struct daemon *d)
{
    web->d = d;
    init_place(&web->tcp, web);
    init_place(&web->local, web);
}

static int prepare_place(struct web *web, struct web_place *place,
                         const struct listen_options *options, struct inf_error *err)
{
    place->changes = true;
    if (!options->address && !options->path)
        return 0;
    place->next = listener_open(&web->d->loop, options, &place->accept, err);
    return place->next ? 0 : -err->code;
}

static int prepare_tcp(struct web *web, const struct conf_http *conf, struct inf_error *err)
{
    if (conf_http_same(conf, &web->d->conf.http))
        return 0;
    if (prepare_place(web, &web->tcp, &(struct listen_options){.address = conf->listen}, err) < 0)
        return err_wrap(err, "http");
    return 0;
}

/* A path cannot be bound twice: if it stays the same, only mode and group of the socket change. */
static int prepare_local(struct web *web, const struct conf_socket *conf, struct inf_error *err)
{
    const struct conf_socket *before = &web->d->conf.socket;
    struct listen_options options = {
        .path = conf->path, .mode = (mode_t)conf->mode, .group = conf->group};
    if (conf_socket_same(conf, before))
        return 0;
    if (web->local.now && conf->path && strcmp(conf->path, before->path) == 0) {
        web->local.permits = true;
        return listener_permit(web->local.now, options.mode, options.group, err);
    }
    return prepare_place(web, &web->local, &options, err);
}

int web_prepare(struct web *web, const struct conf *conf, struct inf_error *err)
{
    int rc = prepare_tcp(web, &conf->http, err);
    if (rc == 0)
        rc = prepare_local(web, &conf->socket, err);
    if (rc < 0)
        web_abandon(web);
    return rc;
}

static void commit_place(struct web_place *place)
{
    place->permits = false;
    if (!place->changes)
        return;
    listener_close(place->now);
    place->now = place->next;
    place->next = NULL;
    place->changes = false;
}

/* Logs the port, because with port 0 the system chooses it. */
void web_commit(struct web *web)
{
    bool moves = web->tcp.changes;
    commit_place(&web->tcp);
    commit_place(&web->local);
    if (moves && web->tcp.now)
        daemon_log_printf(&web->d->log, INF_LOG_INFO, "http: listening on port %u",
                          listener_port(web->tcp.now));
}

static void abandon_place(struct web_place *place)
{
    listener_close(place->next);
    place->next = NULL;
    place->changes = place->permits = false;
}

void web_abandon(struct web *web)
{
    const struct conf_socket *before = &web->d->conf.socket;
    if (web->local.permits)
        (void)listener_permit(web->local.now, (mode_t)before->mode, before->group, NULL);
    abandon_place(&web->tcp);
    abandon_place(&web->local);
}

static void close_place(struct web_place *place)
{
    listener_close(place->now);
    http_server_close(place->server);
    place->now = NULL;
    place->server = NULL;
}

void web_close(struct web *web)
{
    close_place(&web->tcp);
    close_place(&web->local);
}
