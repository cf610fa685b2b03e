/*
 * client.h - the client as the files of lib/ see it.
 */
#ifndef LIB_CLIENT_H
#define LIB_CLIENT_H

#include "informer/informer.h"

#include "base/log.h"
#include "base/rng.h"
#include "core/object/shape.h"
#include "core/object/text_packer.h"
#include "core/reflector/list_limiter.h"
#include "kube/discovery/discovery_cache.h"
#include "kube/source/api_source.h"
#include "kube/source/warnings.h"
#include "lib/connection.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "loop/tcp.h"
#include "wire/http/http_pool.h"
#include "wire/tls/tls_digest.h"

struct inf_client {
    struct loop loop;
    struct log log; /* passes lines to user_log */
    void (*user_log)(void *data, enum inf_log_level level, const char *line);
    void *user_log_data;
    char *log_name; /* prefix of lines; NULL: none */
    struct rng rng;
    struct digest digest; /* hashes secret values, with `keyed_digest` */
    struct tls_digest *keyed_digest;

    struct connection *connection; /* the current one */
    struct list former;            /* of struct connection: stopped, freed after the cut */
    struct timer cut;              /* ends the requests on former connections */
    struct tcp_dialer tcp_dialer;
    struct http_pool *pool;
    struct warnings warnings;
    struct child_spawner spawner;
    struct auth *auth;
    struct api_server server;
    struct discovery_cache *discovery_cache; /* the server's discovery documents */
    char *user_agent;

    struct sleep_watch sleep;
    struct list_limiter list_limiter; /* limits concurrent lists */
    struct pack_context *packing;     /* for caches that hold compressed objects */
    uint32_t stale_after_ms;
    struct inf_state *state;   /* that records its caches; NULL: none */
    struct inf_budget *budget; /* NULL: none; referenced by the informers' accounts */
    struct list caches;        /* of struct shared */
    struct list informers;     /* of struct inf_informer */
    struct list queues;
    struct list requests; /* of struct request */
    void *data;           /* the user's */
    inf_client_closed_fn *on_closed;
};

/* Each closes all open handles of its kind, or cancels all requests. */
void informer_close_all(struct inf_client *client);
void queue_close_all(struct inf_client *client);
void request_cancel_all(struct inf_client *client);

/* An informer closes: no request waits for it any more. */
void request_informer_closed(struct inf_client *client, const struct inf_informer *informer);

/* The informer whose node this is, in client->informers. */
struct inf_informer *informer_of_node(struct list *node);

#endif
