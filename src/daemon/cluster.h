/*
 * cluster.h - one cluster of the conf: a client for as long as the server is the same one. Other settings, and other
 * contents of the files behind them, are given to the client while it runs.
 */
#ifndef DAEMON_CLUSTER_H
#define DAEMON_CLUSTER_H

#include <stdbool.h>

#include <uv.h>

#include "informer/informer.h"

#include "base/list.h"
#include "daemon/conf.h"

struct ownlog;

struct cluster {
    struct list node;
    const struct conf_cluster *conf; /* lent; another one after each reload */
    struct inf_client *client;
};

/* What all clusters have in common. */
struct cluster_setup {
    uv_loop_t *uv;
    struct ownlog *log;
    const unsigned char *hash_key; /* NULL: a new one for each client */
    struct inf_budget *budget;     /* NULL: none */
};

/* Reads the files and does not connect yet. NULL, with @err naming what can't be used. */
struct cluster *cluster_open(const struct conf_cluster *conf, const struct cluster_setup *setup,
                             struct inf_error *err);

/* Whether the two, one opened again from the files of the other, have the same server URL. */
bool cluster_same_server(const struct cluster *cluster, const struct cluster *other);

/* Goes on as @fresh was read, which is freed. */
void cluster_adopt(struct cluster *cluster, struct cluster *fresh);

/* With all its informers. NULL is fine. */
void cluster_close(struct cluster *cluster);

struct cluster *cluster_find(const struct list *clusters, const char *name);

#endif
