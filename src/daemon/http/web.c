/*
 * web.c - listens on TCP addresses and a Unix socket, and passes requests to the endpoints
 * (endpoints.c) and to the local API (daemon/api).
 *
 * A reload replaces listeners in two steps: web_prepare() opens the new ones next to the old ones,
 * then web_commit() closes the old ones or web_abandon() the new ones. Requests over TCP with an
 * unknown Host header get status 421, which protects against DNS rebinding.
 */
#include "daemon/http/web.h"

#include <string.h>

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "daemon/api/api_status.h"
#include "daemon/conf/conf_same.h"
#include "daemon/daemon.h"
#include "daemon/http/endpoint_metrics.h"
#include "daemon/http/endpoints.h"
#include "daemon/http/page.h"
#include "daemon/service/service.h"
#include "wire/http/http_host.h"
#include "wire/tls/tls.h"

/* ---- requests ---- */

static bool is_health(const struct web_listener *l, const struct http_server_request *request)
{
    return l != &l->web->tls && endpoints_have(request->path);
}

#define HOST_REFUSAL                                                                         \
    "host name not allowed; use an IP address or add the name to http.allowed_hosts in the " \
    "configuration"

/* Clients of health and metrics read text, those of the local API a Status. */
static void refuse_host(const struct web_listener *l, struct http_exchange *exchange)
{
    if (l == &l->web->tcp)
        endpoint_reply_text(exchange, 421, HOST_REFUSAL "\n");
    else
        api_reply_fault(exchange, 421, HOST_REFUSAL);
}

static void web_on_request(struct http_server_user *user, const struct http_server_request *request,
                           struct http_exchange *exchange)
{
    struct web_listener *l = container_of(user, struct web_listener, user);
    struct daemon *d = l->web->d;
    const struct conf_list *hosts = &d->conf.http.allowed_hosts;
    const struct api_reader *reader;
    if (l != &l->web->local && !http_host_is_allowed(request, hosts->items, hosts->count)) {
        refuse_host(l, exchange);
        return;
    }
    if (l == &l->web->tls && page_respond(d, request, exchange))
        return;
    if (l == &l->web->tcp || is_health(l, request))
        endpoints_respond(d, request, exchange);
    else if ((reader = api_access_check(&l->web->access, request, exchange)))
        service_respond(d, reader, request, exchange);
}

/* Clients of the local API expect errors as Status objects. */
static const char *web_put_refusal(struct http_server_user *user, int status, const char *why,
                                   struct buf *out)
{
    struct api_fault fault = {.code = 0};
    (void)user;
    api_fault_set(&fault, status, "%s%s", why,
                  status == 405 ? ": informerd serves a read-only copy; use the API server itself"
                                : "");
    api_fault_put(&fault, out);
    buf_putc(out, '\n');
    return "application/json";
}

static const struct http_server_user_ops tcp_ops = {.on_request = web_on_request};
static const struct http_server_user_ops reader_ops = {.on_request = web_on_request,
                                                       .put_refusal = web_put_refusal};

static void web_on_accept(struct listener_user *user, struct stream *stream)
{
    struct web_listener *l = container_of(user, struct web_listener, accept);
    struct web *web = l->web;
    struct api_client *client = l == &web->tcp ? NULL : api_access_identify(&web->access, stream);
    if (l == &web->tls)
        stream = tls_accept(stream, &web->d->loop.clock, web->access.certificate.context);
    http_server_accept_client(l->server, stream, client);
}

/* Closes an idle connection, so that probes can connect even if many clients keep connections
 * open. */
static bool web_on_full(struct listener_user *user)
{
    return http_server_make_room(container_of(user, struct web_listener, accept)->server);
}

/* ---- listeners ---- */

static void init_listener(struct web_listener *l, struct web *web,
                          const struct http_server_user_ops *ops,
                          const struct http_server_limits *limits)
{
    *l = (struct web_listener){.user = {ops}, .accept = {web_on_accept, web_on_full}, .web = web};
    l->server = http_server_new(&web->d->loop.clock, limits, &l->user);
}

static void run_disconnect(struct task *task)
{
    struct web *web = container_of(task, struct web, disconnect);
    http_server_disconnect(web->local.server);
    http_server_disconnect(web->tls.server);
    api_access_forget(&web->access);
}

void web_init(struct web *web, struct daemon *d)
{
    static const struct http_server_limits with_login = {.post_path = PAGE_LOGIN_PATH};
    web->d = d;
    list_init(&web->metrics);
    api_init(&web->api, d, &d->loop.clock);
    init_listener(&web->tcp, web, &tcp_ops, NULL);
    init_listener(&web->local, web, &reader_ops, NULL);
    init_listener(&web->tls, web, &reader_ops, &with_login);
    api_access_init(&web->access, &d->loop.clock, &d->log);
    event_streams_init(&web->events, d);
    task_init(&web->disconnect, PHASE_PUMP, run_disconnect);
}

static int prepare_listener(struct web *web, struct web_listener *l,
                            const struct listen_options *options, struct inf_error *err)
{
    l->prepared = WEB_REPLACED;
    if (!options->address && !options->path)
        return 0;
    l->next = listener_open(&web->d->loop, options, &l->accept, err);
    return l->next ? 0 : -err->code;
}

/* A path cannot be bound twice: if it stays the same, only mode and group of the socket change. */
static int prepare_local(struct web *web, const struct conf_socket *conf, struct inf_error *err)
{
    const struct conf_socket *before = &web->d->conf.socket;
    struct listen_options options = {.path = conf->path,
                                     .mode = (mode_t)conf->mode,
                                     .group = conf->group,
                                     .max = WEB_API_CLIENTS_MAX};
    if (conf_socket_same(conf, before))
        return 0;
    if (web->local.current && conf->path && strcmp(conf->path, before->path) == 0) {
        web->local.prepared = WEB_PERMITTED;
        return listener_permit(web->local.current, options.mode, options.group, err);
    }
    return prepare_listener(web, &web->local, &options, err);
}

static int prepare_api(struct web *web, const struct conf *conf, struct inf_error *err)
{
    struct listen_options options = {.address = conf->api.listen, .max = WEB_API_CLIENTS_MAX};
    if (api_access_prepare(&web->access, conf, conf->state_dir, err) < 0)
        return -err->code;
    if (cstr_eq(conf->api.listen, web->d->conf.api.listen))
        return 0;
    return prepare_listener(web, &web->tls, &options, err) < 0 ? err_wrap(err, "api") : 0;
}

int web_prepare(struct web *web, const struct conf *conf, struct inf_error *err)
{
    struct listen_options tcp = {.address = conf->http.listen};
    int rc = 0;
    if (!conf_http_same(&conf->http, &web->d->conf.http) &&
        prepare_listener(web, &web->tcp, &tcp, err) < 0)
        rc = err_wrap(err, "http");
    if (rc == 0)
        rc = prepare_api(web, conf, err);
    if (rc == 0)
        rc = prepare_local(web, &conf->socket, err);
    if (rc < 0)
        web_abandon(web);
    return rc;
}

static void commit_listener(struct web_listener *l)
{
    if (l->prepared == WEB_REPLACED) {
        listener_close(l->current);
        l->current = l->next;
        l->next = NULL;
    }
    l->prepared = WEB_UNCHANGED;
}

/* Logs the address with its port, because with port 0 the system chooses it. */
static void commit_address(struct web *web, struct web_listener *l, const char *name)
{
    bool new_address = l->prepared == WEB_REPLACED;
    char address[LISTEN_ADDRESS_SIZE];
    commit_listener(l);
    if (!new_address || !l->current)
        return;
    listener_address(l->current, address);
    daemon_log_printf(&web->d->log, INF_LOG_INFO, "%s: listening on %s", name, address);
}

void web_commit(struct web *web, const struct conf *conf)
{
    bool new_path = web->local.prepared == WEB_REPLACED;
    if (api_access_commit(&web->access))
        task_schedule(&web->d->loop.clock, &web->disconnect); /* a request may have caused this */
    commit_address(web, &web->tcp, "http");
    commit_address(web, &web->tls, "api");
    commit_listener(&web->local);
    web->api.history = conf->api.history;
    web->api.feed_bytes_max = conf->memory.backlog / WEB_FEEDS_SHARE;
    event_streams_reload(&web->events);
    web->api.gzip_remote = conf->api.gzip != CONF_GZIP_NEVER;
    web->api.gzip_local = conf->api.gzip == CONF_GZIP_ALWAYS;
    if (new_path && web->local.current)
        daemon_log_printf(&web->d->log, INF_LOG_INFO, "socket: listening on %s", conf->socket.path);
}

static void abandon_listener(struct web_listener *l)
{
    listener_close(l->next);
    l->next = NULL;
    l->prepared = WEB_UNCHANGED;
}

void web_abandon(struct web *web)
{
    const struct conf_socket *before = &web->d->conf.socket;
    if (web->local.prepared == WEB_PERMITTED)
        (void)listener_permit(web->local.current, (mode_t)before->mode, before->group, NULL);
    abandon_listener(&web->tcp);
    abandon_listener(&web->local);
    abandon_listener(&web->tls);
    api_access_abandon(&web->access);
}

static void close_listener(struct web_listener *l)
{
    listener_close(l->current);
    http_server_close(l->server);
    l->current = NULL;
    l->server = NULL;
}

void web_close(struct web *web)
{
    api_close(&web->api);
    close_listener(&web->tcp);
    close_listener(&web->local);
    close_listener(&web->tls);
    event_streams_close(&web->events);
    task_cancel(&web->disconnect);
    api_access_close(&web->access);
    endpoint_metrics_close(web);
}
