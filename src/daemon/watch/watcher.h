/*
 * watcher.h - one watch of the configuration: an informer for each of its namespaces, reported to
 * the consumers as one watch.
 */
#ifndef DAEMON_WATCH_WATCHER_H
#define DAEMON_WATCH_WATCHER_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/list.h"
#include "daemon/conf/conf.h"
#include "daemon/watch/cluster.h"
#include "daemon/watch/event_channel.h"
#include "daemon/watch/namespace_tracker.h"
#include "daemon/watch/selection.h"
#include "daemon/watch/watch_stream.h"

/* Owned strings; NULL: not discovered yet. */
struct watched_resource {
    char *group;
    char *version;
    char *name;
    char *kind;
};

struct watcher {
    struct list node;
    const struct conf_watch *conf; /* borrowed; replaced by each reload */
    struct noise *noise;           /* what `conf` ignores; see journal/noise.h */
    struct cluster *cluster;
    struct event_channel channel;     /* to the consumers; opened by watcher_begin() */
    struct watched_resource resource; /* the discovered one; copied into channel.info */
    struct selection selection;
    struct list streams; /* of struct watch_stream, in the order of the conf, or of selection */
    struct namespace_tracker tracker;
    struct task tidy;     /* frees the streams that have ended */
    bool info_is_current; /* channel.info was computed in this batch of events */
    bool synced;          /* SYNCED was reported */
    uint64_t opened_ms;
    struct inf_status past; /* only the counters: those of streams that were closed or replaced */
};

/* Opens a watch. Nothing is reported before watcher_begin(). Returns NULL, with @err naming the
 * watch and the problem. */
struct watcher *watcher_open(const struct conf_watch *conf, struct cluster *cluster,
                             struct event_consumers *consumers, struct inf_error *err);

/* Starts reporting to the consumers. */
void watcher_begin(struct watcher *watcher);

/* The uid of the cluster is known, or was refused: opens the streams that waited for it, and saves it with
 * the others. */
void watcher_cluster_identified(struct watcher *watcher);

/* Whether a stream is not open yet. */
bool watcher_is_waiting(const struct watcher *watcher);

/* Replaces the conf and cluster after a reload that changed nothing of this watch, or only
 * settings that can be applied without a relist. */
void watcher_move(struct watcher *watcher, const struct conf_watch *conf, struct cluster *cluster);

/* Validates @conf. Returns 0 or a negative error, with @err naming the watch and the problem. */
int watcher_check(const struct conf_watch *conf, struct inf_error *err);

/* Whether @conf can be applied to the running watch, without a restart. */
bool watcher_can_change(const struct watcher *watcher, const struct conf_watch *conf);

/*
 * Applies a changed and validated conf: a RELIST with @why, then only the differences between the
 * objects that were reported and those that are selected now.
 */
void watcher_change(struct watcher *watcher, const struct conf_watch *conf, struct cluster *cluster,
                    const char *why);

/* Adds the counters of @old, which has the same name and is closed next, so that they never
 * decrease. */
void watcher_continue_counters(struct watcher *watcher, const struct watcher *old);

/* Reports that this watch replaces an earlier one of the same name: a GAP with the reason
 * `restarted` and @why. */
void watcher_note_restart(struct watcher *watcher, const char *why);

/* NULL is allowed. */
void watcher_close(struct watcher *watcher);

/* ---- for its parts ---- */

/* Computes what consumers see of the watch. To be called when the conf, the cluster or the
 * discovered resource may have changed, which is before each report other than an event. */
void watcher_update_info(struct watcher *watcher);

/* The same before an event, at most once per batch. Only the events of a list (@listed) can follow
 * another discovery, which corrects a name such as secret.v1. after a 404. */
void watcher_resolve(struct watcher *watcher, bool listed);

/* The first open stream; NULL: none is open. */
const struct watch_stream *watcher_first(const struct watcher *watcher);

/* Keeps the counters of a stream that is about to be closed, so that the counters of the watch
 * never decrease. NULL is allowed. */
void watcher_keep_counters(struct watcher *watcher, const struct inf_informer *stream);

/* Schedules freeing the streams that have ended. */
void watcher_tidy(struct watcher *watcher);

/* Reports SYNCED, once, if all streams are synced. */
void watcher_check_synced(struct watcher *watcher);

/* ---- status ---- */

/* The status of all its streams: flags that are set for any of them (`synced`: for all), the
 * worst ages and the error that has lasted longest, and the sums of all numbers. */
struct watcher_status {
    struct inf_status sum;
    uint64_t age_ms; /* since it was opened */
    size_t objects;
    size_t bytes;
    size_t backlog; /* events not yet delivered to the consumers */
    size_t streams;
    size_t live;    /* of these streams */
    bool by_labels; /* namespaces are selected by label */
};

/* The status of no streams, and adding one to it. If @ns is not NULL, the error names it. */
extern const struct watcher_status watcher_status_none;
void watcher_status_add(struct watcher_status *status, const struct inf_status *one,
                        const char *ns);
bool watcher_stream_is_live(const struct inf_status *one);

void watcher_status(const struct watcher *watcher, struct watcher_status *ret);

/* Bytes that the objects of all its streams occupy. */
size_t watcher_bytes(const struct watcher *watcher);

/* Whether the cache is reliable: synced, not stale and not held. */
bool watcher_ready(const struct watcher_status *status);

#endif
