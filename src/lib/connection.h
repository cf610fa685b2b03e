/*
 * connection.h - how one client reaches its server: address, proxy, TLS and credentials, as one reading of the
 * configuration gave them.
 *
 *     connection = connection_open(&options, err);             reads files, connects to nothing
 *     dialer = connection_start(connection, clock, tcp, log);  what the client's pool dials with
 *
 * A client can change to another connection while its informers run (inf_client_adopt()). The one before is stopped at once
 * and freed when no stream of it is left.
 */
#ifndef LIB_CONNECTION_H
#define LIB_CONNECTION_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/list.h"
#include "kube/auth/tls_reloader.h"
#include "kube/config/kubeconfig.h"
#include "wire/proxy.h"

struct connection {
    struct list node; /* among those that the client does not use any more */
    struct deferred_free deferred_free;
    struct kubeconfig config;
    struct proxy proxy;             /* without a host: none is used */
    struct kubeconfig proxy_config; /* by whom an https proxy is vouched for, and no more */
    struct tls_reloader proxy_tls;  /* with it, if it is https */
    struct proxy_dialer proxy_dialer;
    struct tls_reloader tls; /* over those, if it is https */
    char *host_header;
    char *url;
};

/* NULL, with @err naming file, entry and field, if the configuration is invalid. */
struct connection *connection_open(const struct inf_client_options *options, struct inf_error *err);

/* Begins to look after its files and returns what dials the server. All is borrowed; @log may be NULL. */
struct dialer *connection_start(struct connection *connection, struct clock *clock,
                                struct dialer *tcp, struct log *log);

/* The pool that dials with it: a renewed certificate ends connections there. */
void connection_set_pool(struct connection *connection, struct http_pool *pool);

/* Whether both reach the same server in the same way. Files are compared by their paths: what is in them, and that it
 * changes, is the business of who reads them. */
bool connection_equal(const struct connection *a, const struct connection *b);

/* Reads its certificate files again, now. */
void connection_renew(struct connection *connection);

/* Looks at no file any more. Before the clock goes; may be started again. */
void connection_stop(struct connection *connection);

/* When no stream of it is left. NULL is fine. */
void connection_free(struct connection *connection);

#endif
