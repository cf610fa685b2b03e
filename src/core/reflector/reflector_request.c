/*
 * reflector_request.c - opens requests: watch-list, list pages, watch, version query.
 *
 * Every request has a silence limit, which restarts with each complete event; a full sync also has
 * a deadline. Only reflector_request_all() waits for a list slot. Failures arrive at
 * reflector_request_ended().
 */
#include "base/base.h"
#include "core/reflector/reflector_internal.h"
#include "core/store/store.h"

enum {
    AFTER_TIMEOUT_MS = 5 * 1000, /* added to a watch's timeout before it is taken for dead */
};

static uint32_t pick_watch_timeout(struct reflector *r)
{
    uint32_t min = r->settings.watch_timeout_s;
    return r->settings.no_jitter ? min : min + (uint32_t)rng_below(&r->backoff.rng, min + 1);
}

static uint64_t min_ms(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max_ms(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t until_timeout_ms(const struct reflector *r)
{
    return (uint64_t)r->timeout_s * 1000 + AFTER_TIMEOUT_MS;
}

bool reflector_sync_timed_out(const struct reflector *r)
{
    return clock_now_ms(r->clock) >= r->sync_until_ms;
}

/* Sets the deadline of a watch-list, or of a list with all its pages. */
static void set_sync_until(struct reflector *r)
{
    r->sync_until_ms = clock_now_ms(r->clock) +
                       (r->sm.state == LISTING ? (uint64_t)LIST_MAX_MS : until_timeout_ms(r));
}

/* How long the open request may stay silent. */
static uint64_t silence_limit_ms(const struct reflector *r)
{
    uint64_t until_timeout = until_timeout_ms(r), silence = r->settings.fill_silence_ms;
    if (r->sm.state == FILLING || r->sm.state == LISTING)
        return reflector_sync_timed_out(r)
                   ? 0
                   : min_ms(silence, r->sync_until_ms - clock_now_ms(r->clock));
    if (r->sm.state != WATCHING)
        return silence;
    if (!r->bookmark_seen)
        return until_timeout;
    return min_ms(until_timeout, max_ms(r->settings.stale_after_ms, r->bookmark_wait_ms));
}

void reflector_restart_silence_timer(struct reflector *r)
{
    if (!r->held) /* else done when it is released */
        silence_timer_start(&r->silence_timer, silence_limit_ms(r));
}

void reflector_request_prepared(struct reflector *r)
{
    set_sync_until(r);
    reflector_restart_silence_timer(r);
}

static void open_request(struct reflector *r, struct source_request *request)
{
    r->timeout_s = request->timeout_s = pick_watch_timeout(r);
    if (r->sm.state == FILLING)
        set_sync_until(r);
    r->live_since_ms = 0;
    r->bookmark_seen = r->news = r->shown = false;
    r->slept_ms = 0;
    r->counts.requests++;
    reflector_restart_silence_timer(r);
    source_open(r->source, request, &r->user);
}

void reflector_request_page(struct reflector *r)
{
    struct source_request request;
    pager_request(&r->pager, &request);
    open_request(r, &request);
}

void reflector_request_list(struct reflector *r, const char *why)
{
    sm_move(&r->sm, LISTING, "%s", why);
    r->staged = r->staged ? r->staged : generation_new(r->store);
    set_sync_until(r);
    reflector_request_page(r);
}

static void start_fill(struct reflector *r, const char *why)
{
    sm_move(&r->sm, FILLING, "%s", why);
    r->staged = r->staged ? r->staged : generation_new(r->store);
    open_request(
        r, &(struct source_request){.want = SOURCE_WATCH_LIST,
                                    .resource_version = r->version_unusable ? "" : r->version});
}

/* The first list may have any version ("0": from the server's cache); later ones must not be older
 * than ours. */
void reflector_request_list_now(struct reflector *r, const char *why)
{
    pager_start(&r->pager, r->version_unusable ? "" : r->version[0] ? r->version : "0");
    reflector_request_list(r, why);
}

static void request_all_now(struct reflector *r, const char *why)
{
    if (r->no_watch_list)
        reflector_request_list_now(r, why);
    else
        start_fill(r, why);
}

void reflector_request_all(struct reflector *r, const char *why)
{
    if (list_slot_acquire(&r->list_slot))
        request_all_now(r, why);
    else if (r->sm.state != QUEUED)
        sm_move(&r->sm, QUEUED, "%s", why);
}

void reflector_on_list_slot(struct list_slot *slot)
{
    request_all_now(container_of(slot, struct reflector, list_slot), "list slot available");
}

void reflector_request_watch(struct reflector *r)
{
    list_slot_release(&r->list_slot);
    sm_move(&r->sm, WATCHING, "from resourceVersion %s", r->version);
    open_request(r, &(struct source_request){.want = SOURCE_WATCH, .resource_version = r->version});
}

/* Without a resourceVersion: the response must not come from a cache that lags. */
static void request_version(struct reflector *r)
{
    sm_move(&r->sm, ASKING, "compare with resourceVersion %s", r->version);
    r->placed_ms = clock_now_ms(r->clock);
    open_request(r,
                 &(struct source_request){.want = SOURCE_LIST, .resource_version = "", .limit = 1});
}

void reflector_request_next(struct reflector *r, const char *why)
{
    if (r->must_sync)
        reflector_request_all(r, why);
    else if (r->rewind_suspected)
        request_version(r);
    else
        reflector_request_watch(r);
}
