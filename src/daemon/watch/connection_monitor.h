/*
 * connection_monitor.h - the connection of `informerd watch` as its user sees it: errors that end the
 * command before the first sync, and lost connections after it.
 *
 * A service retries every error for ever, because it may have been started before its server, its
 * permissions or a resource exist. On the command line an error that will not end by itself is a
 * mistake: a typo, a wrong kubeconfig, missing permissions. Until all watches are synced, such an error
 * is reported once (on_failed()). An error that may end is given FIRST_SYNC_PATIENCE_MS.
 */
#ifndef DAEMON_WATCH_CONNECTION_MONITOR_H
#define DAEMON_WATCH_CONNECTION_MONITOR_H

#include "informer/error.h"

#include "base/list.h"
#include "base/sm.h"
#include "seam/clock.h"

enum {
    FIRST_SYNC_PATIENCE_MS = 3000, /* for a server that starts, or a network that comes up */
};

struct connection_monitor;
struct watcher;

/* All are called from the loop. */
struct connection_monitor_ops {
    /* Before the first sync: @watcher failed, and retrying is pointless. The monitor has stopped. */
    void (*on_failed)(struct connection_monitor *monitor, const struct watcher *watcher,
                      const struct inf_error *why);
    /* Before the first sync: a watch fails for FIRST_SYNC_PATIENCE_MS, but this may end. Once. */
    void (*on_slow)(struct connection_monitor *monitor, const struct watcher *watcher,
                    const struct inf_error *why);
    /* All watches are synced. Once. */
    void (*on_synced)(struct connection_monitor *monitor);
    /* After the first sync: the stream of @watcher ended and cannot be opened again yet. */
    void (*on_lost)(struct connection_monitor *monitor, const struct watcher *watcher,
                    const struct inf_error *why);
    /* After on_lost(): no watch fails any more. */
    void (*on_connected)(struct connection_monitor *monitor);
};

/* Embedded in its owner. */
struct connection_monitor {
    const struct connection_monitor_ops *ops;
    struct clock *clock; /* NULL: not started */
    const struct list *watchers;
    struct timer check;
    struct sm sm;
};

/* Starts to check the status of @watchers periodically. The list is borrowed. */
void connection_monitor_start(struct connection_monitor *monitor,
                              const struct connection_monitor_ops *ops, struct clock *clock,
                              const struct list *watchers);

/* Does nothing if it was not started. */
void connection_monitor_stop(struct connection_monitor *monitor);

#endif
