#include "core/reflector/reflector_end.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "core/mutant.h"
#include "core/reflector/reflector_deliver.h"
#include "core/reflector/reflector_request.h"
#include "core/reflector/rewind_check.h"
#include "core/store/store.h"

enum {
    LIVED_MS = 10 * 1000,      /* a stream that lived so long was a success: back-off starts over */
    LIVED_WITH_NEWS_MS = 1000, /* so was one that brought something, if it did not just break off */
    UNENDED_MAX = 2, /* watch-lists that end without their bookmark before we list instead */
    SAY_AGAIN_MS = 600 * 1000, /* a fault that stays the same is told again after so long */
};

void reflector_on_retry(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, retry);
    if (!r->held) /* else reflector_hold() goes on later */
        reflector_request_next(r, "retry");
}

static void wait_and_retry(struct reflector *r, const struct inf_error *why, enum log_level level)
{
    uint64_t ms = backoff_next(&r->backoff, why->retry_after_ms);
    list_slot_release(&r->list_slot);
    log_line(r->log, level, "%s: %s; retrying in %" PRIu64 ".%" PRIu64 "s", r->sm.who, why->text,
             ms / 1000, ms % 1000 / 100);
    fault_guard_rested(&r->guard);
    sm_move(&r->sm, WAITING, "%s, retry in %" PRIu64 "ms", why->text, ms);
    timer_start(r->clock, &r->retry, ms);
}

void reflector_need_list(struct reflector *r, int code, const char *why)
{
    if (r->must_sync)
        return;
    r->must_sync = true;
    r->sync_code = code;
    str_replace(&r->sync_reason, why);
}

static void note_what_is_lost(struct reflector *r, const struct inf_error *why,
                              const struct fault_rule *rule)
{
    if (why->code == INF_EGONE || why->code == INF_EFUTURE)
        r->version_unusable = r->sm.state != WATCHING || why->code == INF_EFUTURE;
    if (rule->next == FAULT_RELIST && !MUTANT("stale-version-kept"))
        reflector_need_list(r, why->code, why->text);
}

/* What is refused for good is asked for again and again; it need not be told as often. But if a watch
 * was there in between it is news. */
static enum log_level how_loud(struct reflector *r, const struct inf_error *why,
                               enum log_level level)
{
    uint64_t now = clock_elapsed_ms(r->clock);
    bool same =
        !r->live_since_ms && r->fault.code == why->code && strcmp(r->fault.text, why->text) == 0;
    if (same && now - r->said_ms < SAY_AGAIN_MS)
        return LOG_DEBUG;
    r->said_ms = now;
    return level;
}

static void count_end(struct reflector *r, const struct inf_error *why)
{
    r->counts.ends[why->code]++;
    if (why->code == INF_EEOF)
        return;
    if (!r->fault.code)
        r->failing_since_ms = clock_elapsed_ms(r->clock);
    r->fault = *why;
}

/* It is looked for from time to time. That the server answered is a sign of life. */
static void wait_for_resource(struct reflector *r, const struct inf_error *why)
{
    uint64_t ms = backoff_next(&r->calm, why->retry_after_ms);
    list_slot_release(&r->list_slot);
    r->counts.ends[why->code]++;
    reflector_commit_absent(r, why);
    freshness_sign(&r->freshness, ms + r->settings.stale_after_ms);
    sm_move(&r->sm, WAITING, "resource not found, next check in %" PRIu64 "ms", ms);
    timer_start(r->clock, &r->retry, ms);
}

static void follow_rule(struct reflector *r, const struct inf_error *why)
{
    const struct fault_rule *rule = fault_rule(why->code);
    enum log_level level;
    if (r->settings.optional && why->code == INF_ENOTFOUND) {
        wait_for_resource(r, why);
        return;
    }
    level = how_loud(r, why, rule->level);
    note_what_is_lost(r, why, rule);
    count_end(r, why);
    if (!fault_may_go_on(&r->guard, rule->wait, clock_now_ms(r->clock))) {
        wait_and_retry(r, why, level);
        return;
    }
    log_line(r->log, level, "%s: %s", r->sm.who, why->text);
    reflector_request_next(r, why->text);
}

/* Refused, silent for ever, or endless: that is how this server is, and it is remembered. A stream
 * that just ends too early may have had other reasons (a server that starts or is under load): listed
 * this time, streamed the next. */
static void list_instead(struct reflector *r, const char *why, bool for_good)
{
    log_line(r->log, LOG_INFO, "%s: streaming list failed (%s); using LIST instead", r->sm.who,
             why);
    r->no_watch_list = for_good;
    r->unended_fills = 0;
    reflector_request_list_now(r, "use LIST");
}

/* A watch-list ended before its bookmark. */
static void fill_ended(struct reflector *r, const struct inf_error *why)
{
    r->unended_fills = why->code == INF_EEOF ? r->unended_fills + 1 : 0;
    if (why->code == INF_EREFUSED || r->unended_fills >= UNENDED_MAX)
        list_instead(r, why->text, why->code == INF_EREFUSED);
    else
        follow_rule(r, why);
}

static void page_ended(struct reflector *r, const struct inf_error *why)
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
        follow_rule(r, &failure);
        break;
    }
}

static void question_ended(struct reflector *r, const struct inf_error *why)
{
    if (why->code != INF_EFUTURE && rewind_check_settled(r, why))
        reflector_request_watch(r);
    else
        follow_rule(r, why);
}

/* A server that is restarted again and again is found as quickly each time. But what costs it a
 * list is asked for ever more slowly, until a stream has lived. */
static void start_over_after_success(struct reflector *r, int code)
{
    uint64_t lived_ms = r->live_since_ms ? clock_now_ms(r->clock) - r->live_since_ms : 0;
    if (lived_ms >= LIVED_MS)
        fault_guard_rested(&r->guard);
    else if (!r->news || lived_ms < LIVED_WITH_NEWS_MS || fault_rule(code)->next == FAULT_RELIST)
        return;
    backoff_reset(&r->backoff);
}

/* That a stream ended as it should is a sign of the server only if it showed something; and one that
 * fell silent until the copy was stale does not make it fresh again by its end. */
static void note_end(struct reflector *r, const struct inf_error *why)
{
    bool good = why->code == INF_EEOF && r->sm.state == WATCHING && r->shown;
    if (good && !r->freshness.stale)
        freshness_sign(&r->freshness, 0);
    else
        freshness_lost(&r->freshness);
}

void reflector_request_ended(struct reflector *r, const struct inf_error *why)
{
    silence_timer_stop(&r->silence_timer);
    r->slept_ms = 0; /* what was to be reopened is gone */
    start_over_after_success(r, why->code);
    note_end(r, why);
    switch ((enum reflector_state)r->sm.state) {
    case FILLING:
        reflector_drop_staged(r);
        fill_ended(r, why);
        break;
    case LISTING: page_ended(r, why); break;
    case WATCHING:
        rewind_check_watch_ended(r, why);
        blind_watch_ended(r, why);
        follow_rule(r, why);
        break;
    case ASKING: question_ended(r, why); break;
    case IDLE:
    case QUEUED:
    case WAITING:
    case CLOSED: break; /* no request is under way */
    }
}

void reflector_abort_request(struct reflector *r, const struct inf_error *why)
{
    source_cancel(r->source);
    reflector_request_ended(r, why);
}

/* It never says that the list is complete: it can't. */
static void give_up_fill(struct reflector *r, const char *why)
{
    source_cancel(r->source);
    reflector_drop_staged(r);
    list_instead(r, why, true);
}

void reflector_on_silence(struct silence_timer *patience)
{
    struct reflector *r = container_of(patience, struct reflector, silence_timer);
    struct inf_error why;
    if (MUTANT("silence-ignored"))
        return;
    if (r->sm.state == LISTING && ask_sync_is_over(r))
        err_set(&why, INF_ETIMEOUT, "list not complete after list_max=%ds (%zu objects received)",
                LIST_MAX_MS / 1000, generation_count(r->staged));
    else
        err_set(&why, INF_ETIMEOUT, "no data received for %" PRIu64 "s",
                silence_timer_lasted_ms(patience) / 1000);
    if (r->sm.state == FILLING && !source_is_preparing(r->source))
        give_up_fill(r, ask_sync_is_over(r) ? "not complete at the watch timeout" : why.text);
    else
        reflector_abort_request(r, &why);
}
