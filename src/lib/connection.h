/*
 * connection.h - how a client reaches its server: address, proxy, TLS and credentials, read from
 * the configuration once.
 *
 *     connection = connection_open(&options, err);             reads files, connects to nothing
 *     dialer = connection_start(connection, clock, tcp, log);  the dialer for the client's pool
 *
 * A client can change to another connection while its informers run (inf_client_adopt()). The
 * previous one is stopped at once and freed when it has no streams left.
 */
#ifndef LIB_CONNECTION_H
#define LIB_CONNECTION_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/list.h"
#include "kube/auth/tls_reloader.h"
#include "kube/config/kubeconfig.h"
#include "wire/proxy/proxy.h"

struct connection {
    struct list node; /* in the client's list of former connections */
    struct deferred_free deferred_free;
    struct kubeconfig config;
    struct proxy proxy;             /* host is NULL: no proxy */
    struct kubeconfig proxy_config; /* only the authorities for an https proxy */
    struct tls_reloader proxy_tls;  /* for an https proxy */
    struct proxy_dialer proxy_dialer;
    struct tls_reloader tls; /* for an https server */
    char *host_header;
    char *url;
};

/* Returns NULL, with @err naming file, entry and field, if the configuration is invalid. */
struct connection *connection_open(const struct inf_client_options *options, struct inf_error *err);

/* Starts to watch its files and returns the dialer for the server. All arguments are borrowed; @log
 * may be NULL. */
struct dialer *connection_start(struct connection *connection, struct clock *clock,
                                struct dialer *tcp, struct log *log);

/* Sets the pool that uses the dialer: a renewed certificate drops its connections. */
void connection_set_pool(struct connection *connection, struct http_pool *pool);

/* Whether both reach the same server in the same way. Files are compared by path, not by
 * content: their readers reload them when they change. */
bool connection_equal(const struct connection *a, const struct connection *b);

/* Reads the certificate files again immediately. */
void connection_renew(struct connection *connection);

/* Stops watching files. Must be called before the clock is closed. The connection may be started
 * again. */
void connection_stop(struct connection *connection);

/* No stream may use it any more. NULL is allowed. */
void connection_free(struct connection *connection);

#endif
