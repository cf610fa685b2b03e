/*
 * connection_monitor.c - a timer that reads the status of all watches, and a table of the errors that
 * end the command.
 *
 * Normal path: syncing until all watches are synced, then connected. From there a failing watch leads
 * to reconnecting, and back when none fails. An error before the first sync is looked up in the table.
 */
#include "daemon/watch/connection_monitor.h"

#include "base/base.h"
#include "daemon/watch/watcher.h"

enum {
    SYNCING_CHECK_MS = 100, /* short, for interactive use */
    SYNCED_CHECK_MS = 250,
    LOST_AFTER_MS = 400, /* a stream that is reopened at once is not reported */
    NO_API_MIN = 3,      /* 404 responses without discovery, before that is an error */
};

enum monitor_state {
    MONITOR_SYNCING,
    MONITOR_SLOW, /* syncing, and on_slow() was called */
    MONITOR_CONNECTED,
    MONITOR_RECONNECTING,
    MONITOR_STOPPED,
};

static const struct sm_state monitor_states[] = {
    [MONITOR_SYNCING] = {"syncing",
                         SM_TO(MONITOR_SLOW) | SM_TO(MONITOR_CONNECTED) | SM_TO(MONITOR_STOPPED)},
    [MONITOR_SLOW] = {"slow", SM_TO(MONITOR_CONNECTED) | SM_TO(MONITOR_STOPPED)},
    [MONITOR_CONNECTED] = {"connected", SM_TO(MONITOR_RECONNECTING) | SM_TO(MONITOR_STOPPED)},
    [MONITOR_RECONNECTING] = {"reconnecting", SM_TO(MONITOR_CONNECTED) | SM_TO(MONITOR_STOPPED)},
    [MONITOR_STOPPED] = {"stopped", 0},
};

/* ---- before the first sync ---- */

/* Errors that end the command when they have lasted this long. Others are retried. */
static const struct {
    int code;
    uint64_t after_ms;
} final_errors[] = {
    {INF_ENOTFOUND, 0}, /* no such resource */
    {INF_EINVAL, 0},    /* an ambiguous name */
    {INF_EREFUSED, 0},  /* 400, 422: a field selector that the server does not support */
    {INF_EUNAUTHORIZED,
     0}, /* credentials that can be renewed were renewed and tried again before */
    {INF_EFORBIDDEN, 0},
    {INF_ECONF, 0},
    {INF_ETLS, 0},
    {INF_EPROTO, FIRST_SYNC_PATIENCE_MS},
    {INF_EDECODE, FIRST_SYNC_PATIENCE_MS},
    {INF_EIO, FIRST_SYNC_PATIENCE_MS},
    {INF_ENET, FIRST_SYNC_PATIENCE_MS},
    {INF_ECUT, FIRST_SYNC_PATIENCE_MS},
    {INF_ETIMEOUT, FIRST_SYNC_PATIENCE_MS},
};

/* Even discovery returns 404: the server is not a Kubernetes API, or the path in its URL is
 * wrong. */
static bool is_no_api(const struct inf_status *status)
{
    return status->error.code == INF_ESERVER && status->error.http_status == 404 &&
           status->ends[INF_ESERVER] >= NO_API_MIN;
}

static bool is_final(const struct inf_status *status)
{
    for (size_t i = 0; i < ARRAY_LEN(final_errors); i++)
        if (final_errors[i].code == status->error.code)
            return status->failing_for_ms >= final_errors[i].after_ms;
    return is_no_api(status);
}

static void check_first_sync(struct connection_monitor *m)
{
    bool synced = true;
    list_for_each(node, m->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        struct watcher_status status;
        watcher_status(w, &status);
        synced &= status.sum.synced;
        if (status.sum.synced || !status.sum.error.code)
            continue;
        if (is_final(&status.sum)) {
            sm_move(&m->sm, MONITOR_STOPPED, "%s", status.sum.error.text);
            m->ops->on_failed(m, w, &status.sum.error);
            return;
        }
        if (m->sm.state == MONITOR_SYNCING && status.sum.failing_for_ms >= FIRST_SYNC_PATIENCE_MS) {
            sm_move(&m->sm, MONITOR_SLOW, "%s", status.sum.error.text);
            m->ops->on_slow(m, w, &status.sum.error);
        }
    }
    if (synced) {
        sm_move(&m->sm, MONITOR_CONNECTED, "synced");
        m->ops->on_synced(m);
    }
}

/* ---- after it ---- */

/* The watch that fails, with its status; NULL: none. */
static const struct watcher *find_failing(const struct connection_monitor *m,
                                          struct watcher_status *ret)
{
    list_for_each(node, m->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        watcher_status(w, ret);
        if (ret->sum.error.code && ret->sum.failing_for_ms >= LOST_AFTER_MS)
            return w;
    }
    return NULL;
}

static void check_connection(struct connection_monitor *m)
{
    struct watcher_status status;
    const struct watcher *failing = find_failing(m, &status);
    if (failing && m->sm.state == MONITOR_CONNECTED) {
        sm_move(&m->sm, MONITOR_RECONNECTING, "%s", status.sum.error.text);
        m->ops->on_lost(m, failing, &status.sum.error);
    } else if (!failing && m->sm.state == MONITOR_RECONNECTING) {
        sm_move(&m->sm, MONITOR_CONNECTED, "no watch fails");
        m->ops->on_connected(m);
    }
}

static void monitor_on_check(struct timer *timer)
{
    struct connection_monitor *m = container_of(timer, struct connection_monitor, check);
    bool syncing = m->sm.state == MONITOR_SYNCING || m->sm.state == MONITOR_SLOW;
    if (syncing)
        check_first_sync(m);
    else
        check_connection(m);
    if (m->sm.state != MONITOR_STOPPED)
        timer_start(m->clock, &m->check, syncing ? SYNCING_CHECK_MS : SYNCED_CHECK_MS);
}

/* ---- life ---- */

void connection_monitor_start(struct connection_monitor *m,
                              const struct connection_monitor_ops *ops, struct clock *clock,
                              const struct list *watchers)
{
    m->ops = ops;
    m->clock = clock;
    m->watchers = watchers;
    m->check.fire = monitor_on_check;
    sm_init(&m->sm, monitor_states, MONITOR_SYNCING, "connection", NULL);
    timer_start(clock, &m->check, SYNCING_CHECK_MS);
}

void connection_monitor_stop(struct connection_monitor *m)
{
    if (!m->clock)
        return;
    timer_stop(m->clock, &m->check);
    if (m->sm.state != MONITOR_STOPPED)
        sm_move(&m->sm, MONITOR_STOPPED, "stop");
}
