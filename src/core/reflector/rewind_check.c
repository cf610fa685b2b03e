#include "core/reflector/rewind_check.h"

#include "base/err.h"
#include "core/object/version.h"

enum {
    ASK_EVERY_MS = 10 * 1000, /* a proxy may end streams at once, again and again: no need to ask
                                 each time */
    UNANSWERED_MAX = 3, /* questions without an answer before we go on as if there were no doubt; a
                           server that has just started may forbid what it allows */
};

void rewind_check_watch_ended(struct reflector *r, const struct inf_error *why)
{
    uint64_t now = clock_now_ms(r->clock);
    bool shown = r->shown && !r->freshness.stale; /* what it showed is long ago */
    if (shown)
        r->placed_ms = now;
    r->rewind_suspected = why->code != INF_EEOF || (!shown && now - r->placed_ms >= ASK_EVERY_MS);
}

void rewind_check_slept(struct reflector *r)
{
    r->rewind_suspected = true;
}

/* Versions of single objects prove nothing: servers that are not Kubernetes' own may tell a deletion
 * with an older one. */
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
