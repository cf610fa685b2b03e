/*
 * cluster.h - one cluster of the conf: a client for as long as the server is the same one. Other settings, and other
 * contents of the files behind them, are given to the client while it runs.
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

/* Of which it is known that it is the same one elsewhere: see cluster_move.h. */
struct cluster_identity {
    char *uid;                     /* of its namespace kube-system; NULL: not known */
    bool settled;                  /* it is known, or that it can't be */
    struct inf_question *question; /* NULL: none is open */
    struct timer again;            /* to ask it again */
    bool complained;
    void (*on_identified)(struct cluster *cluster);
};

struct cluster {
    struct list node;
    const struct conf_cluster *conf; /* lent; another one after each reload */
    struct inf_client *client;
    struct clock *clock;
    struct daemon_log *log;
    struct cluster_identity identity;
    struct cluster *next;  /* at another URL, if it is the same; NULL: it does not move */
    struct cluster *moves; /* of a next one: whose */
    void *owner;
    void (*on_other)(struct cluster *cluster); /* `next` is another cluster */
};

/* What all clusters have in common. */
struct cluster_setup {
    uv_loop_t *uv;
    struct clock *clock;
    struct daemon_log *log;
    const unsigned char *hash_key; /* NULL: a new one for each client */
    struct inf_budget *budget;     /* NULL: none */
    void *owner;
    void (*on_other)(struct cluster *cluster);
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
