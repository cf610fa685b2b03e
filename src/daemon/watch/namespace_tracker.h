/*
 * namespace_tracker.h - the namespaces of a watch that selects them by their labels, as they come and go.
 *
 *     namespaces with such labels  ──>  a stream for each  ──>  the journal, as one watch
 *
 * One more stream watches the namespaces themselves. A namespace that is selected gets a stream; its
 * objects are told ADDED as they are listed. One that is not any more loses it, and what was told of
 * it is told DELETED, once: that it left. One that was deleted is left open, for the server tells the
 * end of each object, but not for ever.
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
    NAMESPACE_TRACKER_MAX =
        500, /* LIMIT: namespaces of one watch; each is a connection to the server */
};

/* Embedded in its watcher. A zeroed one follows nothing. */
struct namespace_tracker {
    struct inf_handler handler;
    struct inf_informer *informer; /* of namespaces; NULL: the watch does not select them */
    struct task adjust;
    struct timer grace; /* for what was deleted */
    bool synced;        /* all namespaces are known */
    char *why;          /* of the last other selector; NULL: there was none */
    bool reselected;    /* the last list is the first one of another selector */
    size_t selected;    /* namespaces */
    size_t open;        /* of them, those with a stream */
};

/* Follows what the watch selects, if it does; nothing happens before namespace_tracker_begin(). */
int namespace_tracker_open(struct namespace_tracker *tracker, struct watcher *watcher,
                           struct inf_error *err);
void namespace_tracker_begin(struct namespace_tracker *tracker);

/* The watch's conf is another one than @before, which selected namespaces, too. */
void follower_change(struct namespace_tracker *tracker, const struct conf_watch *before,
                     const char *why);

void namespace_tracker_close(struct namespace_tracker *tracker);

/* Has it look at its streams again, soon. */
void namespace_tracker_adjust(struct namespace_tracker *tracker);

/* Whether every namespace that is selected is known and has its stream. Of a watch that does not
 * select them: yes. */
bool namespace_tracker_complete(const struct namespace_tracker *tracker);

/* Adds how the stream of the namespaces is doing. */
void namespace_tracker_status(const struct namespace_tracker *tracker,
                              struct watcher_status *status);

#endif
