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

/* How long the open watch may last. */
static uint64_t watch_limit_ms(const struct reflector *r)
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
    bool listing = r->sm.state == REFLECTOR_LISTING;
    r->sync_until_ms =
        clock_now_ms(r->clock) + (listing ? (uint64_t)LIST_MAX_MS : watch_limit_ms(r));
}

static uint64_t min_ms(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How long the open request may stay silent. */
static uint64_t silence_limit_ms(const struct reflector *r)
{
    uint64_t limit = r->settings.fill_silence_ms;
    if (r->sm.state == REFLECTOR_FILLING || r->sm.state == REFLECTOR_LISTING)
        return reflector_sync_timed_out(r)
                   ? 0
                   : min_ms(limit, r->sync_until_ms - clock_now_ms(r->clock));
    if (r->sm.state == REFLECTOR_CHECKING)
        return limit;
    if (!r->stream_bookmark_ms)
        return watch_limit_ms(r);
    limit = r->settings.stale_after_ms;
    if (limit < r->bookmark_wait_ms)
        limit = r->bookmark_wait_ms;
    return min_ms(limit, watch_limit_ms(r));
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
    uint32_t timeout_s = r->settings.watch_timeout_s;
    if (!r->settings.no_jitter)
        timeout_s += (uint32_t)rng_below(&r->backoff.rng, timeout_s + 1);
    r->timeout_s = request->timeout_s = timeout_s;
    if (r->sm.state == REFLECTOR_FILLING)
        set_sync_until(r);
    r->live_since_ms = r->stream_bookmark_ms = r->slept_ms = 0;
    r->delivered = DELIVERED_NOTHING;
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
    sm_move(&r->sm, REFLECTOR_LISTING, "%s", why);
    r->staged = r->staged ? r->staged : generation_new(r->store);
    set_sync_until(r);
    reflector_request_page(r);
}

/* The first list may have any version ("0": from the server's cache); later ones must not be older
 * than ours. */
void reflector_request_list_now(struct reflector *r, const char *why)
{
    const char *version = r->version[0] ? r->version : "0";
    pager_start(&r->pager, r->next == NEXT_LIST_NEWEST ? "" : version);
    reflector_request_list(r, why);
}

static void request_all_now(struct reflector *r, const char *why)
{
    struct source_request request = {
        .want = SOURCE_WATCH_LIST,
        .resource_version = r->next == NEXT_LIST_NEWEST ? "" : r->version,
    };
    if (r->no_watch_list) {
        reflector_request_list_now(r, why);
        return;
    }
    sm_move(&r->sm, REFLECTOR_FILLING, "%s", why);
    r->staged = r->staged ? r->staged : generation_new(r->store);
    open_request(r, &request);
}

void reflector_request_all(struct reflector *r, const char *why)
{
    if (list_slot_acquire(&r->list_slot))
        request_all_now(r, why);
    else if (r->sm.state != REFLECTOR_QUEUED)
        sm_move(&r->sm, REFLECTOR_QUEUED, "%s", why);
}

void reflector_on_list_slot(struct list_slot *slot)
{
    request_all_now(container_of(slot, struct reflector, list_slot), "list slot available");
}

void reflector_request_watch(struct reflector *r)
{
    list_slot_release(&r->list_slot);
    sm_move(&r->sm, REFLECTOR_WATCHING, "from resourceVersion %s", r->version);
    open_request(r, &(struct source_request){.want = SOURCE_WATCH, .resource_version = r->version});
}

/* Without a resourceVersion: the response must not come from a cache that lags. */
static void request_version(struct reflector *r)
{
    sm_move(&r->sm, REFLECTOR_CHECKING, "compare with resourceVersion %s", r->version);
    r->version_checked_ms = clock_now_ms(r->clock);
    open_request(r,
                 &(struct source_request){.want = SOURCE_LIST, .resource_version = "", .limit = 1});
}

void reflector_request_next(struct reflector *r, const char *why)
{
    switch (r->next) {
    case NEXT_WATCH: reflector_request_watch(r); break;
    case NEXT_CHECK: request_version(r); break;
    case NEXT_LIST:
    case NEXT_LIST_NEWEST: reflector_request_all(r, why); break;
    }
}
