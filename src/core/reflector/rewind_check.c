/*
 * rewind_check.c - detects a server that was restored to an older version before a watch relies on
 * it.
 *
 * reflector_internal.h explains when and why. The query is a list of one object in state ASKING.
 */
#include "base/err.h"
#include "core/object/version.h"
#include "core/reflector/reflector_internal.h"

enum {
    CHECK_INTERVAL_MS = 10 * 1000, /* at most one query in this time for watches that end at once */
    UNANSWERED_MAX =
        3, /* failed queries before the watch continues unchecked; not 1, because a server
                           that has just started may forbid what it later allows */
};

void rewind_check_watch_ended(struct reflector *r, const struct inf_error *why)
{
    uint64_t now = clock_now_ms(r->clock);
    bool shown = r->shown && !r->freshness.stale; /* else its last event is too old */
    if (shown)
        r->placed_ms = now;
    r->rewind_suspected =
        why->code != INF_EEOF || (!shown && now - r->placed_ms >= CHECK_INTERVAL_MS);
}

void rewind_check_slept(struct reflector *r)
{
    r->rewind_suspected = true;
}

/* Only bookmarks and lists count. Versions of single objects prove nothing: other implementations
 * of the API may report a deletion with an older version. */
bool rewind_check_confirmed(const struct reflector *r, const struct source_event *event,
                            struct inf_error *ret_why)
{
    if (event->type != SOURCE_BOOKMARK && event->type != SOURCE_PAGE_END)
        return false;
    if (!version_is_older(event->resource_version, r->version))
        return false;
    err_set(ret_why, INF_EFUTURE, "server rewound from resourceVersion %s to %s", r->version,
            event->resource_version);
    return true;
}

void rewind_check_answered(struct reflector *r, const struct source_event *event)
{
    if (event->type == SOURCE_PAGE_END)
        blind_watch_answered(r, event->resource_version);
}

bool rewind_check_settled(struct reflector *r, const struct inf_error *why)
{
    bool answered = why->code == INF_EEOF, never = fault_rule(why->code)->next == FAULT_RELIST;
    if (!answered && !never && (why->code == INF_ENET || ++r->unanswered < UNANSWERED_MAX))
        return false;
    r->rewind_suspected = false;
    r->unanswered = 0;
    return true;
}
