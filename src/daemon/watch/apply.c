/*
 * apply.c - applies a configuration to the running daemon.
 *
 * First a plan is made of all clusters and watches: running ones that are kept, and new ones, which
 * are checked but not opened. Only if the whole plan is valid, running ones that are not in the
 * plan are closed and new ones are started. So an invalid configuration changes nothing, and a
 * valid one only what differs.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/cli/terminal.h"
#include "daemon/conf/conf_same.h"
#include "daemon/daemon.h"
#include "daemon/watch/cluster.h"
#include "daemon/watch/cluster_move.h"
#include "daemon/watch/watcher.h"

struct planned_cluster {
    struct cluster *cluster;
    struct cluster *reread; /* a kept cluster opened again from its files; NULL: it is new */
};

struct planned_watch {
    struct watcher *watcher;
    bool is_new;
    char *change;  /* of a kept watch: why it has to list again; NULL: it need not */
    char *restart; /* of a new watch: why it replaces a running one; NULL: it does not */
};

struct plan {
    struct daemon *d;
    struct conf *conf; /* empty after plan_carry_out() */
    size_t n_watches;
    struct planned_cluster *clusters; /* one for each in the conf, in its order */
    struct planned_watch *watches;    /* likewise */
};

/* ---- change to another cluster ---- */

static char *why_other_cluster(const struct cluster *before, const struct cluster *after)
{
    return xasprintf(
        "cluster '%s': the server URL changed from %s to %s, which is not known to be the same "
        "cluster: its objects are reported as initial, the previous ones are not reported as "
        "deleted",
        before->conf->name, inf_client_server(before->client), inf_client_server(after->client));
}

/* watcher_check() has accepted @conf. */
static struct watcher *open_checked(struct daemon *d, const struct conf_watch *conf,
                                    struct cluster *cluster)
{
    struct inf_error err;
    struct watcher *w = watcher_open(conf, cluster, &d->consumers, &err);
    if (!w)
        abort(); /* UNTESTED: watcher_check() reports all errors */
    return w;
}

/* The new watcher takes the same place in the list. */
static void restart_watcher(struct daemon *d, struct watcher *w, const char *why)
{
    struct watcher *fresh = open_checked(d, w->conf, w->cluster);
    list_push(&w->node, &fresh->node);
    watcher_continue_counters(fresh, w);
    watcher_close(w);
    watcher_begin(fresh);
    watcher_note_restart(fresh, why);
}

/* The new server belongs to another cluster, or did not identify itself. */
static void on_other_cluster(struct cluster *cluster)
{
    struct daemon *d = cluster->owner;
    char *why = why_other_cluster(cluster, cluster->next);
    struct inf_client *before = cluster_take_next(cluster);
    daemon_log_printf(&d->log, INF_LOG_WARN, "%s", why);
    list_for_each_safe(node, &d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        if (w->cluster == cluster)
            restart_watcher(d, w, why);
    }
    inf_client_close(before, NULL);
    free(why);
}

/* ---- clusters ---- */

/* The files that a cluster names may have changed too, so they are read again. Other
 * credentials, authorities or proxies for the same server URL need no restart of the watches,
 * nor does another URL of the same cluster. */
static int plan_cluster(struct plan *p, size_t i, struct inf_error *err)
{
    const struct conf_cluster *conf = &p->conf->clusters[i];
    struct cluster_setup setup = {.uv = &p->d->uv,
                                  .clock = &p->d->loop.clock,
                                  .log = &p->d->log,
                                  .owner = p->d,
                                  .on_other = on_other_cluster,
                                  .hash_key = p->d->state_lock < 0 ? NULL : p->d->hash_key,
                                  .budget = p->d->budget};
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

static struct cluster *planned_cluster(const struct plan *p, const char *name)
{
    for (size_t i = 0; i < p->conf->n_clusters; i++)
        if (strcmp(p->conf->clusters[i].name, name) == 0)
            return p->clusters[i].cluster;
    return NULL; /* not reached: the conf was validated */
}

/* ---- watches ---- */

static struct watcher *find_watcher(const struct daemon *d, const char *name)
{
    list_for_each(node, &d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        if (strcmp(w->conf->name, name) == 0)
            return w;
    }
    return NULL;
}

static bool has_watch(const struct conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->n_watches; i++)
        if (strcmp(conf->watches[i].name, name) == 0)
            return true;
    return false;
}

static bool is_planned(const struct plan *p, const struct watcher *watcher)
{
    for (size_t i = 0; i < p->conf->n_watches; i++)
        if (p->watches[i].watcher == watcher)
            return true;
    return false;
}

/* A watch with the same settings under a name that is no longer in the conf. */
static struct watcher *find_renamed(const struct plan *p, const struct conf_watch *conf)
{
    list_for_each(node, &p->d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        if (!has_watch(p->conf, w->conf->name) && !is_planned(p, w) &&
            conf_watch_same(w->conf, conf))
            return w;
    }
    return NULL;
}

/* The running watch that continues as @conf, changed or not; NULL: there is none. */
static struct watcher *find_old(const struct plan *p, const struct conf_watch *conf)
{
    struct watcher *old = find_watcher(p->d, conf->name);
    if (!old)
        old = find_renamed(p, conf);
    return old && old->cluster == planned_cluster(p, conf->cluster) &&
                   conf_watch_same_resource(old->conf, conf) && watcher_can_change(old, conf)
               ? old
               : NULL;
}

static char *why_changed(const struct conf_watch *before, const struct conf_watch *after)
{
    struct buf why = {0};
    buf_puts(&why, "the configuration of the watch changed: ");
    conf_watch_put_changes(before, after, &why);
    buf_putc(&why, '\0');
    return why.bytes;
}

/* Why a running watch of that name and resource can't continue. NULL: there is none. */
static char *why_restarted(const struct plan *p, const struct conf_watch *conf)
{
    const struct watcher *old = find_watcher(p->d, conf->name);
    const struct cluster *cluster = planned_cluster(p, conf->cluster);
    struct buf why = {0};
    if (!old || !conf_watch_same_resource(old->conf, conf))
        return NULL;
    if (old->cluster != cluster)
        return why_other_cluster(old->cluster, cluster);
    buf_puts(&why, "the watch restarts because its configuration changed: ");
    conf_watch_put_changes(old->conf, conf, &why);
    buf_putc(&why, '\0');
    return why.bytes;
}

static int plan_watcher(struct plan *p, size_t i, struct inf_error *err)
{
    const struct conf_watch *conf = &p->conf->watches[i];
    struct watcher *old = find_old(p, conf);
    p->watches[i] = (struct planned_watch){.watcher = old, .is_new = !old};
    if (!old)
        p->watches[i].restart = why_restarted(p, conf);
    else if (conf_watch_same(old->conf, conf))
        return 0;
    else
        p->watches[i].change = why_changed(old->conf, conf);
    return watcher_check(conf, err);
}

/* ---- the journal ---- */

static struct event_log_settings log_settings(const struct daemon *d,
                                              const struct conf_event_log *c)
{
    bool to_stdout = strcmp(c->path, "stdout") == 0;
    return (struct event_log_settings){
        .sink = {.target = c->path,
                 .fd = STDOUT_FILENO,
                 .rotate_size = c->rotate.size,
                 .keep = (unsigned)c->rotate.keep},
        .stuck_after_ms = d->options.ad_hoc ? 0 : c->stuck_after_ms,
        .format = record_formats[c->format],
        .record = {.object = c->object == CONF_OBJECT_NONE   ? RECORD_NONE
                             : c->object == CONF_OBJECT_DIFF ? RECORD_DIFF
                                                             : RECORD_FULL,
                   .max_line = c->max_line,
                   .colour = to_stdout && terminal_has_colours(STDOUT_FILENO),
                   .width = to_stdout ? terminal_width(STDOUT_FILENO) : 0},
        .filter = {.watches = (const char *const *)c->watches.items,
                   .n_watches = c->watches.count,
                   .namespaces = (const char *const *)c->namespaces.items,
                   .n_namespaces = c->namespaces.count,
                   .verbs = c->verbs,
                   .changed = (const char *const *)c->changed.items,
                   .n_changed = c->changed.count,
                   .labels = c->label_selector,
                   .initial = c->initial},
        .notes = d->options.ad_hoc ? 1u << NOTE_SYNCED | 1u << NOTE_RELIST | 1u << NOTE_GAP |
                                         1u << NOTE_STALE | 1u << NOTE_RECOVERED
                                   : 0,
    };
}

static int set_logs(struct daemon *d, const struct conf *conf, struct inf_error *err)
{
    size_t n = conf->n_event_logs;
    struct event_log_settings *settings = xcalloc(n + 1, sizeof(*settings));
    int rc;
    for (size_t i = 0; i < n; i++)
        settings[i] = log_settings(d, &conf->event_logs[i]);
    rc = journal_set_logs(&d->journal, settings, n, err);
    free(settings);
    return rc;
}

/* ---- the plan ---- */

static int plan_make(struct plan *p, struct inf_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < p->conf->n_clusters; i++)
        rc = plan_cluster(p, i, err);
    for (size_t i = 0; rc == 0 && i < p->conf->n_watches; i++)
        rc = plan_watcher(p, i, err);
    return rc;
}

/* ---- carrying out the plan ---- */

/* From watches that can't continue to the new ones of the same name in the same cluster. */
static void hand_over_counters(struct plan *p)
{
    for (size_t i = 0; i < p->conf->n_watches; i++) {
        const struct conf_watch *conf = &p->conf->watches[i];
        struct watcher *old = find_watcher(p->d, conf->name);
        if (old && strcmp(old->conf->cluster, conf->cluster) == 0)
            watcher_continue_counters(p->watches[i].watcher, old);
    }
}

static size_t close_the_rest(struct daemon *d)
{
    size_t closed = 0;
    list_for_each_safe(node, &d->watchers) {
        watcher_close(container_of(node, struct watcher, node));
        closed++;
    }
    list_for_each_safe(node, &d->clusters)
        cluster_close(container_of(node, struct cluster, node));
    return closed;
}

static void put_cluster_in_place(struct plan *p, size_t i)
{
    struct cluster *cluster = p->clusters[i].cluster, *reread = p->clusters[i].reread;
    if (!reread) {
        if (!p->d->options.ad_hoc) /* its conf never changes */
            cluster_identify(cluster, NULL);
        return;
    }
    cluster_forget_next(cluster);
    if (cluster_same_server(cluster, reread))
        cluster_adopt(cluster, reread);
    else
        cluster_move(cluster, reread);
}

/* What happened to the watches. */
struct tally {
    size_t kept, changed, begun, closed;
};

static void put_watch_in_place(struct plan *p, size_t i, struct tally *tally)
{
    const struct conf_watch *conf = &p->conf->watches[i];
    struct cluster *cluster = planned_cluster(p, conf->cluster);
    const struct planned_watch *planned = &p->watches[i];
    struct watcher *w = planned->watcher;
    list_push(&p->d->watchers, &w->node);
    if (planned->change) {
        watcher_change(w, conf, cluster, planned->change);
        tally->changed++;
        return;
    }
    watcher_move(w, conf, cluster);
    if (planned->is_new) {
        watcher_begin(w);
        if (planned->restart)
            watcher_note_restart(w, planned->restart);
        tally->begun++;
    } else {
        tally->kept++;
    }
}

static void put_in_place(struct plan *p, struct tally *tally)
{
    struct daemon *d = p->d;
    for (size_t i = 0; i < p->conf->n_clusters; i++) {
        p->clusters[i].cluster->conf = &p->conf->clusters[i];
        list_push(&d->clusters, &p->clusters[i].cluster->node);
        put_cluster_in_place(p, i);
    }
    for (size_t i = 0; i < p->conf->n_watches; i++)
        put_watch_in_place(p, i, tally);
}

static void put_count(struct buf *out, size_t n, const char *what)
{
    if (n)
        buf_printf(out, "%s%zu %s", out->bytes[out->len - 1] == ' ' ? "" : ", ", n, what);
}

/* "2 watches unchanged, 1 watch changed, 1 watch started, 1 watch stopped" */
static void put_what(struct buf *out, const struct tally *t)
{
    put_count(out, t->kept, t->kept == 1 ? "watch unchanged" : "watches unchanged");
    put_count(out, t->changed, t->changed == 1 ? "watch changed" : "watches changed");
    put_count(out, t->begun, t->begun == 1 ? "watch started" : "watches started");
    put_count(out, t->closed, t->closed == 1 ? "watch stopped" : "watches stopped");
    if (!t->kept && !t->changed && !t->begun && !t->closed)
        buf_puts(out, "no watches");
}

static bool has_event_log(const struct conf *conf, const char *path)
{
    for (size_t i = 0; i < conf->n_event_logs; i++) {
        if (strcmp(conf->event_logs[i].path, path) == 0)
            return true;
    }
    return false;
}

static size_t count_event_logs_without(const struct conf *conf, const struct conf *other)
{
    size_t n = 0;
    for (size_t i = 0; i < conf->n_event_logs; i++)
        n += !has_event_log(other, conf->event_logs[i].path);
    return n;
}

/* ", 1 event log added, 2 event logs removed" */
static void put_event_logs(struct buf *out, const struct conf *before, const struct conf *now)
{
    size_t added = count_event_logs_without(now, before);
    size_t removed = count_event_logs_without(before, now);
    put_count(out, added, added == 1 ? "event log added" : "event logs added");
    put_count(out, removed, removed == 1 ? "event log removed" : "event logs removed");
}

static void plan_carry_out(struct plan *p, struct buf *ret_what)
{
    struct daemon *d = p->d;
    struct conf before = d->conf;
    struct tally tally = {0};
    /* before old watches are closed, so that a cache shared by both stays */
    for (size_t i = 0; i < p->n_watches; i++) {
        const struct conf_watch *conf = &p->conf->watches[i];
        if (p->watches[i].is_new)
            p->watches[i].watcher = open_checked(d, conf, planned_cluster(p, conf->cluster));
    }
    /* what stays in the daemon's lists is not in the plan */
    for (size_t i = 0; i < p->conf->n_clusters; i++)
        list_remove(&p->clusters[i].cluster->node);
    for (size_t i = 0; i < p->n_watches; i++)
        list_remove(&p->watches[i].watcher->node);
    hand_over_counters(p);
    tally.closed = close_the_rest(d);
    put_in_place(p, &tally);
    d->conf = *p->conf;
    *p->conf = (struct conf){0}; /* owned by the daemon now */
    inf_budget_set_limit(d->budget, d->conf.memory.backlog);
    daemon_log_change(&d->log, d->conf.log.level, d->conf.log.format);
    if (ret_what) {
        put_what(ret_what, &tally);
        put_event_logs(ret_what, &before, &d->conf);
    }
    conf_free(&before);
}

/* Everything that can fail comes first. The event logs are the last of these, because they can't be
 * checked without being set. */
int daemon_apply(struct daemon *d, struct conf *conf, struct buf *ret_what, struct inf_error *err)
{
    struct plan plan = {
        .d = d,
        .conf = conf,
        .n_watches = conf->n_watches,
        .clusters = xcalloc(conf->n_clusters + 1, sizeof(*plan.clusters)),
        .watches = xcalloc(conf->n_watches + 1, sizeof(*plan.watches)),
    };
    int rc = plan_make(&plan, err);
    if (rc == 0)
        rc = web_prepare(&d->web, conf, err);
    if (rc == 0 && (rc = set_logs(d, conf, err)) < 0)
        web_abandon(&d->web);
    if (rc < 0) {
        for (size_t i = 0; i < conf->n_clusters; i++)
            cluster_close(plan.clusters[i].reread ? plan.clusters[i].reread
                                                  : plan.clusters[i].cluster);
    } else {
        web_commit(&d->web);
        plan_carry_out(&plan, ret_what);
    }
    for (size_t i = 0; i < plan.n_watches; i++) {
        free(plan.watches[i].change);
        free(plan.watches[i].restart);
    }
    free(plan.clusters);
    free(plan.watches);
    return rc;
}
