/*
 * handler.h - acts on changes: runs a program or sends a request for each selected change.
 *
 *     watches ──> journal ──┬──> event logs
 *                 seq       │
 *                 diff      └──> handlers.c: each handler ──> handler_queue ──> ready objects ──> kind
 *                 level          filter, format               on disk                             exec, ...
 *
 * A handler is an output of the journal (struct journal_output), beside the event logs: a change is
 * compared, rated and numbered once for all of them, and a record has the same `log` and `seq`
 * everywhere. Selection is the filter of event logs (journal/filter.h), the text is a line of
 * format/jsonl_format.c.
 *
 * Durability: a record is in the same batch of the state on disk as the object that it reports
 * (handler_queue.h), and is delivered only after that. It leaves the queue when its run has ended. So
 * each record is delivered at least once, also across kill -9; `log` and `seq` identify a repetition.
 * Without state on disk the queue is in memory, and a crash loses it.
 *
 * Delivery: at most one run for each object at a time, at most `concurrency` for the handler, as in a
 * work queue of the library. A run delivers one record, or several if `batch` is configured
 * (handler_batch.c). With `each`, every record of an object is delivered, in order; with `latest`, only
 * the newest one that waits. A run that fails is repeated with growing delays while the other objects
 * continue; after retry.max repetitions the record is parked: it stays in the queue, and is delivered
 * again after the next reload, or as handler_control.h says.
 *
 * Isolation: nothing here delays the journal, except `overflow: wait`. A queue that is full drops its
 * oldest records (`gap`), or first those that have a newer one of the same object (`coalesce`); both
 * are counted and logged. Each run has a timeout and bounded output.
 *
 * A kind of handler is one file with a struct handler_kind, and one row: see handler_kind.h.
 */
#ifndef DAEMON_HANDLER_H
#define DAEMON_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/state.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/rng.h"
#include "daemon/format/record_format.h"
#include "daemon/handler/handler_queue.h"
#include "daemon/journal/filter.h"
#include "daemon/journal/journal.h"
#include "seam/child.h"
#include "seam/clock.h"

struct conf_handler;
struct dialer;
struct handler;
struct handler_kind;
struct handler_run;

enum {
    HANDLER_PARKED_BYTES =
        4 * 1024 * 1024,       /* LIMIT: parked records of a handler; older are dropped */
    HANDLER_LOG_LINES = 60,    /* LIMIT: lines in the daemon's log per handler and minute */
    HANDLER_LOG_LINE = 1024,   /* LIMIT: bytes of such a line */
    HANDLER_OUTPUT_LINES = 20, /* LIMIT: lines of the output of one run that are logged */
    HANDLER_BATCH_BYTES = 4 * 1024 * 1024, /* LIMIT: of several records in one run */
    HANDLER_BURST_MS = 100,                /* of a rate: runs of this time may be started at once */
    HANDLER_WAIT_MAX_MS = 5 * 60 * 1000,   /* LIMIT: handler_result.wait_ms */
};

enum handler_deliver {
    HANDLER_EACH,
    HANDLER_LATEST,
};

/* What happens when the queue is full. */
enum handler_overflow {
    HANDLER_GAP,      /* the oldest records are dropped */
    HANDLER_COALESCE, /* records that have a newer one of the same object are dropped; then as above */
    HANDLER_WAIT,     /* the watches are held */
};

/* Copied, except the kind. */
struct handler_settings {
    const char *name;
    const struct handler_kind *kind;
    const struct conf_handler *conf; /* for the kind, which copies what it needs */
    struct filter_settings filter;
    struct record_options record; /* jsonl; without fields and state */
    enum handler_deliver deliver;
    enum handler_overflow overflow;
    size_t queue_bytes; /* LIMIT: bytes of records that wait */
    uint32_t concurrency;
    uint64_t timeout_ms;
    size_t batch_max;         /* records of a run; 0: 1 */
    uint64_t batch_within_ms; /* how long the first one waits for others */
    uint64_t rate;            /* runs a minute; 0: no limit */
    uint32_t retry_max;
    uint32_t backoff_min_ms, backoff_max_ms;
};

enum handler_outcome {
    HANDLER_DONE,
    HANDLER_RETRY,   /* a temporary problem: repeated until it works */
    HANDLER_FAILED,  /* repeated up to retry_max times, then parked */
    HANDLER_REFUSED, /* parked at once: a repetition would fail again */
    HANDLER_AGAIN,   /* delivered again at once; it was perhaps not even sent */
    HANDLER_SPLIT,   /* delivered again at once, each record in a run of its own */
};

struct handler_result {
    enum handler_outcome outcome;
    const char *why;                      /* describes a failure */
    const enum handler_outcome *outcomes; /* of each record; NULL: that above for all */
    uint64_t wait_ms; /* the handler starts no run before this time; at most HANDLER_WAIT_MAX_MS */
};

/* The first member of the runs of each kind. */
struct handler_run {
    struct list node; /* in its handler */
    struct handler *handler;
    struct handler_record **records; /* owned; those of one object are adjacent and in order */
    size_t n_records;
    uint64_t began_ms;
};

enum {
    HANDLER_DURATION_BOUNDS = 10,
};

/* Upper limits of the groups of durations. */
extern const uint64_t handler_duration_bounds_ms[HANDLER_DURATION_BOUNDS];

struct handler_durations {
    uint64_t counts[HANDLER_DURATION_BOUNDS + 1]; /* the last one: above all limits */
    uint64_t sum_ms;
};

/* Numbers that only grow. */
struct handler_counters {
    uint64_t runs; /* that have ended */
    uint64_t failures;
    uint64_t retries;   /* runs that will be repeated */
    uint64_t parked;    /* records */
    uint64_t forgotten; /* parked records that were dropped because there were too many */
    uint64_t coalesced; /* replaced by a newer one of the same object */
    uint64_t skipped;   /* dropped because the queue was full */
    uint64_t gaps;      /* how often that happened */
    uint64_t run_ms;    /* duration of all runs */
    struct handler_durations durations;
};

/* What handlers have in common, filled in by their owner. */
struct handler_host {
    struct clock *clock;
    struct spawner *spawner;
    /* TCP, for one server: name lookups of different ones must not wait for each other. Closed when no stream of the
     * dialer is left. */
    struct dialer *(*open_dialer)(struct handler_host *host);
    void (*close_dialer)(struct dialer *dialer);
    struct journal *journal;
    struct siphash_key hash_key;
    struct rng *rng; /* for the jitter of delays; NULL: none */
    void *owner;
    void (*log)(void *owner, enum inf_log_level level, const char *line);
    /* A run has ended after handler_stop(), possibly the last one. */
    void (*on_run_end)(struct handler_host *host);

    /* With replicas of which one delivers (handler_replica.c): handlers keep positions. */
    bool replicated;
    bool (*leads)(const struct handler_host *host); /* whether runs may be started now */
    void (*on_delivered)(
        struct handler_host *host); /* the position of a handler has changed, perhaps */
};

struct handler {
    struct journal_output output; /* owns its filter */
    struct list node;             /* for the owner */
    struct handler_host *host;
    char *name;                       /* owned */
    struct handler_settings settings; /* without filter and conf */
    void *part;                       /* of the kind */
    struct handler_queue queue;
    struct handler_tracks tracks; /* if the host is replicated */
    bool stopped;
    bool paused;       /* by an administrator */
    struct task pump;  /* starts runs */
    struct task flush; /* saves what became of those that have ended in this tick */
    struct list ready; /* of struct handler_object, in the order in which they became ready */
    struct list runs;
    size_t n_runs;
    struct timer gather; /* while fewer records than a batch has are ready */
    bool gathered;       /* it fired: a smaller batch is delivered, too */
    struct timer wait;   /* no run is started before it fires */
    uint64_t next_us;    /* with a rate: when the next run is due, in microseconds of the clock */
    struct handler_counters counters;
    char last_error[160]; /* "": the last run succeeded */
    uint64_t minute_ms;   /* when the current minute of log lines began */
    unsigned minute_lines;
    uint64_t unlogged; /* lines above the limit */
};

struct handler_status {
    const char *name;
    const char *noun;   /* "handler" or "sink", as the list of the conf that it is in */
    const char *state;  /* "idle", "running", "failing", "standby", "paused" or "full" */
    const char *reason; /* of the last failure; NULL: the last run succeeded */
    uint64_t length;    /* records that are not delivered, without parked ones */
    uint64_t bytes;     /* of these */
    uint64_t oldest_ms; /* age of the oldest; 0: none */
    uint64_t running;
    uint64_t parked;
    bool paused;
    bool held; /* it holds its watches */
    struct handler_counters counters;
};

/* What an earlier run has left in the state on disk; NULL: there is none. */
struct handler_saved {
    struct inf_state_queue *queue;
    struct inf_state_queue *tracks; /* only if the host is replicated */
};

/* Takes ownership of @filter, which is made of the settings. Continues with what @saved has. */
struct handler *handler_new(struct handler_host *host, const struct handler_settings *settings,
                            struct filter *filter, const struct handler_saved *saved);

/* Applies settings with the same name. Parked records are delivered again. */
void handler_configure(struct handler *handler, const struct handler_settings *settings,
                       struct filter *filter);

/* A paused handler starts no runs until it is resumed. */
void handler_pause(struct handler *handler, bool paused);

/* Starts no more runs; the host's on_run_end() reports the end of the current ones. */
void handler_stop(struct handler *handler);

/* Ends the current runs at once: their records stay in the queue. */
void handler_cancel_runs(struct handler *handler);

/* It must be stopped and have no runs. */
void handler_free(struct handler *handler);

void handler_status(const struct handler *handler, struct handler_status *ret);

/* ---- for its parts: handler_batch.c, handler_delivery.c ---- */

/* Whether a run can be started now. If it has to wait for further records, starts the timer. */
bool handler_batch_is_ready(struct handler *handler);

/* Takes the records of the next run off the ready objects. They are running, and so are their objects.
 * *@ret_records is owned by the caller; NULL: none. Returns their number. */
size_t handler_batch_take(struct handler *handler, struct handler_record ***ret_records);

void handler_batch_init(struct handler *handler);
void handler_batch_stop(struct handler *handler);

/* Makes the object of @record ready if it is idle and its first record waits; @ctx is the handler. */
void handler_schedule_record(void *ctx, struct handler_record *record);

/* The tasks `pump` and `flush`. */
void handler_start_runs(struct task *task);
void handler_flush(struct task *task);

/* The queue has changed: with `overflow: wait`, holds or releases the watches. */
void handler_update_hold(struct handler *handler);

/* ---- replicas: handler_replica.c; without them these do nothing ---- */

/* Sets the span of the record of @change. Returns false if another replica has delivered it. */
bool handler_replica_place(struct handler *handler, const struct change *change,
                           struct handler_span *ret);

/* Of struct journal_output_ops. */
void handler_replica_position(struct journal_output *output, const struct watch_id *watch,
                              const char *stream, const char *version);

/* Whether another replica delivers, or none does. */
bool handler_replica_waits(const struct handler *handler);

/* The leader has delivered the track @key up to @version: records up to there are dropped. */
void handler_replica_publish(struct handler *handler, const char *key, uint64_t version);

/* Forgets streams that have ended: that neither a watch nor the leader has had for ten minutes. */
void handler_replica_tidy(struct handler *handler);

/* Calls @each with the positions to publish, after that. */
void handler_replica_each(struct handler *handler,
                          void (*each)(void *ctx, const struct handler *handler, const char *key,
                                       uint64_t version),
                          void *ctx);

/* This process delivers from now on. Reports changes that are unknown here and were perhaps not delivered. */
void handler_replica_lead(struct handler *handler);

/* It does not any more. The runs in progress are ended now; their records wait. */
void handler_replica_interrupt(struct handler *handler);

/* ---- for kinds ---- */

/* Ends and frees @run. @why describes a failure. */
void handler_run_end(struct handler_run *run, enum handler_outcome outcome, const char *why);
void handler_run_result(struct handler_run *run, const struct handler_result *result);

/* "Pod shop/web-0", or "12 records" if there are several. Writes to @buf; returns it. */
const char *handler_run_name(const struct handler_run *run, char *buf, size_t size);

/* Writes a line "handler NAME: ..." to the daemon's log, if HANDLER_LOG_LINES permits. */
__attribute__((format(printf, 3, 4))) void handler_log(struct handler *handler,
                                                       enum inf_log_level level, const char *fmt,
                                                       ...);

#endif
