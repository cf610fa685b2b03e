#include "core/doubt.h"

#include "base/err.h"
#include "core/version.h"

enum {
    BRIEF_MS =
        10 * 1000,      /* a proxy may end streams at once, again and again: no need to ask then */
    UNANSWERED_MAX = 5, /* questions that a server fails to answer before we go on without */
};

/* Ends that say nothing of where the server is. */
static bool tells_nothing(const struct reflector *r, const struct inf_error *why)
{
    bool brief = clock_now_ms(r->clock) - r->live_since_ms < BRIEF_MS;
    bool refused = why->code == INF_EUNAUTHORIZED || why->code == INF_EFORBIDDEN;
    return refused || (brief && why->code == INF_EEOF);
}

void doubt_watch_ended(struct reflector *r, const struct inf_error *why)
{
    r->in_doubt = !r->shown && !tells_nothing(r, why);
}

/* Versions of single objects prove nothing: servers that are not Kubernetes' own may tell a deletion with an older one. */
bool doubt_confirmed(const struct reflector *r, const struct source_event *event,
                     struct inf_error *ret_why)
{
    if (event->type != SOURCE_BOOKMARK && event->type != SOURCE_PAGE_END)
        return false;
    if (!version_is_older(event->resource_version, r->version))
        return false;
    err_set(ret_why, INF_EFUTURE, "the server went back from version %s to %s", r->version,
            event->resource_version);
    return true;
}

bool doubt_settled(struct reflector *r, const struct inf_error *why)
{
    bool answered = why->code == INF_EEOF;
    bool never = fault_rule(why->code)->next == FAULT_RELIST || why->code == INF_EFORBIDDEN;
    if (!answered && !never && (why->code == INF_ENET || ++r->unanswered < UNANSWERED_MAX))
        return false;
    r->in_doubt = false;
    r->unanswered = 0;
    return true;
}
