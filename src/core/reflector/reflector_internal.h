/*
 * reflector_internal.h - what the files of the reflector share. Only src/core/reflector includes
 * it.
 *
 *   reflector.c           states, events of a response, hold and release, start and close
 *   reflector_request.c   opens the next request and limits how long it may be silent
 *   reflector_deliver.c   pushes lists, changes and freshness into the FIFO
 *   reflector_end.c       what the end of a request means, and what follows it
 *   rewind_check.c        whether the server still has our resourceVersion
 *   blind_watch.c         watches that deliver nothing although objects change (blind_watch.h)
 */
#ifndef CORE_REFLECTOR_INTERNAL_H
#define CORE_REFLECTOR_INTERNAL_H

#include "core/reflector/reflector.h"

enum reflector_state {
    IDLE,
    QUEUED,   /* waits for a list slot */
    FILLING,  /* receives the initial objects of a watch-list */
    LISTING,  /* receives the pages of a list */
    WATCHING, /* receives changes */
    ASKING,   /* requests the server's current version: see "rewind check" below */
    WAITING,  /* no request is open: back-off, or held */
    CLOSED,
};

enum {
    LIST_MAX_MS = 30 * 60 * 1000, /* LIMIT: all pages of one list together */
};

/* ---- requests: reflector_request.c ---- */

/* Opens the request that is needed next: a full sync if must_sync is set, a version query if a
 * rewind is suspected, else a watch from the last version. @why is the reason in the trace. */
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

/* An object that can't be decoded. Reported once per version. While a list is staged it counts as
 * part of the list: the store keeps the state it has of the object. */
void reflector_push_skipped(struct reflector *r, const struct source_event *event);

/* The cache became stale or fresh. */
void reflector_on_freshness(struct freshness *f);

/* ---- ends: reflector_end.c ----
 *
 * Every request ends: normally, with an error, or because we cancelled it. What follows depends on
 * the state:
 *
 *   filling   incomplete without its bookmark: retry, or LIST if the server can't stream it
 *   listing   next page, or watch from the first page's version, or start over
 *   watching  watch again from the last version
 *   asking    watch if the server still has our version, else full sync
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

/* A watch can't continue from the last version: a full sync is next. @code is counted, @why is
 * reported with the differences. If a sync is already needed, its first reason stays. */
void reflector_need_list(struct reflector *r, int code, const char *why);

/* The back-off wait is over. */
void reflector_on_retry(struct timer *timer);

/* ---- rewind check: rewind_check.c ----
 *
 * A restored etcd returns to older versions. The API server accepts a watch from a version that it
 * has not reached yet, and sends neither changes nor bookmarks until it reaches it: all changes
 * until then are lost. So a rewind is suspected after a watch that broke off, that ended without
 * delivering anything, or that was open while the host slept. Before the next watch one object is
 * listed, because the response carries the server's current version.
 *
 * The same response can show the opposite: a newer version of which the watches deliver nothing
 * (blind_watch.h).
 *
 * Cost: one small request for each broken or silent watch and for each sleep; for watches that end
 * at once at most one every ten seconds; none for watches that end normally after delivering
 * something. If listing is forbidden or fails repeatedly, the watch continues unchecked. */

/* A watch ended with @why. */
void rewind_check_watch_ended(struct reflector *r, const struct inf_error *why);

/* The host slept while a watch was open. */
void rewind_check_slept(struct reflector *r);

/* Returns true and sets @ret_why if @event shows that the server's version is older than ours. */
bool rewind_check_confirmed(const struct reflector *r, const struct source_event *event,
                            struct inf_error *ret_why);

/* @event belongs to the response of the version query and does not show an older version. */
void rewind_check_answered(struct reflector *r, const struct source_event *event);

/* The version query ended with @why. Returns true if a watch may continue from our version, false
 * if the query must be repeated. */
bool rewind_check_settled(struct reflector *r, const struct inf_error *why);

#endif
