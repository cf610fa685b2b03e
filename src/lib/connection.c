/*
 * connection.c - reads the configuration, chooses the proxy and makes the TLS contexts; then stacks
 * the dialers.
 *
 * All errors of the configuration are found by connection_open(), so that connection_start() can't
 * fail.
 */
#include "lib/connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "kube/auth/impersonate.h"
#include "kube/config/direct.h"
#include "kube/config/incluster.h"
#include "kube/config/override.h"
#include "wire/proxy/proxy_url.h"

/* ---- the configuration ---- */

static int load_direct(const struct inf_client_options *o, struct kubeconfig *ret,
                       struct inf_error *err)
{
    struct direct direct = {.origin = "server option",
                            .server = o->server,
                            .ca_file = o->ca_file,
                            .token_file = o->token_file};
    if (o->kubeconfig || o->context || o->cluster || o->user)
        return err_set(err, INF_ECONF,
                       "server can't be combined with kubeconfig, context, cluster or user");
    return direct_load(&direct, ret, err);
}

/* In-cluster settings are used only if nothing was configured explicitly. */
static int load_found(const struct inf_client_options *o, struct kubeconfig *ret,
                      struct inf_error *err)
{
    struct kubeconfig_choice choice = {.path = o->kubeconfig,
                                       .context = o->context,
                                       .cluster = o->cluster,
                                       .user = o->user,
                                       .exec_allow = o->exec_allow};
    int rc = kubeconfig_load(&choice, ret, err);
    if (rc == -INF_ENOTFOUND && !o->context && !o->cluster && !o->user &&
        incluster_possible(INCLUSTER_DIR))
        rc = incluster_load(INCLUSTER_DIR, ret, err);
    return rc;
}

static int load_config(const struct inf_client_options *o, struct kubeconfig *ret,
                       struct inf_error *err)
{
    int rc = o->server ? load_direct(o, ret, err) : load_found(o, ret, err);
    if (!rc && o->ca_file && !o->server)
        rc = override_ca(ret, o->ca_file, err);
    if (!rc && o->token && o->token_file)
        rc = err_set(err, INF_ECONF, "a token can't be combined with a token file");
    if (!rc && (o->token || (o->token_file && !o->server)))
        rc = override_token(ret, o->token, o->token_file, err);
    if (!rc && o->as_groups && !o->as)
        rc = err_set(err, INF_ECONF, "as_groups requires 'as', the user to impersonate");
    if (!rc && o->as)
        rc = impersonate_user(ret, o->as, err);
    return !rc && o->as_groups ? impersonate_groups(ret, o->as_groups, err) : rc;
}

/* ---- the proxy ---- */

static bool is_proxy_keyword(const char *text)
{
    return strcmp(text, "none") == 0 || strcmp(text, "env") == 0;
}

int inf_proxy_check(const char *text, struct inf_error *err)
{
    struct proxy proxy;
    int rc = is_proxy_keyword(text) ? 0 : proxy_url_parse(text, &proxy, err);
    if (!rc && !is_proxy_keyword(text))
        proxy_free(&proxy);
    return rc;
}

/* Precedence: the option, the kubeconfig, the environment. */
static int choose_proxy(struct connection *connection, const char *option, struct inf_error *err)
{
    struct kubeconfig *c = &connection->config;
    if (option && strcmp(option, "none") == 0)
        return 0;
    if (option && !is_proxy_keyword(option))
        return proxy_url_parse(option, &connection->proxy, err) < 0 ? err_wrap(err, "proxy") : 0;
    if (option || !c->proxy.host)
        return proxy_from_env(c->https, c->host, c->port, &connection->proxy, err);
    connection->proxy = c->proxy;
    c->proxy = (struct proxy){0}; /* owned by the connection now */
    return 0;
}

static bool is_https_proxy(const struct connection *connection)
{
    return connection->proxy.host && connection->proxy.kind == PROXY_HTTPS;
}

/* The certificate of an https proxy is checked like the server's; our client certificate is not
 * sent to it. This reloader does not log: the files are those of the server's TLS, whose reloader
 * reports errors. */
static int open_proxy(struct connection *connection, const char *option, struct inf_error *err)
{
    const struct kubeconfig *config = &connection->config;
    int rc = choose_proxy(connection, option, err);
    if (rc < 0 || !is_https_proxy(connection))
        return rc;
    connection->proxy_config = (struct kubeconfig){
        .origin = xstrdup(config->origin),
        .context = xstrdup(config->context),
        .ca_pem = xstrdup_or_null(config->ca_pem),
        .ca_file = xstrdup_or_null(config->ca_file),
        .insecure = config->insecure,
    };
    rc = tls_reloader_open(&connection->proxy_tls, &connection->proxy_config, NULL, err);
    return rc < 0 ? err_wrap(err, "proxy") : 0;
}

/* ---- opening ---- */

static int open_tls(struct connection *connection, struct inf_error *err)
{
    struct kubeconfig *config = &connection->config;
    return config->https ? tls_reloader_open(&connection->tls, config, NULL, err) : 0;
}

static void name_server(struct connection *connection)
{
    const struct kubeconfig *c = &connection->config;
    bool usual = c->port == (c->https ? 443 : 80), v6 = strchr(c->host, ':');
    const char *open = v6 ? "[" : "", *close = v6 ? "]" : "";
    connection->host_header = usual ? xasprintf("%s%s%s", open, c->host, close)
                                    : xasprintf("%s%s%s:%u", open, c->host, close, c->port);
    connection->url = xasprintf("%s://%s%s", c->https ? "https" : "http", connection->host_header,
                                c->path_prefix);
}

struct connection *connection_open(const struct inf_client_options *options, struct inf_error *err)
{
    struct connection *connection = NEW(struct connection);
    list_init(&connection->node);
    if (load_config(options, &connection->config, err) < 0 || open_tls(connection, err) < 0 ||
        open_proxy(connection, options->proxy, err) < 0) {
        connection_free(connection);
        return NULL;
    }
    name_server(connection);
    return connection;
}

/* Stacks the dialers, from the lowest: TCP, TLS with the proxy, the proxy, TLS with the server. */
struct dialer *connection_start(struct connection *connection, struct clock *clock,
                                struct dialer *tcp, struct log *log)
{
    struct dialer *way = tcp;
    if (is_https_proxy(connection)) {
        tls_reloader_start(&connection->proxy_tls, clock, way);
        way = &connection->proxy_tls.dialer;
    }
    if (connection->proxy.host) {
        proxy_dialer_init(&connection->proxy_dialer, way, clock, &connection->proxy);
        way = &connection->proxy_dialer.dialer;
    }
    if (connection->config.https) {
        connection->tls.log = log;
        tls_reloader_start(&connection->tls, clock, way);
        way = &connection->tls.dialer;
    }
    return way;
}

void connection_set_pool(struct connection *connection, struct http_pool *pool)
{
    connection->tls.pool = connection->proxy_tls.pool = pool;
}

/* ---- compare, reload and close ---- */

bool connection_equal(const struct connection *a, const struct connection *b)
{
    return kubeconfig_equal(&a->config, &b->config) && proxy_equal(&a->proxy, &b->proxy);
}

void connection_renew(struct connection *connection)
{
    if (is_https_proxy(connection))
        tls_reloader_check(&connection->proxy_tls);
    if (connection->config.https)
        tls_reloader_check(&connection->tls);
}

void connection_stop(struct connection *connection)
{
    connection_set_pool(connection, NULL);
    if (connection->config.https)
        tls_reloader_stop(&connection->tls);
    if (is_https_proxy(connection))
        tls_reloader_stop(&connection->proxy_tls);
}

void connection_free(struct connection *connection)
{
    if (!connection)
        return;
    tls_reloader_close(&connection->tls);
    tls_reloader_close(&connection->proxy_tls);
    kubeconfig_free(&connection->proxy_config);
    proxy_free(&connection->proxy);
    kubeconfig_free(&connection->config);
    free(connection->host_header);
    free(connection->url);
    free(connection);
}
