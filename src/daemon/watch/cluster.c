/*
 * cluster.c - opens, replaces and closes the client of a cluster.
 *
 * A cluster_open() that fails leaves nothing behind; nothing else here can fail.
 */
#include "daemon/watch/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/cluster_move.h"

/* NULL: no list is configured. The caller frees it; the strings belong to @list. */
static const char **null_terminated(const struct conf_list *list)
{
    const char **items = list->items ? xcalloc(list->count + 1, sizeof(char *)) : NULL;
    for (size_t i = 0; i < list->count; i++)
        items[i] = list->items[i];
    return items;
}

/* A cluster without a configured name is the only one: messages need not name it. */
static bool is_unnamed(const struct conf_cluster *conf)
{
    return strcmp(conf->name, "default") == 0;
}

static struct inf_client *open_client(const struct conf_cluster *conf,
                                      const struct cluster_setup *setup, struct inf_error *err)
{
    char user_agent[64];
    const char **allow = null_terminated(&conf->exec_allow);
    const char **groups = null_terminated(&conf->as_groups);
    struct inf_client_options options = {
        .kubeconfig = conf->kubeconfig,
        .context = conf->context,
        .cluster = conf->cluster,
        .user = conf->user,
        .as = conf->as,
        .as_groups = groups,
        .server = conf->server,
        .ca_file = conf->ca,
        .token_file = conf->token_file,
        .token = conf->token,
        .exec_allow = allow,
        .proxy = conf->proxy,
        .user_agent = user_agent,
        .stale_after_ms = (uint32_t)conf->stale_after_ms,
        .hash_key = setup->hash_key,
        .budget = setup->budget,
        .latency_ms = setup->latency_ms,
        .log = daemon_log_line,
        .log_data = setup->log,
        .log_name = is_unnamed(conf) ? NULL : conf->name,
        .log_level = INF_LOG_DEBUG, /* daemon_log decides: its level may change while we run */
    };
    struct inf_client *client;
    snprintf(user_agent, sizeof(user_agent), "informerd/%s", inf_version());
    client = inf_client_open(setup->uv, &options, err);
    free(allow);
    free(groups);
    return client;
}

struct cluster *cluster_open(const struct conf_cluster *conf, const struct cluster_setup *setup,
                             struct inf_error *err)
{
    struct inf_client *client = open_client(conf, setup, err);
    struct cluster *cluster;
    if (!client) {
        if (!is_unnamed(conf))
            err_wrap(err, "cluster '%s'", conf->name);
        return NULL;
    }
    cluster = NEW(struct cluster);
    list_init(&cluster->node);
    cluster->conf = conf;
    cluster->client = client;
    cluster->state = setup->state;
    cluster->clock = setup->clock;
    cluster->log = setup->log;
    cluster->log_syncs = setup->log_syncs;
    cluster->owner = setup->owner;
    cluster->on_other = setup->on_other;
    return cluster;
}

bool cluster_same_server(const struct cluster *cluster, const struct cluster *other)
{
    return strcmp(inf_client_server(cluster->client), inf_client_server(other->client)) == 0;
}

void cluster_adopt(struct cluster *cluster, struct cluster *fresh)
{
    inf_client_adopt(cluster->client, fresh->client);
    fresh->client = NULL; /* closed */
    cluster_close(fresh);
}

void cluster_close(struct cluster *cluster)
{
    if (!cluster)
        return;
    list_remove(&cluster->node);
    cluster_move_close(cluster);
    inf_client_close(cluster->client, NULL);
    free(cluster);
}

struct cluster *cluster_find(const struct list *clusters, const char *name)
{
    list_for_each(node, clusters) {
        struct cluster *cluster = container_of(node, struct cluster, node);
        if (strcmp(cluster->conf->name, name) == 0)
            return cluster;
    }
    return NULL;
}
