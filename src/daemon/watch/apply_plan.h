/*
 * apply_plan.h - what a new configuration means for the running clusters and watches.
 *
 *     kept        runs on as it is, or with settings that need no relist
 *     changed     runs on; the objects are listed again and the differences are reported
 *     restarted   closed; a new watch of that name starts, with a GAP record
 *     new         started
 *
 * Everything that is not in the plan is to be closed. Making a plan changes nothing.
 */
#ifndef DAEMON_WATCH_APPLY_PLAN_H
#define DAEMON_WATCH_APPLY_PLAN_H

#include "daemon/daemon.h"
#include "daemon/watch/cluster.h"
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
    struct conf *conf; /* empty after the plan was carried out */
    size_t n_watches;
    struct planned_cluster *clusters;          /* one for each in the conf, in its order */
    struct planned_watch *watches;             /* likewise */
    void (*on_other)(struct cluster *cluster); /* see cluster_move() */
};

/* Fills the plan: all clusters, and all watches that continue a running one; a new watch has no
 * watcher yet, only its conf was checked. Returns 0, or a negative error with @err naming the
 * cluster or the watch. The caller closes the clusters that were opened. */
int plan_make(struct plan *plan, struct inf_error *err);

/* The planned cluster of that name, which the conf must have. */
struct cluster *plan_cluster(const struct plan *plan, const char *name);

/* The running watch of that name; NULL: there is none. */
struct watcher *plan_find_running(const struct daemon *d, const char *name);

/* Why watches can't continue when their cluster @before is replaced by @after. The caller frees
 * it. */
char *plan_why_other_cluster(const struct cluster *before, const struct cluster *after);

#endif
