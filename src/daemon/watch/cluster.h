/*
 * cluster.h - one cluster of the configuration, with one client for as long as its server URL stays
 * the same.
 *
 * A reload with other settings, or with other contents of the files that they name, is applied to
 * the running client.
 */
#ifndef DAEMON_WATCH_CLUSTER_H
#define DAEMON_WATCH_CLUSTER_H

#include <stdbool.h>

#include <uv.h>

#include "informer/access.h"
#include "informer/informer.h"

#include "base/list.h"
#include "daemon/conf/conf.h"
#include "seam/clock.h"

struct cluster;
struct daemon_log;

/* How the cluster is recognised when its server URL changes: see cluster_move.h and stream_id.h. */
struct cluster_identity {
    char *uid;                   /* of its namespace kube-system; NULL: unknown */
    bool refused;                /* the uid will stay unknown: it may not be read */
    bool awaited;                /* watches open when it is known or refused */
    uint32_t failures;           /* of the request */
    struct inf_error error;      /* of the last one; code 0: none */
    struct inf_request *request; /* owned; NULL: none is in progress */
    struct timer retry;          /* retries the request */
    void (*on_identified)(struct cluster *cluster);
};

struct cluster {
    struct list node;
    const struct conf_cluster *conf; /* borrowed; replaced by each reload */
    struct inf_client *client;
    struct inf_state *state; /* on disk; borrowed; NULL: none */
    struct clock *clock;
    struct daemon_log *log;
    bool log_syncs;
    struct cluster_identity identity;
    struct cluster *next;  /* the same entry at its new URL, until identified; NULL: none */
    struct cluster *moves; /* set in a `next`: the cluster that moves to it */
    void *owner;
    void (*on_other)(struct cluster *cluster); /* `next` is a different cluster */
};

/* What all clusters share. Everything is borrowed. */
struct cluster_setup {
    uv_loop_t *uv;
    struct clock *clock;
    struct daemon_log *log;
    bool log_syncs;                /* log the first sync of each watch */
    const unsigned char *hash_key; /* NULL: each client makes its own */
    struct inf_budget *budget;     /* NULL: none */
    uint32_t latency_ms;
    struct inf_state *state; /* NULL: none */
    void *owner;
    void (*on_other)(struct cluster *cluster);
};

/* Reads the kubeconfig and the other files, without connecting. Returns NULL, with @err naming what
 * can't be used. */
struct cluster *cluster_open(const struct conf_cluster *conf, const struct cluster_setup *setup,
                             struct inf_error *err);

/* Whether both have the same server URL. */
bool cluster_same_server(const struct cluster *cluster, const struct cluster *other);

/* Continues with the settings of @fresh, which is freed. */
void cluster_adopt(struct cluster *cluster, struct cluster *fresh);

/* Closes the client with all its informers. NULL is allowed. */
void cluster_close(struct cluster *cluster);

/* NULL if no cluster has that name. */
struct cluster *cluster_find(const struct list *clusters, const char *name);

#endif
