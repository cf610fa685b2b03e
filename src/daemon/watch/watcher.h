/*
 * watcher.h - one watch of the conf: an informer for each of its namespaces, all told to the journal
 * as one.
 */
#ifndef DAEMON_WATCH_WATCHER_H
#define DAEMON_WATCH_WATCHER_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/list.h"
#include "daemon/conf/conf.h"
#include "daemon/journal/journal.h"
#include "daemon/watch/cluster.h"
#include "daemon/watch/namespace_tracker.h"
#include "daemon/watch/selection.h"
#include "daemon/watch/watch_stream.h"

struct watcher {
    struct list node;
    const struct conf_watch *conf; /* lent; another one after each reload */
    struct cluster *cluster;
    struct journal *journal;
    struct journal_watch told; /* as the journal knows it, once it was added */
    struct selection selection;
    struct list streams; /* of struct watch_stream, in the conf's order, or as they came */
    struct namespace_tracker tracker;
    struct task tidy; /* frees the streams that are over */
    bool synced;      /* all that was there was told */
    uint64_t opened_ms;
    struct inf_status
        past; /* only its counters: what streams counted that are closed or exchanged */
};

/* Begins to watch; nothing is told before watcher_begin(). NULL, with @err naming the watch and what
 * is wrong with it. */
struct watcher *watcher_open(const struct conf_watch *conf, struct cluster *cluster,
                             struct journal *journal, struct inf_error *err);

/* From now on the journal is told. */
void watcher_begin(struct watcher *watcher);

/* The conf was read anew and says the same of this watch, or what it can take over: it is @conf and @cluster now. */
void watcher_move(struct watcher *watcher, const struct conf_watch *conf, struct cluster *cluster);

/* Whether @conf can be watched. Returns 0, or what is wrong with it, with @err. */
int watcher_check(const struct conf_watch *conf, struct inf_error *err);

/* Whether the watch can become one of @conf without beginning again. */
bool watcher_can_change(const struct watcher *watcher, const struct conf_watch *conf);

/*
 * The same for a conf that says something else of this watch, which was checked: RELIST with @why, then only the differences
 * between what was told and what is selected now.
 */
void watcher_change(struct watcher *watcher, const struct conf_watch *conf, struct cluster *cluster,
                    const char *why);

/* @watcher takes the place of @old, of the same name, which is closed next: its counters go on from there. */
void watcher_succeed(struct watcher *watcher, const struct watcher *old);

/* Says that it begins where another one of its name ended: a GAP, with @why. */
void watcher_note_restart(struct watcher *watcher, const char *why);

/* NULL is fine. */
void watcher_close(struct watcher *watcher);

/* ---- for its parts ---- */

/* As the journal knows it, with what is known of its resource now. */
struct journal_watch *watcher_named(struct watcher *watcher);

/* The first of its streams that is open; NULL: none is. */
const struct watch_stream *watcher_first(const struct watcher *watcher);

/* A stream of the watch is about to be closed: what it has counted is kept, so that the counters of the watch never go
 * backwards. NULL is fine. */
void watcher_stream_leaves(struct watcher *watcher, const struct inf_informer *stream);

/* Has streams that are over freed, soon. */
void watcher_tidy(struct watcher *watcher);

/* Tells SYNCED, once, if all streams are. */
void watcher_check_synced(struct watcher *watcher);

/* ---- how it is doing ---- */

/* All its streams taken together: flags that hold for one, ages and the error of the one that is
 * worst off, numbers of all. */
struct watcher_status {
    struct inf_status sum;
    uint64_t age_ms; /* since it was opened */
    size_t objects;
    size_t bytes;
    size_t backlog; /* events not told to the journal yet */
    size_t streams;
    size_t live;    /* of them */
    bool by_labels; /* they come and go: their namespaces are selected */
};

/* The sum of no streams, and how one is added to it; @ns, if not NULL, is said with its error. */
extern const struct watcher_status watcher_status_none;
void watcher_status_add(struct watcher_status *status, const struct inf_status *one,
                        const char *ns);
bool watcher_stream_is_live(const struct inf_status *one);

void watcher_status(const struct watcher *watcher, struct watcher_status *ret);

/* Memory that the objects of all its streams take. */
size_t watcher_bytes(const struct watcher *watcher);

/* Whether readers may rely on the copy: all there, and not stale or held. */
bool watcher_ready(const struct watcher_status *status);

#endif
