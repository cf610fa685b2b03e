/*
 * reflector_end.c - what follows the end of a request: resume, list again, fall back to LIST, wait.
 *
 * reflector_request_ended() is the entry point; it dispatches by state. Errors go to
 * apply_fault_rule(), which follows the table in fault.c. See reflector_internal.h for the policy.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "core/mutant.h"
#include "core/reflector/reflector_internal.h"
#include "core/store/store.h"

enum {
    LIVED_MS = 10 * 1000,         /* a stream of this age resets the back-off */
    LIVED_WITH_CHANGES_MS = 1000, /* the same for a stream that delivered changes */
    INCOMPLETE_FILLS_MAX = 2,     /* watch-lists without their bookmark before LIST is used */
    LOG_AGAIN_MS = 600 * 1000,    /* an unchanged fault is logged again after this time */
};

/* A watch can't continue from the last version: a full sync is next. @code is counted, @why is
 * reported with the differences. If a sync is already needed, its first reason stays. */
static void need_list(struct reflector *r, int code, const char *why)
{
    if (r->next >= NEXT_LIST)
        return;
    r->next = NEXT_LIST;
    r->sync_code = code;
    str_replace(&r->sync_reason, why);
}

/* A fault that repeats unchanged is logged at debug level until LOG_AGAIN_MS have passed. After a
 * watch in between it counts as new. */
static enum log_level fault_log_level(struct reflector *r, const struct inf_error *why,
                                      enum log_level level)
{
    uint64_t now = clock_elapsed_ms(r->clock);
    bool same =
        !r->live_since_ms && r->fault.code == why->code && strcmp(r->fault.text, why->text) == 0;
    if (same && now - r->fault_logged_ms < LOG_AGAIN_MS)
        return LOG_DEBUG;
    r->fault_logged_ms = now;
    return level;
}

/* The optional resource is missing: checks again periodically. The response itself is a sign of
 * life. */
static void wait_for_resource(struct reflector *r, const struct inf_error *why)
{
    uint64_t ms = backoff_next(&r->absent_backoff, why->retry_after_ms);
    list_slot_release(&r->list_slot);
    r->counts.ends[why->code]++;
    reflector_commit_absent(r, why);
    freshness_sign(&r->freshness, ms + r->settings.stale_after_ms);
    sm_move(&r->sm, REFLECTOR_WAITING, "resource not found, next check in %" PRIu64 "ms", ms);
    timer_start(r->clock, &r->retry, ms);
}

static void wait_and_retry(struct reflector *r, const struct inf_error *why, enum log_level level)
{
    uint64_t ms = backoff_next(&r->backoff, why->retry_after_ms);
    list_slot_release(&r->list_slot);
    log_line(r->log, level, "%s: %s; retrying in %" PRIu64 ".%" PRIu64 "s", r->sm.owner, why->text,
             ms / 1000, ms % 1000 / 100);
    fault_guard_reset(&r->guard);
    sm_move(&r->sm, REFLECTOR_WAITING, "%s, retry in %" PRIu64 "ms", why->text, ms);
    timer_start(r->clock, &r->retry, ms);
}

static void apply_fault_rule(struct reflector *r, const struct inf_error *why)
{
    const struct fault_rule *rule = fault_rule(why->code);
    enum log_level level;
    if (r->settings.optional && why->code == INF_ENOTFOUND) {
        wait_for_resource(r, why);
        return;
    }
    level = fault_log_level(r, why, rule->level);
    if (rule->next == FAULT_RELIST && !MUTANT("stale-version-kept")) {
        need_list(r, why->code, why->text);
        /* An expired watch only means that the changes since our version are gone; a list that is
         * not older can still be had. */
        if (why->code == INF_EFUTURE ||
            (why->code == INF_EGONE && r->sm.state != REFLECTOR_WATCHING))
            r->next = NEXT_LIST_NEWEST;
    }
    r->counts.ends[why->code]++;
    if (why->code != INF_EEOF) {
        if (!r->fault.code)
            r->failing_since_ms = clock_elapsed_ms(r->clock);
        r->fault = *why;
    }
    if (!fault_may_continue(&r->guard, rule->wait, clock_now_ms(r->clock))) {
        wait_and_retry(r, why, level);
        return;
    }
    log_line(r->log, level, "%s: %s", r->sm.owner, why->text);
    reflector_request_next(r, why->text);
}

/* @for_good: the watch-list was refused, stayed silent or did not end, so this server does not
 * support it; that is remembered. A stream that only ends too early may have other reasons (the
 * server starts or is under load): LIST is used for this sync only. */
static void fall_back_to_list(struct reflector *r, const char *why, bool for_good)
{
    log_line(r->log, LOG_INFO, "%s: streaming list failed (%s); using LIST instead", r->sm.owner,
             why);
    r->no_watch_list = for_good;
    r->incomplete_fills = 0;
    reflector_request_list_now(r, "use LIST");
}

static void list_page_ended(struct reflector *r, const struct inf_error *why)
{
    struct inf_error failure;
    switch (pager_on_end(&r->pager, why, &failure)) {
    case PAGER_NEXT_PAGE: reflector_request_page(r); break;
    case PAGER_COMPLETE:
        reflector_commit(r, r->pager.version, clock_wall_us(r->clock));
        reflector_request_watch(r);
        break;
    case PAGER_WHOLE_LIST:
        reflector_drop_staged(r);
        reflector_request_list(r, "continue token expired, list without pages");
        break;
    case PAGER_FAILED:
        reflector_drop_staged(r);
        apply_fault_rule(r, &failure);
        break;
    }
}

static void watch_ended(struct reflector *r, const struct inf_error *why)
{
    if (reflector_check_watch_ended(r, why)) {
        char *reason = xasprintf(
            "the server has a newer resourceVersion than %s, but its watches deliver no events",
            r->version);
        log_line(r->log, LOG_WARN, "%s: %s; relisting", r->sm.owner, reason);
        need_list(r, why->code, reason);
        free(reason);
    }
    apply_fault_rule(r, why);
}

/* Resets the back-off after a stream that lived, so that a server that restarts repeatedly is found
 * quickly each time. Errors that cost the server a list keep backing off until a stream lives for
 * LIVED_MS. */
static void reset_backoff_after_success(struct reflector *r, int code)
{
    uint64_t lived_ms = r->live_since_ms ? clock_now_ms(r->clock) - r->live_since_ms : 0;
    if (lived_ms >= LIVED_MS)
        fault_guard_reset(&r->guard);
    else if (r->delivered != DELIVERED_CHANGES || lived_ms < LIVED_WITH_CHANGES_MS ||
             fault_rule(code)->next == FAULT_RELIST)
        return;
    backoff_reset(&r->backoff);
}

void reflector_request_ended(struct reflector *r, const struct inf_error *why)
{
    bool normal_end = why->code == INF_EEOF;
    silence_timer_stop(&r->silence_timer);
    timer_stop(r->clock, &r->confirm);
    r->slept_ms = 0; /* the request that was to be reopened has ended */
    reset_backoff_after_success(r, why->code);
    /* The normal end of a watch is a sign of life only if the watch delivered something. It does
     * not make a stale cache fresh. */
    if (normal_end && r->sm.state == REFLECTOR_WATCHING && r->delivered != DELIVERED_NOTHING &&
        !freshness_is_stale(&r->freshness))
        freshness_sign(&r->freshness, 0);
    else
        freshness_lost(&r->freshness);
    switch ((enum reflector_state)r->sm.state) {
    case REFLECTOR_FILLING: /* before its bookmark */
        reflector_drop_staged(r);
        r->incomplete_fills = normal_end ? r->incomplete_fills + 1 : 0;
        if (why->code == INF_EREFUSED || r->incomplete_fills >= INCOMPLETE_FILLS_MAX)
            fall_back_to_list(r, why->text, why->code == INF_EREFUSED);
        else
            apply_fault_rule(r, why);
        break;
    case REFLECTOR_LISTING: list_page_ended(r, why); break;
    case REFLECTOR_WATCHING: watch_ended(r, why); break;
    case REFLECTOR_CHECKING:
        if (reflector_check_ended(r, why))
            reflector_request_watch(r);
        else
            apply_fault_rule(r, why);
        break;
    case REFLECTOR_IDLE:
    case REFLECTOR_QUEUED:
    case REFLECTOR_WAITING:
    case REFLECTOR_CLOSED: break; /* no request is open */
    }
}

void reflector_abort_request(struct reflector *r, const struct inf_error *why)
{
    source_cancel(r->source);
    reflector_request_ended(r, why);
}

void reflector_on_silence(struct silence_timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, silence_timer);
    bool timed_out = reflector_sync_timed_out(r);
    struct inf_error why;
    if (MUTANT("silence-ignored"))
        return;
    if (r->sm.state == REFLECTOR_LISTING && timed_out)
        err_set(&why, INF_ETIMEOUT, "list not complete after list_max=%ds (%zu objects received)",
                LIST_MAX_MS / 1000, generation_count(r->staged));
    else
        err_set(&why, INF_ETIMEOUT, "no data received for %" PRIu64 "s",
                silence_timer_lasted_ms(timer) / 1000);
    if (r->sm.state != REFLECTOR_FILLING || source_is_preparing(r->source)) {
        reflector_abort_request(r, &why);
        return;
    }
    /* This server never completes a watch-list. */
    source_cancel(r->source);
    reflector_drop_staged(r);
    fall_back_to_list(r, timed_out ? "not complete at the watch timeout" : why.text, true);
}
