/*
 * namespace_tracker.h - the namespaces of a watch that selects them by label.
 *
 *     namespaces with matching labels  ──>  one stream each  ──>  the journal, as one watch
 *
 * One more stream watches the namespaces themselves.
 *
 *     a namespace gets selected   its stream opens; its objects are reported as ADDED when listed
 *     it leaves the selection     its stream ends; each object that was reported is reported as
 *                                 DELETED once, with the reason that the namespace left
 *     it is deleted               its stream stays open for a limited time, because the server
 *                                 reports the deletion of each object
 */
#ifndef DAEMON_WATCH_NAMESPACE_TRACKER_H
#define DAEMON_WATCH_NAMESPACE_TRACKER_H

#include <stdbool.h>

#include "informer/informer.h"

#include "seam/clock.h"

struct conf_watch;
struct watcher;
struct watcher_status;

enum {
    NAMESPACE_TRACKER_MAX = 500, /* LIMIT: namespaces of a watch; each is one request */
};

/* Embedded in its watcher. A zeroed struct tracks nothing. */
struct namespace_tracker {
    struct inf_handler handler;
    struct inf_informer *informer; /* of namespaces; NULL: the watch has no namespace selector */
    struct task adjust;
    struct timer grace; /* ends the wait for objects of deleted namespaces */
    char *why;          /* why the selector was changed last; NULL: it never was */
    bool compared;      /* with the saved namespaces of the last run */
    bool reselected;    /* the last list was the first one with a changed selector */
    size_t selected;    /* namespaces */
    size_t open;        /* selected namespaces that have a stream */
};

/* Opens the informer of namespaces if the watch has a namespace selector. Nothing is reported
 * before namespace_tracker_begin(). Returns 0 or a negative error, with @err. */
int namespace_tracker_open(struct namespace_tracker *tracker, struct watcher *watcher,
                           struct inf_error *err);
void namespace_tracker_begin(struct namespace_tracker *tracker);

/* Applies the changed conf of the watch. Both @before and the new conf have a namespace
 * selector. */
void namespace_tracker_change(struct namespace_tracker *tracker, const struct conf_watch *before,
                              const char *why);

void namespace_tracker_close(struct namespace_tracker *tracker);

/* Whether the watch selects its namespaces by label. */
bool namespace_tracker_is_active(const struct namespace_tracker *tracker);

/* Schedules opening, closing and freeing of streams as the namespaces require. */
void namespace_tracker_adjust(struct namespace_tracker *tracker);

/* Whether all selected namespaces are known and have a stream. True for a watch without a namespace
 * selector. */
bool namespace_tracker_complete(const struct namespace_tracker *tracker);

/* Adds the status of the stream of namespaces to @status. */
void namespace_tracker_status(const struct namespace_tracker *tracker,
                              struct watcher_status *status);

#endif
