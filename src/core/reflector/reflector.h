/*
 * reflector.h - keeps a stream of changes coming from a source, whatever happens, and pushes it
 * into the FIFO.
 */
#ifndef CORE_REFLECTOR_H
#define CORE_REFLECTOR_H

#include <stdbool.h>

#include "base/sm.h"
#include "core/dispatch/fifo.h"
#include "core/reflector/backoff.h"
#include "core/reflector/blind_watch.h"
#include "core/reflector/fault.h"
#include "core/reflector/freshness.h"
#include "core/reflector/list_limiter.h"
#include "core/reflector/pager.h"
#include "core/reflector/seen_versions.h"
#include "core/reflector/silence_timer.h"
#include "seam/clock.h"
#include "seam/source.h"

struct inf_store;

/* The numbers of the machine. A zeroed field means the default beside it. */
struct reflector_settings {
    uint32_t watch_timeout_s;  /* 300: the server ends each stream after this to twice this long */
    uint32_t page_size;        /* 500, and 0 pages where the server can answer from its cache */
    uint32_t backoff_first_ms; /* 800 */
    uint32_t backoff_max_ms;   /* 30,000 */
    uint32_t stale_after_ms;   /* 150,000: a stream that once sent a bookmark and is silent for so
                                  long is dead */
    uint32_t fill_silence_ms;  /* 30,000: so long may a first sync be silent before its end */
    bool no_watch_list;        /* list and watch from the start */
    bool no_jitter;            /* for tests */
    bool optional;             /* the resource may not be there: see reflector_commit_absent() */
    const char *const *exclude_ns; /* what is in such namespaces is passed over: see base/glob.h;
                                      borrowed */
    size_t n_exclude_ns;
    struct list_limiter
        *list_limiter; /* lists wait for their turn there; borrowed; NULL: they don't */
};

/* What happened so far, for status and metrics. */
struct reflector_counts {
    uint64_t requests;
    uint64_t skipped;          /* objects that could not be read */
    uint64_t ends[INF_ERRORS]; /* of requests, by error code; lists that are complete don't count */
    uint64_t relists[INF_ERRORS]; /* syncs after the first, by the code that made them necessary */
};

struct reflector {
    struct source_user user;
    struct source *source;
    struct clock *clock;
    struct inf_store *store; /* only to make generations of it */
    struct fifo *fifo;
    struct task *pump; /* to run when the FIFO has something */
    struct log *log;
    struct reflector_settings settings;
    struct reflector_counts counts;

    struct sm sm;
    struct backoff backoff;
    struct backoff calm; /* between looks for a resource that is not there */
    struct pager pager;
    struct timer retry;                 /* running while waiting */
    struct silence_timer silence_timer; /* while a request is open and not held */
    struct sleep_watch sleep;
    struct freshness freshness;
    struct list_slot list_slot; /* to list */
    bool absent;                /* the resource is not there, and that is allowed */
    bool held;                  /* not reading: a consumer or the FIFO is full */
    /* by clock_elapsed_ms() */
    uint64_t held_since_ms;
    uint64_t event_ms; /* when the last event of a watch came; 0: never */
    uint64_t bookmark_ms;
    uint64_t
        bookmark_wait_ms; /* how long a stream may wait for the next one, if over stale_after */
    uint64_t stale_since_ms;
    uint64_t failing_since_ms;
    uint64_t said_ms;       /* when the fault was last told, other than in detail */
    struct inf_error fault; /* the last one; code 0 once things go well again */

    /* what is known */
    char *version;         /* the last one seen; "" if none */
    bool version_unusable; /* the server no longer, or not yet, has it: ask for the newest */
    bool rewind_suspected; /* the server may have gone back behind it: ask, see doubt.h */
    uint64_t placed_ms;    /* when the server last showed, or was asked, which version it is at */
    struct blind_watch blind;
    bool must_sync;     /* a watch can't go on from it: list anew */
    char *sync_reason;  /* why; told with the differences */
    bool redefined;     /* the next list is compared with objects of another watch or server */
    int sync_code;      /* the same as an error code */
    bool no_watch_list; /* this server does not do it for this resource: found out once, remembered
                         */

    /* the request under way */
    struct generation *staged; /* the list that is coming in */
    uint32_t timeout_s;        /* what it was opened with */
    uint64_t sync_until_ms;    /* a watch-list, or all pages of a list, may take no longer; by
                                  clock_now_ms() */
    uint64_t live_since_ms;    /* when it was there as a watch; 0: not yet */
    bool bookmark_seen;
    uint64_t stream_bookmark_ms; /* when the last one came; by clock_now_ms() */
    bool news;                   /* something came that is not of the list */
    bool shown;                  /* the server has shown that it is where we are */
    uint64_t slept_ms;           /* the host did, while it was held: to be reopened */

    struct seen_versions skipped; /* objects that can't be read, which were reported */

    /* guards against asking too often */
    struct fault_guard guard;
    unsigned unended_fills; /* watch-lists in a row that ended without their bookmark */
    unsigned unanswered;    /* questions in doubt that failed */
};

/* Borrows all it is given until reflector_close(). @who names it in log lines. */
void reflector_init(struct reflector *r, const char *who, struct source *source,
                    struct clock *clock, struct inf_store *store, struct fifo *fifo,
                    struct task *pump, struct log *log, const struct reflector_settings *settings);

void reflector_start(struct reflector *r);

/* Stop and go on reading. While held a stream may be silent and none is opened anew. Saying it
 * twice is harmless. */
void reflector_hold(struct reflector *r, bool held);

/*
 * Something else is watched from now on: @source (borrowed) instead of the one before, which is not used any more, with
 * @settings' `exclude_ns`; @who names it. All is listed again, and the differences are reported with @why.
 */
void reflector_change(struct reflector *r, const char *who, struct source *source,
                      const struct reflector_settings *settings, const char *why);

/* Instead of reflector_start(), if the store has all objects of @version: is held, and watches from there when it is released. */
void reflector_resume(struct reflector *r, const char *version);

/* Instead of reflector_start(), if the store has objects already, at @version: reports the differences with @why. */
void reflector_continue(struct reflector *r, const char *version, const char *why);

/* The same source is another server now: all is listed again, at whatever version that one has. */
void reflector_moved(struct reflector *r, const char *why);

/* Watches nothing any more: reports, with @why, that there are no objects. reflector_close() has still to follow. */
void reflector_end(struct reflector *r, const char *why);

/* Another stale_after_ms from now on; 0: the default. It counts from the next sign of life. */
void reflector_set_stale_after(struct reflector *r, uint32_t ms);

/* Gives up whatever is under way and frees what it owns. From any state; nothing is pushed
 * afterwards. */
void reflector_close(struct reflector *r);

#endif
