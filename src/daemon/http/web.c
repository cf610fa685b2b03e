/*
 * web.c - listens on a TCP address and a Unix socket, and passes requests to the endpoints
 * (endpoints.c).
 *
 * A reload replaces listeners in two steps: web_prepare() opens the new ones next to the old ones,
 * then web_commit() closes the old ones or web_abandon() the new ones. Requests over TCP with an
 * unknown Host header get status 421, which protects against DNS rebinding.
 */
#include "daemon/http/web.h"

#include <string.h>

#include "base/base.h"
#include "base/err.h"
#include "daemon/api/api_status.h"
#include "daemon/conf/conf_same.h"
#include "daemon/daemon.h"
#include "daemon/http/endpoint_metrics.h"
#include "daemon/http/endpoints.h"
#include "wire/http_host.h"

/* ---- requests ---- */

/* Every client that may connect to the socket. */
static const struct api_reader everyone = {.name = NULL};

static void web_on_request(struct http_server_user *user, const struct http_server_request *request,
                           struct http_exchange *exchange)
{
    struct web_listener *l = container_of(user, struct web_listener, user);
    struct daemon *d = l->web->d;
    const struct conf_list *hosts = &d->conf.http.allowed_hosts;
    if (l == &l->web->tcp && !http_host_is_allowed(request, hosts->items, hosts->count)) {
        endpoint_reply_text(exchange, 421,
                            "host name not allowed; use an IP address or add the name to "
                            "http.allowed_hosts in the configuration\n");
    } else {
        endpoints_respond(d, l == &l->web->local ? &everyone : NULL, request, exchange);
    }
}

/* Clients of the local API expect errors as Status objects. */
static const char *web_put_refusal(struct http_server_user *user, int status, const char *why,
                                   struct buf *out)
{
    struct api_fault fault = {.code = 0};
    (void)user;
    api_fault_set(&fault, status, "%s", why);
    api_fault_put(&fault, out);
    buf_putc(out, '\n');
    return "application/json";
}

static const struct http_server_user_ops tcp_ops = {.on_request = web_on_request};
static const struct http_server_user_ops local_ops = {.on_request = web_on_request,
                                                      .put_refusal = web_put_refusal};

static void web_on_accept(struct listener_user *user, struct stream *stream)
{
    http_server_accept(container_of(user, struct web_listener, accept)->server, stream);
}

/* Closes an idle connection, so that probes can connect even if many clients keep connections
 * open. */
static bool web_on_full(struct listener_user *user)
{
    return http_server_make_room(container_of(user, struct web_listener, accept)->server);
}

/* ---- listeners ---- */

static void init_listener(struct web_listener *l, struct web *web,
                          const struct http_server_user_ops *ops)
{
    *l = (struct web_listener){.user = {ops}, .accept = {web_on_accept, web_on_full}, .web = web};
    l->server = http_server_new(&web->d->loop.clock, NULL, &l->user);
}

void web_init(struct web *web, struct daemon *d)
{
    web->d = d;
    list_init(&web->metrics);
    api_init(&web->api, d, &d->loop.clock);
    init_listener(&web->tcp, web, &tcp_ops);
    init_listener(&web->local, web, &local_ops);
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
    struct listen_options options = {
        .path = conf->path, .mode = (mode_t)conf->mode, .group = conf->group};
    if (conf_socket_same(conf, before))
        return 0;
    if (web->local.current && conf->path && strcmp(conf->path, before->path) == 0) {
        web->local.prepared = WEB_PERMITTED;
        return listener_permit(web->local.current, options.mode, options.group, err);
    }
    return prepare_listener(web, &web->local, &options, err);
}

int web_prepare(struct web *web, const struct conf *conf, struct inf_error *err)
{
    struct listen_options tcp = {.address = conf->http.listen};
    int rc = 0;
    if (!conf_http_same(&conf->http, &web->d->conf.http) &&
        prepare_listener(web, &web->tcp, &tcp, err) < 0)
        rc = err_wrap(err, "http");
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
void web_commit(struct web *web, const struct conf *conf)
{
    bool new_address = web->tcp.prepared == WEB_REPLACED;
    bool new_path = web->local.prepared == WEB_REPLACED;
    char address[LISTEN_ADDRESS_SIZE];
    commit_listener(&web->tcp);
    commit_listener(&web->local);
    web->api.history = conf->api.history;
    if (new_address && web->tcp.current) {
        listener_address(web->tcp.current, address);
        daemon_log_printf(&web->d->log, INF_LOG_INFO, "http: listening on %s", address);
    }
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
    endpoint_metrics_close(web);
}
