/*
 * blind_watch.c - decides when a list is due because watches deliver nothing. See blind_watch.h.
 */
#include "core/reflector/blind_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/mutant.h"
#include "core/reflector/reflector_internal.h"

enum {
    BRIEF_MS = 10 * 1000, /* a watch that ends sooner without an event proves nothing */
};

/* The same version proves that nothing changed; a newer one may come from other resources. */
void blind_watch_answered(struct reflector *r, const char *version)
{
    r->blind.ahead = strcmp(version, r->version) != 0;
    if (!r->blind.ahead)
        freshness_sign(&r->freshness, 0);
}

void blind_watch_shown(struct reflector *r)
{
    r->blind.ahead = r->blind.proven = false;
    r->blind.unchanged = 0;
}

static bool list_is_due(const struct reflector *r)
{
    uint64_t intervals = backoff_ms(1, BLIND_INTERVALS_MAX, r->blind.unchanged);
    return !r->blind.listed || clock_elapsed_ms(r->clock) - r->blind.listed_ms >=
                                   intervals * r->settings.stale_after_ms;
}

static void request_list(struct reflector *r, int code)
{
    char *reason = xasprintf(
        "the server has a newer resourceVersion than %s, but its watches deliver no events",
        r->version);
    log_line(r->log, LOG_WARN, "%s: %s; relisting", r->sm.who, reason);
    r->blind.listing = true;
    reflector_need_list(r, code, reason);
    free(reason);
}

void blind_watch_ended(struct reflector *r, const struct inf_error *why)
{
    bool opened = r->live_since_ms;
    bool ended = why->code == INF_EEOF ||
                 why->code == INF_ETIMEOUT; /* normally, not by a broken connection */
    if (r->shown || !opened || !r->blind.ahead || !ended || MUTANT("blind-watch-trusted"))
        return;
    if (clock_now_ms(r->clock) - r->live_since_ms < BRIEF_MS)
        r->blind.proven = true;
    if (list_is_due(r))
        request_list(r, why->code);
}

void blind_watch_listed(struct reflector *r, bool differs)
{
    struct blind_watch *b = &r->blind;
    b->ahead = false;
    if (!b->listing)
        return;
    b->listing = false;
    b->listed = true;
    b->listed_ms = clock_elapsed_ms(r->clock);
    b->proven |= differs;
    b->unchanged = differs ? 0 : b->unchanged + 1;
}
