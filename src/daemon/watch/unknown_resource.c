/*
 * unknown_resource.c - a timer that reads the status of all watches until they are synced.
 */
#include "daemon/watch/unknown_resource.h"

#include "base/base.h"
#include "daemon/watch/watcher.h"

enum {
    CHECK_MS = 100, /* short, for interactive use */
    NO_API_MIN = 3, /* 404 responses without discovery, before that is reported */
};

/* The server has no such resource, or (INF_EINVAL) several of that name. */
static bool is_unknown(const struct inf_status *status)
{
    int code = status->error.code;
    return !status->synced && (code == INF_ENOTFOUND || code == INF_EINVAL);
}

/* Even discovery returns 404: the server is not a Kubernetes API, or the path in its URL is
 * wrong. */
static bool is_no_api(const struct inf_status *status)
{
    return !status->synced && status->error.code == INF_ESERVER &&
           status->error.http_status == 404 && status->ends[INF_ESERVER] >= NO_API_MIN;
}

static void on_check(struct timer *timer)
{
    struct unknown_resource *u = container_of(timer, struct unknown_resource, check);
    bool synced = true;
    list_for_each(node, u->watchers) {
        struct watcher_status status;
        watcher_status(container_of(node, struct watcher, node), &status);
        if (is_unknown(&status.sum) || is_no_api(&status.sum)) {
            u->on_unknown(u, &status.sum.error);
            return;
        }
        synced &= status.sum.synced;
    }
    if (!synced)
        timer_start(u->clock, &u->check, CHECK_MS);
}

void unknown_resource_start(struct unknown_resource *u, struct clock *clock,
                            const struct list *watchers,
                            void (*on_unknown)(struct unknown_resource *unknown,
                                               const struct inf_error *why))
{
    u->check.fire = on_check;
    u->clock = clock;
    u->watchers = watchers;
    u->on_unknown = on_unknown;
    timer_start(clock, &u->check, CHECK_MS);
}

void unknown_resource_stop(struct unknown_resource *u)
{
    if (u->clock)
        timer_stop(u->clock, &u->check);
}
