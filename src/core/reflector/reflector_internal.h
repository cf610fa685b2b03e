/*
 * reflector_internal.h - what the files of the reflector share. Only src/core/reflector includes
 * it.
 *
 *   reflector_change.c   public functions that change what is watched
 *   reflector.c          the other public functions, callbacks of the source, hold and release
 *   reflector_end.c      what the end of a request means, and what follows it
 *   reflector_request.c  opens requests and limits how long they may be silent
 *   reflector_deliver.c  pushes lists, changes and freshness into the FIFO
 *   reflector_check.c    whether the server still has our version, and whether watches are blind
 *   fault.c freshness.c list_limiter.c pager.c seen_versions.c silence_timer.c
 *                        know nothing of the reflector
 *
 * A file calls only files further down this list. What a lower file finds out it returns as a value
 * (reflector_check_watch_ended()) or leaves in `next`, and the caller acts on it. Three callbacks are
 * entry points of lower files: reflector_on_silence() and reflector_on_list_slot() come later from
 * the loop; reflector_on_freshness() may come from within freshness_sign() and only pushes a delta.
 * A source never calls back from source_open().
 */
#ifndef CORE_REFLECTOR_INTERNAL_H
#define CORE_REFLECTOR_INTERNAL_H

#include "core/reflector/reflector.h"

enum reflector_state {
    REFLECTOR_IDLE,
    REFLECTOR_QUEUED,   /* waits for a list slot */
    REFLECTOR_FILLING,  /* receives the initial objects of a watch-list */
    REFLECTOR_LISTING,  /* receives the pages of a list */
    REFLECTOR_WATCHING, /* receives changes */
    REFLECTOR_CHECKING, /* requests the server's current version: see reflector_check.c */
    REFLECTOR_WAITING,  /* no request is open: back-off, or held */
    REFLECTOR_CLOSED,
};

enum {
    LIST_MAX_MS = 30 * 60 * 1000, /* LIMIT: all pages of one list together */
};

/* ---- ends: reflector_end.c ----
 *
 * Every request ends: normally, with an error, or because we cancelled it. What follows depends on
 * the state:
 *
 *   filling   incomplete without its bookmark: retry, or LIST if the server can't stream it
 *   listing   next page, or watch from the first page's version, or start over
 *   watching  watch again from the last version
 *   checking  watch if the server still has our version, else full sync
 *
 * For each error fault.c has a rule: resume from the last version or list again, and whether to
 * wait. A request that lived long enough resets the back-off. A fault that persists is logged only
 * from time to time. A missing resource that is optional is not a fault: it is checked
 * periodically. */

/* The open request ended with @why; INF_EEOF is the normal end. Opens the next request, or waits.
 * */
void reflector_request_ended(struct reflector *r, const struct inf_error *why);

/* Cancels the open request because of @why, then does the same. */
void reflector_abort_request(struct reflector *r, const struct inf_error *why);

/* The open request was silent for too long. */
void reflector_on_silence(struct silence_timer *timer);

/* ---- requests: reflector_request.c ---- */

/* Opens the request that is needed next, see enum reflector_next. @why is the reason in the trace.
 * */
void reflector_request_next(struct reflector *r, const char *why);

/* Requests all objects, by watch-list where the server supports it. Waits for a list slot first. */
void reflector_request_all(struct reflector *r, const char *why);

/* Starts a paged list at once. The caller holds a list slot. */
void reflector_request_list_now(struct reflector *r, const char *why);

/* Continues with the list that the pager is set up for; _page() requests its next page. */
void reflector_request_list(struct reflector *r, const char *why);
void reflector_request_page(struct reflector *r);

/* Opens a watch from the last version. */
void reflector_request_watch(struct reflector *r);

/* Restarts the silence timer of the open request. */
void reflector_restart_silence_timer(struct reflector *r);

/* The source sends the request only now, after preparing it: all time limits start here. */
void reflector_request_prepared(struct reflector *r);

/* Whether a watch-list was open for longer than the timeout that it was requested with, or a list
 * took longer than LIST_MAX_MS. */
bool reflector_sync_timed_out(const struct reflector *r);

/* The list limiter granted a slot. */
void reflector_on_list_slot(struct list_slot *slot);

/* ---- delivery: reflector_deliver.c ----
 *
 * All of these advance the last version where the data does, push into the FIFO and schedule the
 * pump. */

/* The staged list is complete at @version: pushes it as one delta. */
void reflector_commit(struct reflector *r, const char *version, int64_t received_us);

/* Discards an incomplete staged list. */
void reflector_drop_staged(struct reflector *r);

/* The resource does not exist, which `optional` allows: it has no objects. Delivered once, as an
 * empty list. A full sync is needed next. */
void reflector_commit_absent(struct reflector *r, const struct inf_error *why);

/* A change or a bookmark of a watch. */
void reflector_push_change(struct reflector *r, enum delta_type type,
                           const struct source_event *event);

/* The server continues from the version of the restored copy. Harmless if there is none. */
void reflector_confirm(struct reflector *r);

/* An object that can't be decoded. Reported once per version. While a list is staged it counts as
 * part of the list: the store keeps the state it has of the object. */
void reflector_push_skipped(struct reflector *r, const struct source_event *event);

/* The cache became stale or fresh. */
void reflector_on_freshness(struct freshness *f);

/* ---- version check: reflector_check.c ---- */

/* A watch ended with @why. Sets NEXT_CHECK if the server may be at an older version. Returns true if
 * a list is due because the watch may have hidden changes. */
bool reflector_check_watch_ended(struct reflector *r, const struct inf_error *why);

/* Returns true and sets @ret_why if @event shows that the server's version is older than ours. */
bool reflector_check_is_rewound(const struct reflector *r, const struct source_event *event,
                                struct inf_error *ret_why);

/* The check returned @version, which is not older than ours. Returns true if it is the same:
 * nothing has changed. */
bool reflector_check_is_current(struct reflector *r, const char *version);

/* The request of the check ended with @why. Returns true if a watch may continue from our version. */
bool reflector_check_ended(struct reflector *r, const struct inf_error *why);

/* A watch delivered an event or a bookmark. */
void reflector_check_watch_works(struct reflector *r);

/* A list is complete; @differs: it is not equal to the store. */
void reflector_check_listed(struct reflector *r, bool differs);

#endif
