/*
 * reflector.h - lists and watches one source and pushes every list and change into the FIFO.
 *
 * It retries until it is closed. reflector.c describes the states and how each failure is handled.
 */
#ifndef CORE_REFLECTOR_H
#define CORE_REFLECTOR_H

#include <stdbool.h>

#include "base/backoff.h"
#include "base/sm.h"
#include "core/dispatch/fifo.h"
#include "core/reflector/fault.h"
#include "core/reflector/freshness.h"
#include "core/reflector/list_limiter.h"
#include "core/reflector/pager.h"
#include "core/reflector/seen_versions.h"
#include "core/reflector/silence_timer.h"
#include "seam/clock.h"
#include "seam/source.h"

struct inf_store;

/* Zero means the default given beside the field. */
struct reflector_settings {
    uint32_t watch_timeout_s;  /* 300: watches are requested with this to twice this timeout */
    uint32_t page_size;        /* 500; no paging where the server can answer from its cache */
    uint32_t backoff_first_ms; /* 800 */
    uint32_t backoff_max_ms;   /* 30,000 */
    uint32_t stale_after_ms;   /* 150,000: the cache is stale after this long without an event; so
                                  is a watch that has sent a bookmark before */
    uint32_t fill_silence_ms;  /* 30,000: longest silence while a list is being received */
    bool no_watch_list;        /* never use watch-list: LIST, then watch */
    bool no_jitter;            /* for tests */
    bool optional;             /* the resource may be missing: see reflector_commit_absent() */
    const char *const *exclude_ns; /* patterns of namespaces to ignore: see base/text/glob.h;
                                      borrowed */
    size_t n_exclude_ns;
    struct list_limiter *list_limiter; /* limits concurrent lists; borrowed; NULL: no limit */
};

/* Counters for status and metrics. */
struct reflector_counts {
    uint64_t requests;
    uint64_t skipped;             /* objects that could not be decoded */
    uint64_t ends[INF_ERRORS];    /* of requests, by error code, without completed lists */
    uint64_t relists[INF_ERRORS]; /* syncs after the first, by the error code that caused them */
};

/* The request that is needed next. */
enum reflector_next {
    NEXT_WATCH,       /* from the last version */
    NEXT_CHECK,       /* the server's version first: it may be older than ours */
    NEXT_LIST,        /* all objects: a watch can't continue from the last version */
    NEXT_LIST_NEWEST, /* the same, and the server no longer has that version, or not yet */
};

/* What the open request has delivered. */
enum reflector_delivered {
    DELIVERED_NOTHING,
    DELIVERED_LIST,    /* the initial objects of a watch-list */
    DELIVERED_CHANGES, /* an event or a bookmark after that */
};

/* Whether the store has what an earlier process has seen, and the server has not confirmed it. */
enum restored_state {
    RESTORED_NOT,
    RESTORED_PARTIAL,  /* some objects: the process ended before its first list was complete */
    RESTORED_COMPLETE, /* all objects of `version`; "": of several versions */
};

enum blind_state {
    BLIND_NOT_SUSPECTED,
    BLIND_SUSPECTED, /* the server has a newer version, and no watch delivered anything since */
    BLIND_LISTING,   /* the next list is due to that suspicion */
};

/* Detects watches that deliver nothing although objects change: see reflector_check.c.
 * Zero-initialised. */
struct blind_check {
    enum blind_state state;
    bool proven;              /* watches hide changes or end at once: opening one is no sign of
                                 life */
    uint64_t listed_ms;       /* last list for this reason; 0: never; by clock_elapsed_ms() */
    uint32_t unchanged_lists; /* how many of these in a row found no difference */
};

struct reflector {
    struct source_user user;
    struct source *source;
    struct clock *clock;
    struct inf_store *store; /* used only to create generations */
    struct fifo *fifo;
    struct task *pump; /* scheduled after each push */
    struct log *log;
    struct reflector_settings settings;
    struct reflector_counts counts;

    struct sm sm;
    struct backoff backoff;
    struct backoff absent_backoff; /* between checks for a missing resource */
    struct pager pager;
    struct timer retry;                 /* runs in state `waiting`, unless held */
    struct silence_timer silence_timer; /* runs while a request is open and not held */
    struct sleep_watch sleep;
    struct freshness freshness;
    struct list_slot list_slot;
    bool absent; /* the resource is missing, and `optional` allows that */
    bool held;   /* not reading: a consumer or the FIFO is full */
    /* by clock_elapsed_ms() */
    uint64_t held_since_ms;
    uint64_t event_ms; /* last event of a watch; 0: never */
    uint64_t bookmark_ms;
    uint64_t bookmark_wait_ms; /* longest wait for the next bookmark, if over stale_after */
    uint64_t stale_since_ms;
    uint64_t failing_since_ms;
    uint64_t fault_logged_ms; /* when the fault was last logged above debug level */
    struct inf_error fault;   /* the last one; code 0 after a success */

    /* state of the copy */
    char *version; /* the last one seen; "" if none */
    enum reflector_next next;
    int sync_code;               /* why the last or next list is needed: an error code, ... */
    char *sync_reason;           /* ... and a text; reported with the differences */
    bool redefined;              /* the store has objects of another watch or server */
    bool no_watch_list;          /* the server does not support it for this resource */
    uint64_t version_checked_ms; /* when the server's version was last received or requested; by
                                    clock_now_ms() */
    struct blind_check blind;
    enum restored_state restored;
    struct timer confirm; /* runs from the opening of a watch until the server has accepted it */

    /* the open request */
    struct generation *staged;   /* the list being received */
    uint32_t timeout_s;          /* its timeoutSeconds */
    uint64_t sync_until_ms;      /* deadline of a watch-list or of all pages of a list; by
                                  clock_now_ms() */
    uint64_t live_since_ms;      /* since when it is a watch; 0: it is not */
    uint64_t stream_bookmark_ms; /* its last bookmark; 0: none; by clock_now_ms() */
    enum reflector_delivered delivered;
    uint64_t slept_ms; /* the host slept while the request was held: reopen on release */

    struct seen_versions skipped; /* undecodable objects that were reported */

    /* limits on retries */
    struct fault_guard guard;
    unsigned incomplete_fills; /* consecutive watch-lists that ended without their bookmark */
    unsigned failed_checks;    /* consecutive version checks that failed */
};

/* Borrows all arguments until reflector_close(). @name is its name in log lines. */
void reflector_init(struct reflector *r, const char *name, struct source *source,
                    struct clock *clock, struct inf_store *store, struct fifo *fifo,
                    struct task *pump, struct log *log, const struct reflector_settings *settings);

void reflector_start(struct reflector *r);

/* Whether it was started, in one of the ways below. */
bool reflector_has_started(const struct reflector *r);

/* Pauses and resumes reading. While held, silence is not a fault and no request is opened.
 * Idempotent. */
void reflector_hold(struct reflector *r, bool held);

/*
 * Watches something else from now on: @source (borrowed) replaces the previous source, which is no
 * longer used; @settings replaces `exclude_ns`; @name is the new name. Lists again and reports the
 * differences with @why.
 */
void reflector_change(struct reflector *r, const char *name, struct source *source,
                      const struct reflector_settings *settings, const char *why);

/* Replaces reflector_start() if the store has all objects of @version: starts held, and watches
 * from there when it is released. */
void reflector_resume(struct reflector *r, const char *version);

/*
 * Replaces reflector_start() if the store gets the objects that an earlier process had at @version
 * ("": it had not received all of them). Starts held. When it is released, it compares the server's
 * version with @version and watches from there; a CONFIRMED delta follows when the server has
 * accepted that. If the server no longer has @version, it lists, and the differences are `resumed`.
 * Without a version it lists at once. With @why, the objects are those of another watch, or of several
 * versions if there is no @version: it lists at once, and @why is the reason; NULL otherwise.
 */
void reflector_restore(struct reflector *r, const char *version, const char *why);

/* After reflector_restore(), while held: the store did not get all objects. Lists on release, and
 * reports the differences with @why. */
void reflector_list_restored(struct reflector *r, const char *why);

/* The store can't read an object. Cancels the open request and lists, and reports the differences with
 * @why. */
void reflector_list_damaged(struct reflector *r, const char *why);

/* Replaces reflector_start() if the store has objects of @version: lists, and reports the
 * differences with @why. */
void reflector_continue(struct reflector *r, const char *version, const char *why);

/* The source now leads to another server: lists again, whatever version that server has. */
void reflector_moved(struct reflector *r, const char *why);

/* Stops watching and reports all objects as gone, with @why. reflector_close() must still be
 * called. */
void reflector_end(struct reflector *r, const char *why);

/* Changes stale_after_ms; 0: the default. Takes effect at the next sign of life. */
void reflector_set_stale_after(struct reflector *r, uint32_t ms);

/* Cancels the open request and frees what the reflector owns. Allowed in any state; nothing is
 * pushed afterwards. */
void reflector_close(struct reflector *r);

#endif
