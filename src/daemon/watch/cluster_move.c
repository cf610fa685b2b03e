/*
 * cluster_move.c - requests the uid of the namespace kube-system and compares it after a change of
 * the server URL.
 *
 * Normal path: cluster_identify() at the start; after a reload with another URL cluster_move()
 * identifies the new server; with the same uid the cluster adopts its client, otherwise the owner's
 * on_other() restarts the watches. A request that fails for a reason that may pass is repeated; one
 * that is refused makes the uid unknown for good.
 */
#include "daemon/watch/cluster_move.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"
#include "daemon/daemon_log.h"

enum {
    RETRY_MS = 60 * 1000,    /* before a failed request for the uid is repeated */
    RETRY_AWAITED_MS = 1000, /* the same while watches wait for it; doubled each time ... */
    RETRY_AWAITED_MAX_MS = 10 * 1000, /* ... up to this */
};

/* ---- identity ---- */

/* Errors that a retry would not change: the namespace may not be read, or does not exist. */
static bool is_final(const struct inf_error *why)
{
    return why->code == INF_EFORBIDDEN || why->code == INF_ENOTFOUND ||
           why->code == INF_EUNAUTHORIZED || why->code == INF_EDECODE;
}

/* A server that is starting has no uid yet, and watches wait for it. */
static void repeat_request(struct cluster *c, const struct inf_error *why)
{
    struct cluster_identity *identity = &c->identity;
    bool awaited = c->moves || identity->awaited;
    daemon_log_printf(c->log, awaited && !identity->failures ? INF_LOG_WARN : INF_LOG_DEBUG,
                      "cluster '%s': cannot read its identity (namespace kube-system) yet: %s",
                      c->conf->name, why->text);
    identity->error = *why;
    timer_start(c->clock, &identity->retry,
                awaited ? backoff_ms(RETRY_AWAITED_MS, RETRY_AWAITED_MAX_MS, identity->failures)
                        : RETRY_MS);
    identity->failures++;
}

static void on_uid(struct inf_request *request, const char *uid, const struct inf_error *why)
{
    struct cluster *c = request->data;
    free(request);
    if (!c)
        return; /* stop_identifying() */
    c->identity.request = NULL;
    if (uid)
        c->identity.uid = xstrdup(uid);
    c->identity.refused = !uid && is_final(why);
    if (uid || c->identity.refused)
        c->identity.on_identified(c);
    else
        repeat_request(c, why);
}

static void request_uid(struct cluster *c)
{
    c->identity.request = NEW(struct inf_request);
    c->identity.request->data = c;
    inf_cluster_uid_request(c->client, c->identity.request, on_uid);
}

static void on_retry(struct timer *timer)
{
    request_uid(container_of(timer, struct cluster, identity.retry));
}

void cluster_identify(struct cluster *c, void (*on_identified)(struct cluster *cluster))
{
    c->identity.on_identified = on_identified;
    c->identity.retry.fire = on_retry;
    request_uid(c);
}

static void stop_identifying(struct cluster *c)
{
    if (c->identity.request) {
        c->identity.request->data = NULL; /* on_uid() frees it */
        inf_request_cancel(c->identity.request);
    }
    c->identity.request = NULL;
    timer_stop(c->clock, &c->identity.retry);
}

/* ---- move ---- */

bool cluster_move_known(const struct cluster *cluster)
{
    return cluster->identity.uid != NULL;
}

static void on_next_identified(struct cluster *next)
{
    struct cluster *c = next->moves;
    const char *uid = next->identity.uid;
    if (!uid || strcmp(uid, c->identity.uid) != 0) {
        c->on_other(c);
        return;
    }
    daemon_log_printf(c->log, INF_LOG_INFO, "cluster '%s': %s is the same cluster as %s (uid %s)",
                      c->conf->name, inf_client_server(next->client), inf_client_server(c->client),
                      uid);
    c->next = NULL;
    cluster_adopt(c, next);
}

void cluster_move(struct cluster *c, struct cluster *next)
{
    c->next = next;
    next->moves = c;
    daemon_log_printf(
        c->log, INF_LOG_INFO,
        "cluster '%s': the server is now %s instead of %s; the watches stay until the new "
        "server is identified",
        c->conf->name, inf_client_server(next->client), inf_client_server(c->client));
    cluster_identify(next, on_next_identified);
}

void cluster_forget_next(struct cluster *c)
{
    cluster_close(c->next);
    c->next = NULL;
}

struct inf_client *cluster_take_next(struct cluster *c)
{
    struct cluster *next = c->next;
    struct inf_client *before = c->client;
    stop_identifying(c);
    c->client = next->client;
    free(c->identity.uid);
    c->identity.uid = next->identity.uid;
    c->identity.refused = next->identity.refused;
    next->client = NULL; /* owned by the cluster now, as is the uid */
    next->identity.uid = NULL;
    cluster_forget_next(c);
    return before;
}

void cluster_move_close(struct cluster *c)
{
    cluster_forget_next(c);
    stop_identifying(c);
    free(c->identity.uid);
    c->identity.uid = NULL;
}
