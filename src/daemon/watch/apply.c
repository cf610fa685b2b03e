/*
 * apply.c - applies a configuration to the running daemon.
 *
 * First a plan is made of all clusters and watches (apply_plan.h): running ones that are kept, and
 * new ones, which are checked but not opened. Only if the whole plan is valid, running ones that are
 * not in the plan are closed and new ones are started. So an invalid configuration changes nothing, and a
 * valid one only what differs.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/cli/terminal.h"
#include "daemon/conf/conf_changes.h"
#include "daemon/conf/conf_filter.h"
#include "daemon/conf/conf_levels.h"
#include "daemon/conf/conf_same.h"
#include "daemon/handler/handlers_apply.h"
#include "daemon/watch/apply_plan.h"
#include "daemon/watch/cluster_move.h"
#include "daemon/watch/stream_id.h"

/* ---- change to another cluster ---- */

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

/* The objects of another cluster are not those that were reported. */
static void restart_watches(struct daemon *d, struct cluster *cluster, const char *why)
{
    daemon_log_printf(&d->log, INF_LOG_WARN, "%s", why);
    list_for_each_safe(node, &d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node), *fresh;
        if (w->cluster != cluster)
            continue;
        fresh = open_checked(d, w->conf, cluster);
        list_push(&w->node, &fresh->node); /* in the same place of the list */
        watcher_continue_counters(fresh, w);
        watcher_close(w);
        watcher_begin(fresh);
        watcher_note_restart(fresh, why);
    }
    saved_state_forget_unused(d);
}

/* The new server belongs to another cluster, or did not identify itself. */
static void on_other_cluster(struct cluster *cluster)
{
    char *why = plan_why_other_cluster(cluster, cluster->next);
    struct inf_client *before = cluster_take_next(cluster);
    restart_watches(cluster->owner, cluster, why);
    inf_client_close(before, NULL);
    free(why);
}

/* ---- the cluster of the last run ---- */

/* The id of a running stream whose objects are those of another cluster at the same URL; NULL: none. */
static const char *find_stream_of_other(const struct daemon *d, const struct cluster *cluster)
{
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        if (w->cluster != cluster)
            continue;
        list_for_each(inner, &w->streams) {
            const struct watch_stream *s = container_of(inner, struct watch_stream, node);
            const char *id = s->saved.stream ? inf_state_stream_id(s->saved.stream) : NULL;
            if (id && stream_id_match_cluster(id, cluster) == STREAM_OTHER)
                return id;
        }
    }
    return NULL;
}

/* Called once, some time after the start. Watches that continue from the state of the same URL run
 * already, the others begin now. */
static void on_cluster_identified(struct cluster *cluster)
{
    struct daemon *d = cluster->owner;
    const char *other = find_stream_of_other(d, cluster);
    if (other) {
        struct str uid = stream_id_part(other, "uid");
        char *why = xasprintf("cluster '%s': %s is another cluster than in the last run (uid %s "
                              "instead of %.*s): its objects are reported as initial, the previous "
                              "ones are not reported as deleted",
                              cluster->conf->name, inf_client_server(cluster->client),
                              cluster->identity.uid, STR_FMT(uid));
        restart_watches(d, cluster, why);
        free(why);
        return;
    }
    list_for_each(node, &d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        if (w->cluster == cluster)
            watcher_cluster_identified(w);
    }
    saved_state_forget_unused(d);
    journal_flush(&d->journal);
}

/* ---- the journal ---- */

static bool uses_colours(const struct daemon *d)
{
    switch (d->options.colour) {
    case TERMINAL_COLOUR_AUTO: break;
    case TERMINAL_COLOUR_ALWAYS: return true;
    case TERMINAL_COLOUR_NEVER: return false;
    }
    return terminal_has_colours(STDOUT_FILENO);
}

static struct event_log_settings log_settings(const struct daemon *d,
                                              const struct conf_event_log *c)
{
    bool to_stdout = strcmp(c->path, "stdout") == 0;
    const struct record_format *format;
    const char *argument;
    if (record_format_find(c->format, &format, &argument, NULL) < 0)
        abort(); /* UNTESTED: the conf was validated */
    return (struct event_log_settings){
        .sink = {.target = c->path,
                 .fd = STDOUT_FILENO,
                 .rotate_size = c->rotate.size,
                 .keep = (unsigned)c->rotate.keep},
        .stuck_after_ms = d->options.ad_hoc ? 0 : c->stuck_after_ms,
        .format = format,
        .format_argument = argument,
        .fields = c->fields.items,
        .n_fields = c->fields.count,
        .record = {.object = c->object == CONF_OBJECT_NONE ? RECORD_NONE : RECORD_DIFF,
                   .object_verbs = c->object_verbs,
                   .context = c->context,
                   .max_line = c->max_line,
                   .colour = to_stdout && uses_colours(d),
                   .charset = !to_stdout || !isatty(STDOUT_FILENO) ? RECORD_UTF8
                              : terminal_use_locale()              ? RECORD_TERMINAL
                                                                   : RECORD_ASCII,
                   .width = to_stdout && !d->options.no_trunc ? terminal_width(STDOUT_FILENO) : 0},
        .filter = conf_filter_settings(&c->filter),
        .notes = d->options.ad_hoc ? 1u << NOTE_SYNCED | 1u << NOTE_RELIST | 1u << NOTE_GAP |
                                         1u << NOTE_STALE | 1u << NOTE_RECOVERED
                                   : 0,
    };
}

static int set_logs(struct daemon *d, const struct conf *conf, struct inf_error *err)
{
    size_t n = conf->n_event_logs;
    struct event_log_settings *settings = xcalloc(n + 1, sizeof(*settings));
    struct level_rules *levels = conf_levels_make(conf, err);
    int rc = levels ? 0 : -INF_ECONF;
    for (size_t i = 0; i < n; i++)
        settings[i] = log_settings(d, &conf->event_logs[i]);
    if (rc == 0)
        rc = journal_set_logs(&d->journal, settings, n, err);
    if (rc == 0)
        journal_set_levels(&d->journal, levels);
    else
        level_rules_free(levels);
    free(settings);
    return rc;
}

/* ---- carrying out the plan ---- */

/* From watches that can't continue to the new ones of the same name in the same cluster. */
static void hand_over_counters(struct plan *p)
{
    for (size_t i = 0; i < p->conf->n_watches; i++) {
        const struct conf_watch *conf = &p->conf->watches[i];
        struct watcher *old = plan_find_running(p->d, conf->name);
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
            cluster_identify(cluster, on_cluster_identified);
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
    struct cluster *cluster = plan_cluster(p, conf->cluster);
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
    saved_state_update_ids(d);
}

static void put_count(struct buf *out, size_t n, const char *what)
{
    if (n)
        buf_printf(out, "%s%zu %s", out->bytes[out->len - 1] == ' ' ? "" : ", ", n, what);
}

static size_t count_event_logs_without(const struct conf *conf, const struct conf *other)
{
    size_t n = 0;
    for (size_t i = 0; i < conf->n_event_logs; i++) {
        const char *path = conf->event_logs[i].path;
        size_t at = 0;
        while (at < other->n_event_logs && strcmp(other->event_logs[at].path, path) != 0)
            at++;
        n += at == other->n_event_logs;
    }
    return n;
}

/* "2 watches unchanged, 1 watch changed, 1 watch started, 1 watch stopped, 1 event log added" */
static void put_summary(struct buf *out, const struct tally *t, const struct conf *before,
                        const struct conf *now)
{
    size_t added = count_event_logs_without(now, before);
    size_t removed = count_event_logs_without(before, now);
    put_count(out, t->kept, t->kept == 1 ? "watch unchanged" : "watches unchanged");
    put_count(out, t->changed, t->changed == 1 ? "watch changed" : "watches changed");
    put_count(out, t->begun, t->begun == 1 ? "watch started" : "watches started");
    put_count(out, t->closed, t->closed == 1 ? "watch stopped" : "watches stopped");
    if (!t->kept && !t->changed && !t->begun && !t->closed)
        buf_puts(out, "no watches");
    put_count(out, added, added == 1 ? "event log added" : "event logs added");
    put_count(out, removed, removed == 1 ? "event log removed" : "event logs removed");
    conf_put_changes(before, now, out);
    if (!conf_levels_same(before, now))
        buf_puts(out, ", levels changed");
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
            p->watches[i].watcher = open_checked(d, conf, plan_cluster(p, conf->cluster));
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
    if (ret_what)
        put_summary(ret_what, &tally, &before, &d->conf);
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
        .on_other = on_other_cluster,
        .clusters = xcalloc(conf->n_clusters + 1, sizeof(*plan.clusters)),
        .watches = xcalloc(conf->n_watches + 1, sizeof(*plan.watches)),
    };
    int rc = plan_make(&plan, err);
    if (rc == 0)
        rc = handlers_apply_check(conf, err);
    if (rc == 0)
        rc = web_prepare(&d->web, conf, err);
    if (rc == 0 && (rc = set_logs(d, conf, err)) < 0)
        web_abandon(&d->web);
    if (rc < 0) {
        for (size_t i = 0; i < conf->n_clusters; i++)
            cluster_close(plan.clusters[i].reread ? plan.clusters[i].reread
                                                  : plan.clusters[i].cluster);
    } else {
        web_commit(&d->web, conf);
        handlers_apply(d, conf);
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
