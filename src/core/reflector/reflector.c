/*
 * reflector.c - list, then watch, for ever.
 *
 *              start                  end bookmark
 *        idle ───────> filling ─────────────────────> watching <──┐ reopened from the last version
 *                        │  ^                          ^ │  └─────┘
 *      not supported, or │  │ pages complete, watch    │ │ failed, or version expired
 *      never complete    v  │ from there               │ v
 *                      listing ────────────────────────┘ waiting ──> filling, listing or, if the
 *                                                                    server is not behind, watching
 *
 * The happy path. A watch-list request brings every object as ADDED into a staged generation; the
 * annotated bookmark says it is complete, and the generation goes into the FIFO as one delta. The
 * same stream then brings changes, each one delta. Each object and bookmark moves the resource
 * version on.
 *
 * Servers that can't: a watch-list that is refused, that brings no more objects and no end, or that
 * goes on for longer than any watch, is not tried again, and one that ends twice without its
 * bookmark not this time; the objects come as LIST, page by page, and a watch follows from the
 * first page's version.
 *
 * When a request ends, the next one is opened from the last version, or after a wait, or all is
 * listed anew. A stream that is silent too long is taken for dead, and so is every watch after the
 * host slept. What was staged is dropped: every attempt begins empty. A watch that broke off, brought
 * nothing or was slept over leaves a doubt, and the server is asked where it is before the next one. If
 * it is at a newer version and watches show nothing of that, all is listed again.
 *
 * Here are the states, and what each event of an answer means. How things are asked for is in ask.h,
 * where they go to in intake.h, what the end of a request means in outcome.h, the doubt in doubt.h,
 * watches that show nothing in blind_watch.h.
 */
#include "core/reflector/reflector.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/glob.h"
#include "core/reflector/reflector_deliver.h"
#include "core/reflector/reflector_end.h"
#include "core/reflector/reflector_request.h"
#include "core/reflector/rewind_check.h"
#include "core/store/store.h"

enum {
    CALM_MS = 3 * 1000, /* between looks for a resource that may not exist; with jitter up to twice
                            as long */
    BOOKMARK_WAIT_MAX_MS = 90 * 1000, /* LIMIT: servers send a bookmark about once a minute */
    SLEPT_MS = 5 * 1000,              /* if the host slept so long, its watches are dead */
};

/* clang-format off */
#define TO_ANY (SM_TO(QUEUED) | SM_TO(FILLING) | SM_TO(LISTING) | SM_TO(WATCHING) | SM_TO(ASKING) | SM_TO(WAITING) | SM_TO(CLOSED))
static const struct sm_state states[] = {
    [IDLE]     = {"idle",     SM_TO(QUEUED) | SM_TO(FILLING) | SM_TO(LISTING) | SM_TO(WAITING) | SM_TO(CLOSED)},
    [QUEUED]   = {"queued",   SM_TO(FILLING) | SM_TO(LISTING) | SM_TO(CLOSED)},
    [FILLING]  = {"filling",  TO_ANY},
    [LISTING]  = {"listing",  TO_ANY},
    [WATCHING] = {"watching", TO_ANY},
    [ASKING]   = {"asking",   TO_ANY},
    [WAITING]  = {"waiting",  TO_ANY & ~SM_TO(WAITING)},
    [CLOSED]   = {"closed",   0},
};
/* clang-format on */

/* ---- events ---- */

static void refuse_without_version(struct reflector *r)
{
    struct inf_error why;
    err_set(&why, INF_EDECODE, "the server sent an event without a resourceVersion");
    reflector_abort_request(r, &why);
}

static void end_fill(struct reflector *r, const struct source_event *event)
{
    size_t count = generation_count(r->staged);
    reflector_commit(r, event->resource_version, event->received_us);
    list_slot_release(&r->list_slot);
    r->live_since_ms = clock_now_ms(r->clock);
    r->shown = true;
    sm_move(&r->sm, WATCHING, "%zu object%s at resourceVersion %s", count, count == 1 ? "" : "s",
            r->version);
}

static bool is_excluded(const struct reflector *r, const struct source_event *event)
{
    const struct reflector_settings *s = &r->settings;
    return event->object && s->n_exclude_ns &&
           glob_any(s->exclude_ns, s->n_exclude_ns, inf_object_namespace(event->object));
}

/* A watch has shown that it shows what happens. */
static void show(struct reflector *r)
{
    r->fault.code = 0;
    r->news = r->shown = true;
    blind_watch_shown(r);
}

/* Of what nobody wants, only how far the stream has come is kept. */
static void pass_over(struct reflector *r, const struct source_event *event)
{
    struct source_event mark = *event;
    mark.object = NULL;
    show(r);
    reflector_push_change(r, DELTA_BOOKMARK, &mark);
}

/* While a list comes in. */
static void stage(struct reflector *r, const struct source_event *event)
{
    if (event->type == SOURCE_ADDED || event->type == SOURCE_SKIPPED)
        pager_on_item(&r->pager);
    if (is_excluded(r, event))
        return;
    switch (event->type) {
    case SOURCE_ADDED:
    case SOURCE_MODIFIED: generation_put(r->staged, event->object); break;
    case SOURCE_DELETED: generation_delete(r->staged, event->object); break;
    case SOURCE_BOOKMARK:
        if (event->initial_end)
            end_fill(r, event);
        break;
    case SOURCE_PAGE_END:
        pager_on_page_end(&r->pager, event->resource_version, event->continue_token);
        break;
    case SOURCE_SKIPPED: reflector_push_skipped(r, event); break;
    case SOURCE_TEXT: break; /* nobody asked for one */
    }
}

static void watched(struct reflector *r, const struct source_event *event)
{
    if (is_excluded(r, event)) {
        pass_over(r, event);
        return;
    }
    show(r);
    if (event->type != SOURCE_BOOKMARK)
        r->event_ms = clock_elapsed_ms(r->clock);
    switch (event->type) {
    case SOURCE_ADDED: reflector_push_change(r, DELTA_ADDED, event); break;
    case SOURCE_MODIFIED: reflector_push_change(r, DELTA_UPDATED, event); break;
    case SOURCE_DELETED: reflector_push_change(r, DELTA_DELETED, event); break;
    case SOURCE_BOOKMARK: reflector_push_change(r, DELTA_BOOKMARK, event); break;
    case SOURCE_SKIPPED: reflector_push_skipped(r, event); break;
    case SOURCE_PAGE_END:
    case SOURCE_TEXT: break; /* no watch has these */
    }
}

/* Bookmarks without objects could go on for ever while a list that will never end is waited for. */
static void heard(struct reflector *r, const struct source_event *event)
{
    if (r->sm.state != FILLING || event->type != SOURCE_BOOKMARK)
        reflector_restart_silence_timer(r);
    if (r->sm.state == WATCHING)
        freshness_sign(&r->freshness, r->bookmark_ms ? 0 : r->silence_timer.ms);
}

/* A reconnect makes the server begin its interval again. So where bookmarks are rarer than stale_after,
 * a stream is given as long as they were seen to take, and half of that. */
static void note_bookmark(struct reflector *r)
{
    uint64_t now = clock_now_ms(r->clock);
    uint64_t since = r->bookmark_seen ? r->stream_bookmark_ms : r->live_since_ms;
    uint64_t wait = r->sm.state == WATCHING && since ? (now - since) * 3 / 2 : 0;
    if (wait > BOOKMARK_WAIT_MAX_MS)
        wait = BOOKMARK_WAIT_MAX_MS;
    if (wait > r->bookmark_wait_ms)
        r->bookmark_wait_ms = wait;
    r->bookmark_seen = true;
    r->stream_bookmark_ms = now;
    r->bookmark_ms = clock_elapsed_ms(r->clock);
}

static void reflector_on_event(struct source_user *user, const struct source_event *event)
{
    struct reflector *r = container_of(user, struct reflector, user);
    bool was_watching = r->sm.state == WATCHING;
    struct inf_error why;
    if (event->type != SOURCE_SKIPPED && !event->resource_version[0]) {
        refuse_without_version(r);
        return;
    }
    if ((was_watching || r->sm.state == ASKING) && rewind_check_confirmed(r, event, &why)) {
        reflector_abort_request(r, &why);
        return;
    }
    if (event->type == SOURCE_BOOKMARK)
        note_bookmark(r);
    if (r->sm.state == FILLING || r->sm.state == LISTING)
        stage(r, event); /* and maybe it is a watch then */
    if (r->sm.state == ASKING)
        rewind_check_answered(r, event);
    heard(r, event);
    if (was_watching) /* told behind "recovered", if it shows that */
        watched(r, event);
}

/* A server that sends bookmarks has to send one before we believe it; of one that never did, more
 * than that it took the request can't be asked, unless its watches were found to show nothing. */
static void reflector_on_open(struct source_user *user)
{
    struct reflector *r = container_of(user, struct reflector, user);
    r->fault.code = 0;
    reflector_restart_silence_timer(r);
    if (r->sm.state != WATCHING)
        return;
    r->live_since_ms = clock_now_ms(r->clock);
    if (!r->bookmark_ms && !r->blind.proven)
        freshness_sign(&r->freshness, r->silence_timer.ms);
}

static void reflector_on_progress(struct source_user *user)
{
    silence_timer_progress(&container_of(user, struct reflector, user)->silence_timer);
}

static void reflector_on_prepared(struct source_user *user)
{
    ask_prepared(container_of(user, struct reflector, user));
}

static void reflector_on_end(struct source_user *user, const struct inf_error *why)
{
    reflector_request_ended(container_of(user, struct reflector, user), why);
}

static const struct source_user_ops user_ops = {
    .on_open = reflector_on_open,
    .on_event = reflector_on_event,
    .on_progress = reflector_on_progress,
    .on_prepared = reflector_on_prepared,
    .on_end = reflector_on_end,
};

/* ---- sleeping ---- */

static void reopen_after_sleep(struct reflector *r)
{
    log_line(r->log, LOG_DEBUG, "%s: process suspended for %" PRIu64 "s", r->sm.who,
             r->slept_ms / 1000);
    source_cancel(r->source);
    rewind_check_slept(r);
    reflector_request_next(r, "resumed after sleep");
}

/* The other side has long forgotten the connection, but nothing will say so. What is held is not
 * reopened before it is released. */
static void on_slept(struct sleep_watch *sleep, uint64_t ms)
{
    struct reflector *r = container_of(sleep, struct reflector, sleep);
    if (ms < SLEPT_MS)
        return;
    freshness_slept(&r->freshness, ms);
    if (r->sm.state != WATCHING && r->sm.state != ASKING)
        return;
    r->slept_ms = ms;
    if (!r->held)
        reopen_after_sleep(r);
}

/* ---- holding ---- */

static void hold(struct reflector *r)
{
    silence_timer_stop(&r->silence_timer);
    list_slot_release(&r->list_slot); /* others need not wait for our consumers */
    source_pause(r->source);
}

static void release(struct reflector *r)
{
    source_resume(r->source);
    if (r->slept_ms) {
        reopen_after_sleep(r);
        return;
    }
    switch ((enum reflector_state)r->sm.state) {
    case FILLING:
    case LISTING:
    case WATCHING:
    case ASKING: reflector_restart_silence_timer(r); break;
    case QUEUED: reflector_request_next(r, "released"); break;
    case WAITING:
        if (!r->retry.running)
            reflector_request_next(r, "released");
        break;
    case IDLE:
    case CLOSED: break;
    }
}

void reflector_hold(struct reflector *r, bool held)
{
    uint64_t now = clock_elapsed_ms(r->clock);
    if (r->held == held)
        return;
    r->held = held;
    if (!held)
        r->sync_until_ms += now - r->held_since_ms; /* it was we who did not listen */
    r->held_since_ms = now;
    freshness_hold(&r->freshness, held);
    if (held)
        hold(r);
    else
        release(r);
}

/* ---- life ---- */

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

enum {
    STALE_AFTER_MS = 150 * 1000, /* unless something else is asked for */
};

static struct reflector_settings with_defaults(const struct reflector_settings *s)
{
    return (struct reflector_settings){
        .watch_timeout_s = or_default(s->watch_timeout_s, 300),
        .page_size = s->page_size,
        .backoff_first_ms = or_default(s->backoff_first_ms, 800),
        .backoff_max_ms = or_default(s->backoff_max_ms, 30 * 1000),
        .stale_after_ms = or_default(s->stale_after_ms, STALE_AFTER_MS),
        .fill_silence_ms = or_default(s->fill_silence_ms, 30 * 1000),
        .no_watch_list = s->no_watch_list,
        .no_jitter = s->no_jitter,
        .optional = s->optional,
        .exclude_ns = s->exclude_ns,
        .n_exclude_ns = s->n_exclude_ns,
        .list_limiter = s->list_limiter,
    };
}

void reflector_init(struct reflector *r, const char *who, struct source *source,
                    struct clock *clock, struct inf_store *store, struct fifo *fifo,
                    struct task *pump, struct log *log, const struct reflector_settings *settings)
{
    *r = (struct reflector){
        .user = {&user_ops},
        .source = source,
        .clock = clock,
        .store = store,
        .fifo = fifo,
        .pump = pump,
        .log = log,
        .settings = with_defaults(settings),
        .retry.fire = reflector_on_retry,
        .version = xstrdup(""),
        .must_sync = true,
        .sync_reason = xstrdup("start"),
        .no_watch_list = settings->no_watch_list,
    };
    silence_timer_init(&r->silence_timer, clock, reflector_on_silence);
    pager_init(&r->pager, r->settings.page_size);
    backoff_init(&r->backoff, r->settings.backoff_first_ms, r->settings.backoff_max_ms,
                 r->settings.no_jitter);
    backoff_init(&r->calm, CALM_MS, CALM_MS, r->settings.no_jitter);
    freshness_init(&r->freshness, clock, r->settings.stale_after_ms, reflector_on_freshness);
    list_slot_init(&r->list_slot, r->settings.list_limiter, clock, reflector_on_list_slot);
    sm_init(&r->sm, states, IDLE, who, log);
    sleep_watch_start(clock, &r->sleep, on_slept);
}

void reflector_set_stale_after(struct reflector *r, uint32_t ms)
{
    r->settings.stale_after_ms = or_default(ms, STALE_AFTER_MS);
    r->freshness.stale_after_ms = r->settings.stale_after_ms;
}

/* ---- something else ---- */

/* Nothing is under way afterwards, and what was learnt of the source before is forgotten. */
static void forget_request(struct reflector *r)
{
    source_cancel(r->source);
    silence_timer_stop(&r->silence_timer);
    timer_stop(r->clock, &r->retry);
    list_slot_release(&r->list_slot);
    reflector_drop_staged(r);
    backoff_reset(&r->backoff);
    backoff_reset(&r->calm);
    r->guard = (struct fault_guard){0};
    r->blind = (struct blind_watch){0};
    seen_versions_free(&r->skipped);
    r->no_watch_list = r->settings.no_watch_list;
    r->unended_fills = r->unanswered = 0;
    r->rewind_suspected = r->version_unusable = false;
    r->slept_ms = 0;
}

static void note_redefined(struct reflector *r, const char *why)
{
    r->must_sync = r->redefined = true;
    r->sync_code = INF_ECONF;
    str_replace(&r->sync_reason, why);
}

/* What is held lists when it is released: see release(). */
static void list_redefined(struct reflector *r, const char *why)
{
    note_redefined(r, why);
    if (!r->held)
        reflector_request_all(r, why);
    else if (r->sm.state != WAITING && r->sm.state != QUEUED)
        sm_move(&r->sm, WAITING, "%s", why);
}

void reflector_change(struct reflector *r, const char *who, struct source *source,
                      const struct reflector_settings *settings, const char *why)
{
    forget_request(r);
    r->sm.who = who;
    r->source = source;
    if (r->held)
        source_pause(source);
    r->settings.exclude_ns = settings->exclude_ns;
    r->settings.n_exclude_ns = settings->n_exclude_ns;
    list_redefined(r, why);
}

void reflector_continue(struct reflector *r, const char *version, const char *why)
{
    str_replace(&r->version, version);
    list_redefined(r, why);
}

void reflector_resume(struct reflector *r, const char *version)
{
    str_replace(&r->version, version);
    r->must_sync = false;
    r->rewind_suspected = true; /* it may be held for long */
    sm_move(&r->sm, WAITING, "cached state at resourceVersion %s", version);
    freshness_begin(&r->freshness);
    reflector_hold(r, true);
}

void reflector_moved(struct reflector *r, const char *why)
{
    if (r->sm.state == CLOSED) /* it has ended: see reflector_end() */
        return;
    forget_request(r);
    str_replace(&r->version, "");
    list_redefined(r, why);
}

void reflector_end(struct reflector *r, const char *why)
{
    forget_request(r);
    note_redefined(r, why);
    sm_move(&r->sm, CLOSED, "%s", why);
    sleep_watch_stop(&r->sleep);
    r->staged = generation_new(r->store);
    reflector_commit(r, r->version, clock_wall_us(r->clock));
    freshness_close(&r->freshness); /* which the list has set going */
}

/* ---- beginning and end ---- */

void reflector_start(struct reflector *r)
{
    reflector_request_all(r, "start");
}

void reflector_close(struct reflector *r)
{
    if (r->sm.state != CLOSED)
        sm_move(&r->sm, CLOSED, "stop");
    source_cancel(r->source);
    list_slot_release(&r->list_slot);
    freshness_close(&r->freshness);
    sleep_watch_stop(&r->sleep);
    timer_stop(r->clock, &r->retry);
    silence_timer_stop(&r->silence_timer);
    reflector_drop_staged(r);
    free(r->version);
    free(r->sync_reason);
    pager_free(&r->pager);
    seen_versions_free(&r->skipped);
}
