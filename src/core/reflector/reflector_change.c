/*
 * reflector_change.c - changes what a reflector watches: another source or selection, a cached or
 * restored state to continue from, another cluster, or nothing more.
 *
 * Normal path: the open request is cancelled, what was learned about the source is forgotten, and a
 * new list is requested; its difference to the store is what the consumers get. While the reflector
 * is held, the list starts on release. Nothing here can fail.
 */
#include "base/alloc.h"
#include "core/reflector/reflector_internal.h"
#include "core/store/store.h"

/* Cancels the open request and resets everything that was learned about the source. The caller sets
 * what is needed next. */
static void forget_request(struct reflector *r)
{
    source_cancel(r->source);
    silence_timer_stop(&r->silence_timer);
    timer_stop(r->clock, &r->retry);
    timer_stop(r->clock, &r->confirm);
    list_slot_release(&r->list_slot);
    reflector_drop_staged(r);
    backoff_reset(&r->backoff);
    backoff_reset(&r->absent_backoff);
    r->guard = (struct fault_guard){0};
    r->blind = (struct blind_check){0};
    seen_versions_free(&r->skipped);
    r->no_watch_list = r->settings.no_watch_list;
    r->incomplete_fills = r->failed_checks = 0;
    r->slept_ms = 0;
}

static void note_redefined(struct reflector *r, const char *why)
{
    r->next = NEXT_LIST;
    r->redefined = true;
    r->sync_code = INF_ECONF;
    str_replace(&r->sync_reason, why);
}

/* If held, the list starts on release: see reflector_hold(). */
static void list_again(struct reflector *r, const char *why)
{
    if (!r->held)
        reflector_request_all(r, why);
    else if (r->sm.state != REFLECTOR_WAITING && r->sm.state != REFLECTOR_QUEUED)
        sm_move(&r->sm, REFLECTOR_WAITING, "%s", why);
}

static void list_redefined(struct reflector *r, const char *why)
{
    note_redefined(r, why);
    list_again(r, why);
}

void reflector_change(struct reflector *r, const char *name, struct source *source,
                      const struct reflector_settings *settings, const char *why)
{
    forget_request(r);
    r->sm.owner = name;
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
    r->next = version[0] ? NEXT_CHECK : NEXT_LIST; /* the release may come much later */
    sm_move(&r->sm, REFLECTOR_WAITING, "cached state at resourceVersion %s", version);
    freshness_begin(&r->freshness);
    reflector_hold(r, true);
}

/* The list after an incomplete copy must not come from a cache that lags: it may be older than what
 * the copy has. */
void reflector_restore(struct reflector *r, const char *version, const char *why)
{
    bool known = version[0] != '\0';
    str_replace(&r->version, version);
    if (why)
        note_redefined(r, why);
    if (!known)
        r->next = NEXT_LIST_NEWEST;
    else if (!why)
        r->next = NEXT_CHECK;
    r->restored = known || why ? RESTORED_COMPLETE : RESTORED_PARTIAL;
    sm_move(&r->sm, REFLECTOR_WAITING, "restore %s%s", known ? "resourceVersion " : "",
            known ? version : "objects of unknown versions");
    if (known)
        freshness_begin(&r->freshness);
    reflector_hold(r, true);
}

void reflector_list_restored(struct reflector *r, const char *why)
{
    log_line(r->log, LOG_WARN, "%s: %s; relisting", r->sm.owner, why);
    if (r->next < NEXT_LIST)
        str_replace(&r->sync_reason, why);
    r->next = NEXT_LIST_NEWEST;
    r->sync_code = INF_EDECODE;
}

void reflector_list_damaged(struct reflector *r, const char *why)
{
    if (r->sm.state == REFLECTOR_CLOSED)
        return;
    forget_request(r);
    reflector_list_restored(r, why);
    list_again(r, why);
}

void reflector_moved(struct reflector *r, const char *why)
{
    if (r->sm.state == REFLECTOR_CLOSED) /* it has ended: see reflector_end() */
        return;
    forget_request(r);
    str_replace(&r->version, "");
    list_redefined(r, why);
}

void reflector_end(struct reflector *r, const char *why)
{
    forget_request(r);
    note_redefined(r, why);
    sm_move(&r->sm, REFLECTOR_CLOSED, "%s", why);
    sleep_watch_stop(&r->sleep);
    r->staged = generation_new(r->store);
    reflector_commit(r, r->version, clock_wall_us(r->clock));
    freshness_close(&r->freshness); /* reflector_commit() started it */
}
