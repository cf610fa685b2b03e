/*
 * apply_plan.c - finds out what a new configuration keeps, changes, replaces and adds.
 *
 * Clusters first: each is opened from its files, without connecting, and compared with the running
 * one of that name. Then watches: each continues a running one of the same name, or of the same
 * settings under another name, if that can be done without a restart. The first error ends the
 * planning; nothing that runs has been changed then.
 */
#include "daemon/watch/apply_plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/conf/conf_same.h"
#include "daemon/watch/cluster_move.h"

/* ---- clusters ---- */

/* The files that a cluster names may have changed too, so they are read again. Other
 * credentials, authorities or proxies for the same server URL need no restart of the watches,
 * nor does another URL of the same cluster. */
static int plan_one_cluster(struct plan *p, size_t i, struct inf_error *err)
{
    const struct conf_cluster *conf = &p->conf->clusters[i];
    struct cluster_setup setup = {.uv = &p->d->uv,
                                  .clock = &p->d->loop.clock,
                                  .log = &p->d->log,
                                  .log_syncs = !p->d->options.ad_hoc,
                                  .owner = p->d,
                                  .on_other = p->on_other,
                                  .hash_key = p->d->state_lock < 0 ? NULL : p->d->hash_key,
                                  .budget = p->d->budget,
                                  .latency_ms = (uint32_t)p->conf->latency_ms,
                                  .state = p->d->saved.state};
    struct cluster *old = cluster_find(&p->d->clusters, conf->name);
    struct cluster *fresh = cluster_open(conf, &setup, err);
    if (!fresh)
        return -err->code;
    if (old && (cluster_same_server(old, fresh) || cluster_move_known(old)))
        p->clusters[i] = (struct planned_cluster){.cluster = old, .reread = fresh};
    else
        p->clusters[i].cluster = fresh;
    return 0;
}

struct cluster *plan_cluster(const struct plan *p, const char *name)
{
    for (size_t i = 0; i < p->conf->n_clusters; i++)
        if (strcmp(p->conf->clusters[i].name, name) == 0)
            return p->clusters[i].cluster;
    return NULL; /* not reached: the conf was validated */
}

char *plan_why_other_cluster(const struct cluster *before, const struct cluster *after)
{
    return xasprintf(
        "cluster '%s': the server URL changed from %s to %s, which is not known to be the same "
        "cluster: its objects are reported as initial, the previous ones are not reported as "
        "deleted",
        before->conf->name, inf_client_server(before->client), inf_client_server(after->client));
}

/* ---- watches ---- */

struct watcher *plan_find_running(const struct daemon *d, const char *name)
{
    list_for_each(node, &d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        if (strcmp(w->conf->name, name) == 0)
            return w;
    }
    return NULL;
}

/* Whether neither its name nor an earlier entry of the plan continues it. */
static bool is_unclaimed(const struct plan *p, const struct watcher *watcher)
{
    for (size_t i = 0; i < p->conf->n_watches; i++)
        if (p->watches[i].watcher == watcher ||
            strcmp(p->conf->watches[i].name, watcher->conf->name) == 0)
            return false;
    return true;
}

/* A watch with the same settings under a name that is no longer in the conf. */
static struct watcher *find_renamed(const struct plan *p, const struct conf_watch *conf)
{
    list_for_each(node, &p->d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        if (is_unclaimed(p, w) && conf_watch_same(w->conf, conf))
            return w;
    }
    return NULL;
}

/* The running watch that continues as @conf, changed or not; NULL: there is none. */
static struct watcher *find_old(const struct plan *p, const struct conf_watch *conf)
{
    struct watcher *old = plan_find_running(p->d, conf->name);
    if (!old)
        old = find_renamed(p, conf);
    return old && old->cluster == plan_cluster(p, conf->cluster) &&
                   conf_watch_same_resource(old->conf, conf) && watcher_can_change(old, conf)
               ? old
               : NULL;
}

/* @what, then the changed settings. */
static char *why_changed(const char *what, const struct conf_watch *before,
                         const struct conf_watch *after)
{
    struct buf why = {0};
    buf_puts(&why, what);
    conf_watch_put_changes(before, after, &why);
    buf_putc(&why, '\0');
    return why.bytes;
}

/* Why a running watch of that name and resource can't continue. NULL: there is none. */
static char *why_restarted(const struct plan *p, const struct conf_watch *conf)
{
    const struct watcher *old = plan_find_running(p->d, conf->name);
    const struct cluster *cluster = plan_cluster(p, conf->cluster);
    if (!old || !conf_watch_same_resource(old->conf, conf))
        return NULL;
    if (old->cluster != cluster)
        return plan_why_other_cluster(old->cluster, cluster);
    return why_changed("the watch restarts because its configuration changed: ", old->conf, conf);
}

static int plan_one_watch(struct plan *p, size_t i, struct inf_error *err)
{
    const struct conf_watch *conf = &p->conf->watches[i];
    struct watcher *old = find_old(p, conf);
    p->watches[i] = (struct planned_watch){.watcher = old, .is_new = !old};
    if (!old)
        p->watches[i].restart = why_restarted(p, conf);
    else if (conf_watch_same(old->conf, conf))
        return 0;
    else
        p->watches[i].change =
            why_changed("the configuration of the watch changed: ", old->conf, conf);
    return watcher_check(conf, err);
}

/* ---- the plan ---- */

int plan_make(struct plan *p, struct inf_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < p->conf->n_clusters; i++)
        rc = plan_one_cluster(p, i, err);
    for (size_t i = 0; rc == 0 && i < p->conf->n_watches; i++)
        rc = plan_one_watch(p, i, err);
    return rc;
}
