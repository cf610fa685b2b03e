/*
 * reflector.c - copies a resource from the server: lists all objects, then watches for changes.
 *
 *                     end-of-list bookmark
 *     idle ─> filling ────────────────────> watching ─┐
 *                │                           ^  ^  ^  │ normal end: reopened at the last version
 *                │ server can't              │  │  └──┘
 *                │ stream a list             │  │
 *                v        last page          │  │ the server still has our version
 *             listing ───────────────────────┘ checking
 *
 * Normal path. A watch-list request delivers every object as ADDED into a staged generation. An
 * annotated bookmark marks the end of the list, and the generation goes into the FIFO as one delta.
 * The same stream then delivers changes, one delta each. Every object and every bookmark advances
 * the resource version.
 *
 * Servers without streaming lists. A watch-list is not tried again if it is refused, if it stops
 * delivering objects without the bookmark, or if it is open for longer than any watch. After two
 * watch-lists in a row that end without the bookmark, this one sync uses LIST. The objects then
 * arrive page by page, and a watch follows from the first page's version.
 *
 * Failures. Any request may fail; its staged objects are dropped, and every attempt starts with an
 * empty list. The fault table (fault.c) decides whether to go on at once or in state `waiting`,
 * with back-off. The next state is then
 *
 *     watching          if the last version can be resumed: nothing was missed
 *     checking          if the server may have been restored to an older version: the watch broke
 *                       off, delivered nothing or was open while the host slept
 *                       (reflector_check.c)
 *     filling, listing  if the version expired or was rewound, or if watches deliver nothing while
 *                       the server's version advances
 *
 * Before filling or listing the reflector is `queued` while all list slots are in use
 * (list_limiter.h). A request that is silent for too long counts as failed, and so does every watch
 * after the host slept.
 *
 * This file has the states, the handling of each event, hold and release, start and close.
 * reflector_internal.h lists the other files and the order in which they call each other.
 */
#include "core/reflector/reflector.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/glob.h"
#include "core/reflector/reflector_internal.h"
#include "core/store/store.h"

enum {
    ABSENT_CHECK_MS = 3 * 1000,       /* between checks for a missing optional resource; jitter can
                                   double it */
    BOOKMARK_WAIT_MAX_MS = 90 * 1000, /* LIMIT: servers send a bookmark about once a minute */
    CONFIRM_MS = 1000,   /* a watch that is open for this long was accepted: API servers report an
                            expired version as the first event, after an ordinary response */
    SLEPT_MS = 5 * 1000, /* after a sleep of this length all watches are taken for dead */
};

/* clang-format off */
#define TO_LIST (SM_TO(REFLECTOR_QUEUED) | SM_TO(REFLECTOR_FILLING) | SM_TO(REFLECTOR_LISTING))
#define TO_ANY (TO_LIST | SM_TO(REFLECTOR_WATCHING) | SM_TO(REFLECTOR_CHECKING) | SM_TO(REFLECTOR_WAITING) | SM_TO(REFLECTOR_CLOSED))
static const struct sm_state reflector_states[] = {
    [REFLECTOR_IDLE]     = {"idle",     TO_LIST | SM_TO(REFLECTOR_WAITING) | SM_TO(REFLECTOR_CLOSED)},
    [REFLECTOR_QUEUED]   = {"queued",   SM_TO(REFLECTOR_FILLING) | SM_TO(REFLECTOR_LISTING) | SM_TO(REFLECTOR_CLOSED)},
    [REFLECTOR_FILLING]  = {"filling",  TO_ANY},
    [REFLECTOR_LISTING]  = {"listing",  TO_ANY},
    [REFLECTOR_WATCHING] = {"watching", TO_ANY},
    [REFLECTOR_CHECKING] = {"checking", TO_ANY},
    [REFLECTOR_WAITING]  = {"waiting",  TO_ANY & ~SM_TO(REFLECTOR_WAITING)},
    [REFLECTOR_CLOSED]   = {"closed",   0},
};
/* clang-format on */

/* ---- events ---- */

static bool is_excluded(const struct reflector *r, const struct source_event *event)
{
    const struct reflector_settings *s = &r->settings;
    return event->object && s->n_exclude_ns &&
           glob_any(s->exclude_ns, s->n_exclude_ns, inf_object_namespace(event->object));
}

/* The watch-list is complete: its stream continues as a watch. */
static void complete_fill(struct reflector *r, const struct source_event *event)
{
    size_t count = generation_count(r->staged);
    reflector_commit(r, event->resource_version, event->received_us);
    list_slot_release(&r->list_slot);
    r->live_since_ms = clock_now_ms(r->clock);
    r->delivered = DELIVERED_LIST;
    sm_move(&r->sm, REFLECTOR_WATCHING, "%zu object%s at resourceVersion %s", count,
            count == 1 ? "" : "s", r->version);
}

/* Handles an event while a list is being received. */
static void stage_event(struct reflector *r, const struct source_event *event)
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
            complete_fill(r, event);
        break;
    case SOURCE_PAGE_END:
        pager_on_page_end(&r->pager, event->resource_version, event->continue_token);
        break;
    case SOURCE_SKIPPED: reflector_push_skipped(r, event); break;
    case SOURCE_TEXT: break; /* never requested here */
    }
}

static void push_watch_event(struct reflector *r, const struct source_event *event)
{
    r->fault.code = 0;
    r->delivered = DELIVERED_CHANGES;
    reflector_confirm(r);
    reflector_check_watch_works(r);
    if (is_excluded(r, event)) { /* only its resource version is used */
        struct source_event bookmark = *event;
        bookmark.object = NULL;
        reflector_push_change(r, DELTA_BOOKMARK, &bookmark);
        return;
    }
    if (event->type != SOURCE_BOOKMARK)
        r->event_ms = clock_elapsed_ms(r->clock);
    switch (event->type) {
    case SOURCE_ADDED: reflector_push_change(r, DELTA_ADDED, event); break;
    case SOURCE_MODIFIED: reflector_push_change(r, DELTA_UPDATED, event); break;
    case SOURCE_DELETED: reflector_push_change(r, DELTA_DELETED, event); break;
    case SOURCE_BOOKMARK: reflector_push_change(r, DELTA_BOOKMARK, event); break;
    case SOURCE_SKIPPED: reflector_push_skipped(r, event); break;
    case SOURCE_PAGE_END:
    case SOURCE_TEXT: break; /* do not occur in a watch */
    }
}

/* The server's bookmark interval restarts with each connection. Where bookmarks are rarer than
 * stale_after, a stream may therefore be silent for 1.5 times the longest interval seen, so that
 * reconnects do not prevent them for ever. */
static void note_bookmark(struct reflector *r)
{
    uint64_t now = clock_now_ms(r->clock);
    uint64_t since = r->stream_bookmark_ms ? r->stream_bookmark_ms : r->live_since_ms;
    uint64_t wait = r->sm.state == REFLECTOR_WATCHING && since ? (now - since) * 3 / 2 : 0;
    if (wait > BOOKMARK_WAIT_MAX_MS)
        wait = BOOKMARK_WAIT_MAX_MS;
    if (wait > r->bookmark_wait_ms)
        r->bookmark_wait_ms = wait;
    r->stream_bookmark_ms = now;
    r->bookmark_ms = clock_elapsed_ms(r->clock);
}

static void reflector_on_event(struct source_user *user, const struct source_event *event)
{
    struct reflector *r = container_of(user, struct reflector, user);
    bool was_watching = r->sm.state == REFLECTOR_WATCHING;
    bool checking = r->sm.state == REFLECTOR_CHECKING;
    struct inf_error why;
    if (event->type != SOURCE_SKIPPED && !event->resource_version[0]) {
        err_set(&why, INF_EDECODE, "the server sent an event without a resourceVersion");
        reflector_abort_request(r, &why);
        return;
    }
    if ((was_watching || checking) && reflector_check_is_rewound(r, event, &why)) {
        reflector_abort_request(r, &why);
        return;
    }
    if (event->type == SOURCE_BOOKMARK)
        note_bookmark(r);
    if (r->sm.state == REFLECTOR_FILLING || r->sm.state == REFLECTOR_LISTING)
        stage_event(r, event); /* may move to `watching` */
    if (checking && event->type == SOURCE_PAGE_END &&
        reflector_check_is_current(r, event->resource_version)) {
        freshness_sign(&r->freshness, 0);
        reflector_confirm(r);
    }
    /* While filling, a bookmark does not restart the timer: a server that sends bookmarks but never
     * ends the list must still time out. */
    if (r->sm.state != REFLECTOR_FILLING || event->type != SOURCE_BOOKMARK)
        reflector_restart_silence_timer(r);
    if (r->sm.state == REFLECTOR_WATCHING)
        freshness_sign(&r->freshness, r->bookmark_ms ? 0 : r->silence_timer.ms);
    if (was_watching) /* after a possible RECOVERED from the line above */
        push_watch_event(r, event);
}

/* If the server sends bookmarks, only an event or a bookmark proves that the watch works. If it
 * never sent one, accepting the request has to be proof enough, unless watches were found
 * to be blind. */
static void reflector_on_open(struct source_user *user)
{
    struct reflector *r = container_of(user, struct reflector, user);
    r->fault.code = 0;
    reflector_restart_silence_timer(r);
    if (r->sm.state != REFLECTOR_WATCHING)
        return;
    r->live_since_ms = clock_now_ms(r->clock);
    if (r->restored != RESTORED_NOT)
        timer_start(r->clock, &r->confirm, CONFIRM_MS);
    if (!r->bookmark_ms && !r->blind.proven)
        freshness_sign(&r->freshness, r->silence_timer.ms);
}

/* While held, the response was not read. */
static void reflector_on_confirm_due(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, confirm);
    if (r->held)
        timer_start(r->clock, timer, CONFIRM_MS);
    else
        reflector_confirm(r);
}

static void reflector_on_progress(struct source_user *user)
{
    silence_timer_progress(&container_of(user, struct reflector, user)->silence_timer);
}

static void reflector_on_prepared(struct source_user *user)
{
    reflector_request_prepared(container_of(user, struct reflector, user));
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
    log_line(r->log, LOG_DEBUG, "%s: process suspended for %" PRIu64 "s", r->sm.owner,
             r->slept_ms / 1000);
    source_cancel(r->source);
    r->next = NEXT_CHECK;
    reflector_request_next(r, "resumed after sleep");
}

/* The peer has dropped the connection during the sleep, but no error will arrive. A held request is
 * reopened when it is released. */
static void reflector_on_slept(struct sleep_watch *sleep, uint64_t ms)
{
    struct reflector *r = container_of(sleep, struct reflector, sleep);
    if (ms < SLEPT_MS)
        return;
    freshness_slept(&r->freshness, ms);
    if (r->sm.state != REFLECTOR_WATCHING && r->sm.state != REFLECTOR_CHECKING)
        return;
    r->slept_ms = ms;
    if (!r->held)
        reopen_after_sleep(r);
}

/* ---- waiting and holding ---- */

static void reflector_on_retry(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, retry);
    if (!r->held) /* else release_request() continues later */
        reflector_request_next(r, "retry");
}

static void release_request(struct reflector *r)
{
    source_resume(r->source);
    if (r->slept_ms) {
        reopen_after_sleep(r);
        return;
    }
    switch ((enum reflector_state)r->sm.state) {
    case REFLECTOR_FILLING:
    case REFLECTOR_LISTING:
    case REFLECTOR_WATCHING:
    case REFLECTOR_CHECKING: reflector_restart_silence_timer(r); break;
    case REFLECTOR_QUEUED: reflector_request_next(r, "released"); break;
    case REFLECTOR_WAITING:
        if (!r->retry.running)
            reflector_request_next(r, "released");
        break;
    case REFLECTOR_IDLE:
    case REFLECTOR_CLOSED: break;
    }
}

void reflector_hold(struct reflector *r, bool held)
{
    uint64_t now = clock_elapsed_ms(r->clock);
    if (r->held == held)
        return;
    r->held = held;
    if (!held)
        r->sync_until_ms += now - r->held_since_ms; /* the time while held does not count */
    r->held_since_ms = now;
    freshness_hold(&r->freshness, held);
    if (!held) {
        release_request(r);
        return;
    }
    silence_timer_stop(&r->silence_timer);
    list_slot_release(&r->list_slot); /* other reflectors must not wait for our consumers */
    source_pause(r->source);
}

/* ---- life ---- */

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

enum {
    STALE_AFTER_MS = 150 * 1000, /* default */
};

static struct reflector_settings settings_with_defaults(const struct reflector_settings *s)
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

void reflector_init(struct reflector *r, const char *name, struct source *source,
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
        .settings = settings_with_defaults(settings),
        .retry.fire = reflector_on_retry,
        .confirm.fire = reflector_on_confirm_due,
        .version = xstrdup(""),
        .next = NEXT_LIST,
        .sync_reason = xstrdup("start"),
        .no_watch_list = settings->no_watch_list,
    };
    silence_timer_init(&r->silence_timer, clock, reflector_on_silence);
    pager_init(&r->pager, r->settings.page_size);
    backoff_init(&r->backoff, r->settings.backoff_first_ms, r->settings.backoff_max_ms,
                 r->settings.no_jitter);
    backoff_init(&r->absent_backoff, ABSENT_CHECK_MS, ABSENT_CHECK_MS, r->settings.no_jitter);
    freshness_init(&r->freshness, clock, r->settings.stale_after_ms, reflector_on_freshness);
    list_slot_init(&r->list_slot, r->settings.list_limiter, clock, reflector_on_list_slot);
    sm_init(&r->sm, reflector_states, REFLECTOR_IDLE, name, log);
    sleep_watch_start(clock, &r->sleep, reflector_on_slept);
}

void reflector_set_stale_after(struct reflector *r, uint32_t ms)
{
    r->settings.stale_after_ms = or_default(ms, STALE_AFTER_MS);
    r->freshness.stale_after_ms = r->settings.stale_after_ms;
}

/* ---- start and close ---- */

void reflector_start(struct reflector *r)
{
    reflector_request_all(r, "start");
}

bool reflector_has_started(const struct reflector *r)
{
    return r->sm.state != REFLECTOR_IDLE;
}

void reflector_close(struct reflector *r)
{
    if (r->sm.state != REFLECTOR_CLOSED)
        sm_move(&r->sm, REFLECTOR_CLOSED, "stop");
    source_cancel(r->source);
    list_slot_release(&r->list_slot);
    freshness_close(&r->freshness);
    sleep_watch_stop(&r->sleep);
    timer_stop(r->clock, &r->retry);
    timer_stop(r->clock, &r->confirm);
    silence_timer_stop(&r->silence_timer);
    reflector_drop_staged(r);
    free(r->version);
    free(r->sync_reason);
    pager_free(&r->pager);
    seen_versions_free(&r->skipped);
}
