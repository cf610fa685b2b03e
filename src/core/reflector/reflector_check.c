/*
 * reflector_check.c - compares the server's resourceVersion with ours, and draws the conclusions.
 *
 * The comparison is a list of one object without a resourceVersion (state `checking`): its response
 * carries the server's current version. It is requested after a watch that broke off, that ended
 * without delivering anything, or that was open while the host slept. It may show
 *
 *   an older version    the server was restored from a backup. The API server accepts a watch from a
 *                       version that it has not reached yet, and sends neither changes nor bookmarks
 *                       until it reaches it: all changes until then are lost. So list again.
 *   the same version    nothing has changed.
 *   a newer version     Versions are cluster-wide, so usually other resources have changed. But if
 *                       the next watch also ends normally without an event, it may be blind: a proxy
 *                       that buffers responses can end every watch without a byte while objects
 *                       change, and no error shows this. So list again.
 *
 * Lists because of blind watches are at least stale_after apart. The interval doubles while they
 * find no difference, up to BLIND_INTERVALS_MAX times stale_after, and is reset when a list finds a
 * difference or a watch delivers something.
 *
 * Cost: one small request for each broken or silent watch and for each sleep; for watches that end
 * at once at most one every ten seconds; none for watches that end normally after delivering
 * something. If listing is forbidden or fails repeatedly, the watch continues unchecked.
 */
#include <string.h>

#include "base/err.h"
#include "core/mutant.h"
#include "core/object/version.h"
#include "core/reflector/reflector_internal.h"

enum {
    CHECK_INTERVAL_MS = 10 * 1000, /* at most one check in this time for watches that end at once */
    FAILED_CHECKS_MAX = 3,   /* before the watch continues unchecked; not 1, because a server that
                              has just started may forbid what it later allows */
    BRIEF_MS = 10 * 1000,    /* a watch that ends sooner without an event proves nothing */
    BLIND_INTERVALS_MAX = 8, /* LIMIT: between lists, in multiples of stale_after */
};

/* Whether a list is due because this watch may have hidden changes. */
static bool is_blind(struct reflector *r, const struct inf_error *why)
{
    uint64_t interval_ms =
        backoff_ms(1, BLIND_INTERVALS_MAX, r->blind.unchanged_lists) * r->settings.stale_after_ms;
    bool ended_normally = why->code == INF_EEOF || why->code == INF_ETIMEOUT;
    if (r->blind.state != BLIND_SUSPECTED || r->delivered != DELIVERED_NOTHING ||
        !r->live_since_ms || !ended_normally || MUTANT("blind-watch-trusted"))
        return false;
    if (clock_now_ms(r->clock) - r->live_since_ms < BRIEF_MS)
        r->blind.proven = true;
    if (r->blind.listed_ms && clock_elapsed_ms(r->clock) - r->blind.listed_ms < interval_ms)
        return false;
    r->blind.state = BLIND_LISTING;
    return true;
}

bool reflector_check_watch_ended(struct reflector *r, const struct inf_error *why)
{
    uint64_t now = clock_now_ms(r->clock);
    bool delivered = r->delivered != DELIVERED_NOTHING && !freshness_is_stale(&r->freshness);
    if (delivered)
        r->version_checked_ms = now;
    if (why->code != INF_EEOF || (!delivered && now - r->version_checked_ms >= CHECK_INTERVAL_MS))
        r->next = NEXT_CHECK;
    return is_blind(r, why);
}

/* Only bookmarks and lists count. Versions of single objects prove nothing: other implementations
 * of the API may report a deletion with an older version. */
bool reflector_check_is_rewound(const struct reflector *r, const struct source_event *event,
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

bool reflector_check_is_current(struct reflector *r, const char *version)
{
    bool same = strcmp(version, r->version) == 0;
    r->blind.state = same ? BLIND_NOT_SUSPECTED : BLIND_SUSPECTED;
    return same;
}

bool reflector_check_ended(struct reflector *r, const struct inf_error *why)
{
    bool answered = why->code == INF_EEOF, never = fault_rule(why->code)->next == FAULT_RELIST;
    if (why->code == INF_EFUTURE)
        return false;
    if (!answered && !never && (why->code == INF_ENET || ++r->failed_checks < FAILED_CHECKS_MAX))
        return false;
    r->next = NEXT_WATCH;
    r->failed_checks = 0;
    return true;
}

void reflector_check_watch_works(struct reflector *r)
{
    r->blind.state = BLIND_NOT_SUSPECTED;
    r->blind.proven = false;
    r->blind.unchanged_lists = 0;
}

void reflector_check_listed(struct reflector *r, bool differs)
{
    struct blind_check *b = &r->blind;
    if (b->state == BLIND_LISTING) {
        b->listed_ms = clock_elapsed_ms(r->clock);
        b->proven |= differs;
        b->unchanged_lists = differs ? 0 : b->unchanged_lists + 1;
    }
    b->state = BLIND_NOT_SUSPECTED;
}
