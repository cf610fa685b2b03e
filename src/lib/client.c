/*
 * client.c - one cluster: makes a pool, credentials and a server address for sources from a
 * connection (lib/connection.h).
 *
 * The connection can be replaced while informers run (inf_client_adopt()): requests in progress end
 * with INF_ECUT and their users repeat them on the new connection. Closing releases everything
 * while the loop runs.
 */
#include "lib/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "lib/recorder.h"
#include "lib/shared.h"

enum {
    SYNCS_AT_A_TIME = 4, /* limits the load on a server that restarts */
    LATENCY_MAX_MS = 1000,
};

_Static_assert((int)INF_HASH_KEY == (int)TLS_DIGEST_KEY, "the public size is the internal one");

const char *inf_version(void)
{
    return INFORMER_VERSION;
}

unsigned inf_version_number(void)
{
    return INF_VERSION_HEX;
}

/* ---- log ---- */

static void client_on_log(struct log *log, enum log_level level, const char *line)
{
    struct inf_client *client = container_of(log, struct inf_client, log);
    char *named = client->log_name ? xasprintf("%s: %s", client->log_name, line) : NULL;
    client->user_log(client->user_log_data, (enum inf_log_level)level, named ? named : line);
    free(named);
}

_Static_assert((int)INF_LOG_ERROR == (int)LOG_ERROR && (int)INF_LOG_DEBUG == (int)LOG_DEBUG,
               "the public levels are the internal ones");

/* Logged once per client, not per informer. */
static void client_on_slept(struct sleep_watch *watch, uint64_t ms)
{
    struct inf_client *client = container_of(watch, struct inf_client, sleep);
    if (client->user_log)
        log_line(&client->log, LOG_INFO,
                 "this process was stopped for %" PRIu64 "s (SIGSTOP, or a suspended host)",
                 ms / 1000);
}

/* ---- opening ---- */

static struct log *log_of(struct inf_client *client)
{
    return client->user_log ? &client->log : NULL;
}

/* Copies what sources need from the connection. */
static void client_describe_server(struct inf_client *client)
{
    const struct connection *c = client->connection;
    client->server.host_header = c->host_header;
    client->server.path_prefix = c->config.path_prefix;
    client->server.no_compression = c->config.no_compression;
}

static void client_connect_parts(struct inf_client *client)
{
    struct connection *c = client->connection;
    struct clock *clock = &client->loop.clock;
    struct dialer *dialer;
    tcp_dialer_init(&client->tcp_dialer, &client->loop);
    dialer = connection_start(c, clock, &client->tcp_dialer.dialer, log_of(client));
    client->pool = http_pool_new(clock, dialer, c->config.host, c->config.port, NULL);
    connection_set_pool(c, client->pool);
    warnings_init(&client->warnings, log_of(client));
    child_spawner_init(&client->spawner, &client->loop);
    client->auth = auth_new(&(struct auth_settings){.clock = clock,
                                                    .log = log_of(client),
                                                    .config = &c->config,
                                                    .spawner = &client->spawner.spawner,
                                                    .tls = &c->tls,
                                                    .proxy = &c->proxy});
    client->server = (struct api_server){
        .clock = clock,
        .pool = client->pool,
        .user_agent = client->user_agent,
        .warnings = &client->warnings,
        .auth = client->auth,
    };
    client_describe_server(client);
    client->discovery_cache = discovery_cache_new(&client->server);
}

static void client_free(struct inf_client *client)
{
    list_for_each_safe(node, &client->former) {
        list_remove(node);
        connection_free(container_of(node, struct connection, node));
    }
    connection_free(client->connection);
    warnings_free(&client->warnings);
    free(client->user_agent);
    free(client->log_name);
    tls_digest_free(client->keyed_digest);
    pack_context_unref(client->packing);
    free(client);
}

static void client_digest(const struct digest *digest, const struct str *parts, size_t n_parts,
                          char ret[DIGEST_HEX + 1])
{
    const struct inf_client *client = container_of(digest, struct inf_client, digest);
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[TLS_DIGEST_BYTES];
    tls_digest_make(client->keyed_digest, parts, n_parts, bytes);
    for (int i = 0; i < DIGEST_HEX; i++)
        ret[i] = digits[i % 2 ? bytes[i / 2] & 0xf : bytes[i / 2] >> 4];
    ret[DIGEST_HEX] = '\0';
}

static void client_on_cut(struct timer *timer);

static struct inf_client *client_new(const struct inf_client_options *options)
{
    struct inf_client *client = NEW(struct inf_client);
    unsigned char key[TLS_DIGEST_KEY];
    client->log = (struct log){.level = (enum log_level)options->log_level, .emit = client_on_log};
    client->user_log = options->log;
    client->user_log_data = options->log_data;
    client->log_name = options->log_name ? xstrdup(options->log_name) : NULL;
    client->user_agent =
        xstrdup(options->user_agent ? options->user_agent : "informer/" INFORMER_VERSION);
    rng_init(&client->rng);
    if (options->hash_key)
        memcpy(key, options->hash_key, sizeof(key));
    else
        tls_digest_key(key);
    client->keyed_digest = tls_digest_new(key);
    secret_wipe(key, sizeof(key));
    client->packing =
        pack_context_new(&(struct siphash_key){rng_next(&client->rng), rng_next(&client->rng)});
    client->budget = options->budget;
    client->state = options->state;
    client->stale_after_ms = options->stale_after_ms;
    list_limiter_init(&client->list_limiter, SYNCS_AT_A_TIME);
    client->digest.make = client_digest;
    list_init(&client->caches);
    list_init(&client->informers);
    list_init(&client->queues);
    list_init(&client->requests);
    list_init(&client->former);
    client->cut.fire = client_on_cut;
    return client;
}

static void log_proxy(struct inf_client *client)
{
    const struct connection *c = client->connection;
    if (c->proxy.host && client->user_log)
        log_line(&client->log, LOG_DEBUG, "%s is reached through proxy %s:%u", c->url,
                 c->proxy.host, c->proxy.port);
}

struct inf_client *inf_client_open(struct uv_loop_s *loop, const struct inf_client_options *options,
                                   struct inf_error *err)
{
    static const struct inf_client_options none;
    struct inf_client *client;
    options = options ? options : &none;
    if (!ALL_ZERO(options->reserved)) {
        err_set(err, INF_EINVAL, "a reserved field of the client's options is not zero");
        return NULL;
    }
    if (options->latency_ms > LATENCY_MAX_MS) {
        err_set(err, INF_EINVAL, "latency_ms is %u; at most %d", (unsigned)options->latency_ms,
                LATENCY_MAX_MS);
        return NULL;
    }
    client = client_new(options);
    client->connection = connection_open(options, err);
    if (!client->connection) {
        client_free(client);
        return NULL;
    }
    if (loop_init(&client->loop, loop) < 0) { /* UNTESTED: libuv's own code never fails here */
        err_set(err, INF_EIO, "libuv: can't initialize a handle");
        client_free(client);
        return NULL;
    }
    gather_set_interval(&client->loop.gather, options->latency_ms);
    client_connect_parts(client);
    log_proxy(client);
    sleep_watch_start(&client->loop.clock, &client->sleep, client_on_slept);
    return client;
}

/* ---- another connection ---- */

static void free_former_connection(struct deferred_free *deferred_free)
{
    connection_free(container_of(deferred_free, struct connection, deferred_free));
}

/* Ends the requests on former connections; their users repeat them. After that no stream uses a
 * former connection. */
static void client_on_cut(struct timer *timer)
{
    struct inf_client *client = container_of(timer, struct inf_client, cut);
    struct inf_error why;
    err_set(&why, INF_ECUT, "connection settings changed: reconnecting");
    http_pool_cut(client->pool, &why);
    list_for_each_safe(node, &client->former) {
        list_remove(node);
        clock_free_later(&client->loop.clock,
                         &container_of(node, struct connection, node)->deferred_free,
                         free_former_connection);
    }
}

/* Takes ownership of @next. Requests on the former connection end later, from the loop:
 * client_on_cut(). */
static void client_use_connection(struct inf_client *client, struct connection *next)
{
    struct clock *clock = &client->loop.clock;
    struct dialer *dialer;
    connection_stop(client->connection);
    list_push(&client->former, &client->connection->node);
    client->connection = next;
    dialer = connection_start(next, clock, &client->tcp_dialer.dialer, log_of(client));
    http_pool_move(client->pool, dialer, next->config.host, next->config.port);
    connection_set_pool(next, client->pool);
    client_describe_server(client);
    auth_change(client->auth, &next->config, &next->tls, &next->proxy);
    timer_start(clock, &client->cut, 0);
    if (client->user_log)
        log_line(&client->log, LOG_INFO, "%s: connection settings changed: reconnecting",
                 next->url);
    log_proxy(client);
}

/* The caches hold the state of another server: discovers and lists again. */
static void client_relist_at_new_server(struct inf_client *client, const char *before)
{
    char *why = xasprintf("the server URL changed from %s to %s", before, client->connection->url);
    discovery_cache_forget(client->discovery_cache);
    list_for_each(node, &client->caches) {
        struct shared *s = container_of(node, struct shared, node);
        reflector_moved(&s->pipeline.reflector, why);
        recorder_redefined(s->recorder);
    }
    free(why);
}

void inf_client_adopt(struct inf_client *client, struct inf_client *fresh)
{
    struct connection *next = fresh->connection;
    char *before;
    if (client->stale_after_ms != fresh->stale_after_ms) {
        client->stale_after_ms = fresh->stale_after_ms;
        list_for_each(node, &client->caches)
            reflector_set_stale_after(&container_of(node, struct shared, node)->pipeline.reflector,
                                      client->stale_after_ms);
    }
    if (client->loop.gather.interval_ms != fresh->loop.gather.interval_ms)
        gather_set_interval(&client->loop.gather, fresh->loop.gather.interval_ms);
    if (connection_equal(client->connection, next)) {
        connection_renew(client->connection); /* reads its files again */
        auth_renew(client->auth);
        inf_client_close(fresh, NULL);
        return;
    }
    connection_stop(next);
    fresh->connection = NULL; /* owned by the client now */
    inf_client_close(fresh, NULL);
    before = xstrdup(client->connection->url);
    client_use_connection(client, next);
    if (strcmp(before, next->url) != 0)
        client_relist_at_new_server(client, before);
    free(before);
}

/* ---- getters and close ---- */

bool inf_client_same(const struct inf_client *a, const struct inf_client *b)
{
    return connection_equal(a->connection, b->connection);
}

const char *inf_client_server(const struct inf_client *client)
{
    return client->connection->url;
}

uint64_t inf_client_ca_digest(const struct inf_client *client)
{
    static const struct siphash_key fixed = {UINT64_C(0x696e666f726d6572), 2};
    const char *pem = client->connection->config.ca_pem;
    return pem ? siphash13(&fixed, pem, strlen(pem)) : 0;
}

const char *inf_client_namespace(const struct inf_client *client)
{
    return client->connection->config.namespace;
}

void *inf_client_data(const struct inf_client *client)
{
    return client->data;
}

void inf_client_set_data(struct inf_client *client, void *data)
{
    client->data = data;
}

uint64_t inf_client_worst_tick_us(struct inf_client *client)
{
    return loop_worst_tick_us(&client->loop);
}

static void client_on_closed(struct loop *loop)
{
    struct inf_client *client = container_of(loop, struct inf_client, loop);
    if (client->on_closed)
        client->on_closed(client);
    client_free(client);
}

void inf_client_close(struct inf_client *client, inf_client_closed_fn *on_closed)
{
    if (!client)
        return;
    client->on_closed = on_closed;
    request_cancel_all(client);
    informer_close_all(client);
    queue_close_all(client);
    discovery_cache_close(client->discovery_cache);
    auth_free(client->auth);
    if (client->connection)
        connection_stop(client->connection);
    timer_stop(&client->loop.clock, &client->cut);
    http_pool_free(client->pool);
    tcp_dialer_close(&client->tcp_dialer);
    sleep_watch_stop(&client->sleep);
    loop_close(&client->loop, client_on_closed);
}
