/*
 * client.c - one cluster: the kubeconfig becomes a dialer, credentials and an address that sources
 * can use.
 */
#include "lib/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/direct.h"
#include "kube/impersonate.h"
#include "kube/incluster.h"
#include "kube/proxy_url.h"

enum {
    SYNCS_AT_A_TIME = 4, /* a server that comes back is not asked for everything at once */
};

_Static_assert((int)INF_HASH_KEY == (int)TLS_DIGEST_KEY, "the public size is the internal one");

const char *inf_version(void)
{
    return INFORMER_VERSION;
}

/* ---- log ---- */

static void client_on_log(struct log *log, enum log_level level, const char *line)
{
    struct inf_client *client = container_of(log, struct inf_client, log);
    char *named = client->log_name ? xasprintf("%s: %s", client->log_name, line) : NULL;
    client->user_log(client->user_log_ctx, (enum inf_log_level)level, named ? named : line);
    free(named);
}

_Static_assert((int)INF_LOG_ERROR == (int)LOG_ERROR && (int)INF_LOG_DEBUG == (int)LOG_DEBUG,
               "the public levels are the internal ones");

/* Said once, here: what each informer does about it is a detail. */
static void client_on_slept(struct sleep_watch *watch, uint64_t ms)
{
    struct inf_client *client = container_of(watch, struct inf_client, sleep);
    if (client->user_log)
        log_line(&client->log, LOG_INFO, "the host slept for %" PRIu64 "s", ms / 1000);
}

/* ---- opening ---- */

static struct log *log_of(struct inf_client *client)
{
    return client->user_log ? &client->log : NULL;
}

static int open_tls(struct inf_client *client, struct inf_error *err)
{
    return client->config.https
               ? tls_keeper_open(&client->tls, &client->config, log_of(client), err)
               : 0;
}

static bool is_proxy_word(const char *text)
{
    return strcmp(text, "none") == 0 || strcmp(text, "env") == 0;
}

int inf_proxy_check(const char *text, struct inf_error *err)
{
    struct proxy proxy;
    int rc = is_proxy_word(text) ? 0 : proxy_url_parse(text, &proxy, err);
    if (!rc && !is_proxy_word(text))
        proxy_free(&proxy);
    return rc;
}

/* The option goes before the kubeconfig, and that before the environment. */
static int choose_proxy(struct inf_client *client, const char *option, struct inf_error *err)
{
    struct kubeconfig *c = &client->config;
    if (option && strcmp(option, "none") == 0)
        return 0;
    if (option && !is_proxy_word(option))
        return proxy_url_parse(option, &client->proxy, err) < 0 ? err_wrap(err, "proxy") : 0;
    if (option || !c->proxy.host)
        return proxy_from_env(c->https, c->host, c->port, &client->proxy, err);
    client->proxy = c->proxy;
    c->proxy = (struct proxy){0}; /* now the client's */
    return 0;
}

static char *copy_or_null(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static bool is_https_proxy(const struct inf_client *client)
{
    return client->proxy.host && client->proxy.kind == PROXY_HTTPS;
}

/* An https proxy has to show a certificate as the server has to; ours is not for it to see. What is
 * wrong with files is said by the keeper of the server's TLS: they are the same ones. */
static int open_proxy(struct inf_client *client, const char *option, struct inf_error *err)
{
    const struct kubeconfig *config = &client->config;
    int rc = choose_proxy(client, option, err);
    if (rc < 0 || !is_https_proxy(client))
        return rc;
    client->proxy_config = (struct kubeconfig){
        .origin = xstrdup(config->origin),
        .context = xstrdup(config->context),
        .ca_pem = copy_or_null(config->ca_pem),
        .ca_file = copy_or_null(config->ca_file),
        .insecure = config->insecure,
    };
    rc = tls_keeper_open(&client->proxy_tls, &client->proxy_config, NULL, err);
    return rc < 0 ? err_wrap(err, "proxy") : 0;
}

static void name_server(struct inf_client *client)
{
    const struct kubeconfig *c = &client->config;
    bool usual = c->port == (c->https ? 443 : 80), v6 = strchr(c->host, ':');
    const char *open = v6 ? "[" : "", *close = v6 ? "]" : "";
    client->host_header = usual ? xasprintf("%s%s%s", open, c->host, close)
                                : xasprintf("%s%s%s:%u", open, c->host, close, c->port);
    client->url =
        xasprintf("%s://%s%s", c->https ? "https" : "http", client->host_header, c->path_prefix);
}

/* Each dialer over the one before: TCP, TLS with the proxy, the proxy, TLS with the server. */
static struct dialer *way_to_server(struct inf_client *client)
{
    struct clock *clock = &client->loop.clock;
    struct dialer *way = &client->tcp_dialer.dialer;
    tcp_dialer_init(&client->tcp_dialer, &client->loop);
    if (is_https_proxy(client)) {
        tls_keeper_start(&client->proxy_tls, clock, way);
        way = &client->proxy_tls.dialer;
    }
    if (client->proxy.host) {
        proxy_dialer_init(&client->proxy_dialer, way, clock, &client->proxy);
        way = &client->proxy_dialer.dialer;
    }
    if (client->config.https) {
        tls_keeper_start(&client->tls, clock, way);
        way = &client->tls.dialer;
    }
    return way;
}

static void connect_parts(struct inf_client *client)
{
    const struct kubeconfig *config = &client->config;
    client->pool =
        http_pool_new(&client->loop.clock, way_to_server(client), config->host, config->port, NULL);
    client->tls.pool = client->proxy_tls.pool = client->pool;
    warnings_init(&client->warnings, log_of(client));
    child_spawner_init(&client->spawner, &client->loop);
    client->auth = auth_new(&(struct auth_settings){.clock = &client->loop.clock,
                                                    .log = log_of(client),
                                                    .config = config,
                                                    .spawner = &client->spawner.spawner,
                                                    .tls = &client->tls,
                                                    .proxy = &client->proxy});
    client->server = (struct api_server){
        .clock = &client->loop.clock,
        .pool = client->pool,
        .host_header = client->host_header,
        .path_prefix = config->path_prefix,
        .user_agent = client->user_agent,
        .no_compression = config->no_compression,
        .warnings = &client->warnings,
        .auth = client->auth,
    };
    client->shelf = shelf_new(&client->server);
}

static void client_free(struct inf_client *client)
{
    tls_keeper_close(&client->tls);
    tls_keeper_close(&client->proxy_tls);
    kubeconfig_free(&client->proxy_config);
    proxy_free(&client->proxy);
    warnings_free(&client->warnings);
    kubeconfig_free(&client->config);
    free(client->host_header);
    free(client->url);
    free(client->user_agent);
    free(client->log_name);
    free(client);
}

static void client_digest(const struct digest *digest, const struct str *parts, size_t n_parts,
                          char ret[DIGEST_HEX + 1])
{
    const struct inf_client *client = container_of(digest, struct inf_client, digest);
    unsigned char bytes[TLS_DIGEST_BYTES];
    tls_digest(client->digest_key, parts, n_parts, bytes);
    for (int i = 0; i < DIGEST_HEX / 2; i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static struct inf_client *client_new(const struct inf_client_options *options)
{
    struct inf_client *client = NEW(struct inf_client);
    client->log = (struct log){.level = (enum log_level)options->log_level, .emit = client_on_log};
    client->user_log = options->log;
    client->user_log_ctx = options->log_ctx;
    client->log_name = options->log_name ? xstrdup(options->log_name) : NULL;
    client->user_agent =
        xstrdup(options->user_agent ? options->user_agent : "informer/" INFORMER_VERSION);
    rng_init(&client->rng);
    if (options->hash_key)
        memcpy(client->digest_key, options->hash_key, sizeof(client->digest_key));
    else
        tls_digest_key(client->digest_key);
    client->stale_after_ms = options->stale_after_s * 1000;
    turnstile_init(&client->turnstile, SYNCS_AT_A_TIME);
    client->digest.make = client_digest;
    list_init(&client->informers);
    list_init(&client->handles);
    list_init(&client->queues);
    list_init(&client->questions);
    return client;
}

static int load_direct(const struct inf_client_options *o, struct kubeconfig *ret,
                       struct inf_error *err)
{
    struct direct direct = {.origin = "server given directly",
                            .server = o->server,
                            .ca_file = o->ca_file,
                            .token_file = o->token_file};
    if (o->kubeconfig || o->context || o->cluster || o->user)
        return err_set(err, INF_ECONF,
                       "server is given together with kubeconfig, context, cluster or user; keep "
                       "one way");
    return direct_load(&direct, ret, err);
}

/* A file that somebody names is never passed over for the cluster we may be in. */
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
    int rc;
    if (!o->server && (o->ca_file || o->token_file))
        return err_set(err, INF_ECONF, "a CA or token file needs a server beside it");
    rc = o->server ? load_direct(o, ret, err) : load_found(o, ret, err);
    return !rc && o->as ? impersonate_user(ret, o->as, err) : rc;
}

struct inf_client *inf_client_open(struct uv_loop_s *loop, const struct inf_client_options *options,
                                   struct inf_error *err)
{
    static const struct inf_client_options none;
    struct inf_client *client;
    options = options ? options : &none;
    client = client_new(options);
    if (load_config(options, &client->config, err) < 0 || open_tls(client, err) < 0 ||
        open_proxy(client, options->proxy, err) < 0) {
        client_free(client);
        return NULL;
    }
    name_server(client);
    if (loop_init(&client->loop, loop) < 0) { /* UNTESTED: libuv's own code never fails here */
        err_set(err, INF_EIO, "libuv can't make a handle");
        client_free(client);
        return NULL;
    }
    connect_parts(client);
    if (client->proxy.host && client->user_log)
        log_line(&client->log, LOG_DEBUG, "%s is reached by proxy %s:%u", client->url,
                 client->proxy.host, client->proxy.port);
    sleep_watch_start(&client->loop.clock, &client->sleep, client_on_slept);
    return client;
}

/* ---- the rest ---- */

bool inf_client_same(const struct inf_client *a, const struct inf_client *b)
{
    return kubeconfig_equal(&a->config, &b->config) && proxy_equal(&a->proxy, &b->proxy);
}

const char *inf_client_server(const struct inf_client *client)
{
    return client->url;
}

const char *inf_client_namespace(const struct inf_client *client)
{
    return client->config.namespace;
}

uint64_t inf_client_worst_tick_us(struct inf_client *client)
{
    return loop_worst_tick_us(&client->loop);
}

static void client_on_closed(struct loop *loop)
{
    client_free(container_of(loop, struct inf_client, loop));
}

void inf_client_close(struct inf_client *client)
{
    if (!client)
        return;
    informer_close_all(client);
    queue_close_all(client);
    question_close_all(client);
    shelf_close(client->shelf);
    auth_free(client->auth);
    if (client->config.https)
        tls_keeper_stop(&client->tls);
    if (is_https_proxy(client))
        tls_keeper_stop(&client->proxy_tls);
    http_pool_free(client->pool);
    tcp_dialer_close(&client->tcp_dialer);
    sleep_watch_stop(&client->sleep);
    loop_close(&client->loop, client_on_closed);
}
