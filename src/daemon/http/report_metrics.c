/*
 * report_metrics.c - the metrics of the daemon: one row of `families` for each family.
 *
 * A page is written in two steps. First the values of the daemon, of each watch and of each event
 * log are collected, all at the same time. Then, in slices, each row reads its field of them and
 * writes one sample for the daemon, for each watch or for each event log: a page of 200 watches has
 * 5,000 samples and takes 2.8 ms. A new metric is a row, and a field if no status has the value yet;
 * the metrics of the process are in metrics_process.c.
 *
 * Labels name watches and event logs, never objects: the number of series does not depend on the
 * contents of a cluster.
 */
#include "daemon/http/report_metrics.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/http/metrics.h"
#include "daemon/journal/journal_consumer.h"
#include "daemon/watch/watcher.h"

/* ---- values ---- */

struct daemon_values {
    struct journal_stats journal;
    struct inf_budget_status memory;
    bool state_active;
    struct inf_state_info state; /* zero without state on disk */
    uint64_t state_written_us;
    struct replica_status replica;
    bool reload_succeeded;
    uint64_t reloaded_us;
    uint64_t worst_tick_us, worst_tick_cpu_us;
};

struct watch_values {
    const char *cluster, *name; /* in the arena of the page */
    struct watcher_status status;
    bool up;
    struct journal_watch journal; /* only its counters */
};

struct log_values {
    const char *name; /* in the arena of the page */
    struct event_log_status status;
    bool writable;
    uint64_t oldest_ms;
};

struct handler_values {
    const char *name; /* in the arena of the page */
    struct handler_status status;
};

struct metrics_page {
    struct arena names; /* the conf may be reloaded before the page is complete */
    struct daemon_values daemon;
    double started; /* in seconds since 1970 */
    struct watch_values *watches;
    size_t n_watches;
    struct log_values *logs;
    size_t n_logs;
    struct handler_values *handlers;
    size_t n_handlers;
    size_t family, item; /* what to write next: a row of `families`, and the item of its scope */
};

/* ---- families ---- */

enum scope {
    DAEMON,  /* a field of struct daemon_values: one sample */
    WATCH,   /* of struct watch_values: a sample for each watch */
    LOG,     /* of struct log_values: a sample for each event log */
    HANDLER, /* of struct handler_values: a sample for each handler */
};

enum unit {
    COUNT,
    MS,       /* milliseconds, written as seconds; INF_NEVER has no sample */
    US,       /* microseconds, written as seconds */
    BY_VERB,  /* an array, with a sample for each verb */
    BY_ERROR, /* an array, with a sample for each error code that has occurred */
    DURATION, /* a struct handler_durations: a histogram */
};

struct family {
    const char *name;
    enum metrics_type type;
    const char *help;
    enum scope scope;
    enum unit unit;
    size_t offset, size; /* of the field: an unsigned integer or bool, or an array of uint64_t */
};

#define FIELD(type, member)   offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define OF_DAEMON(member)     DAEMON, COUNT, FIELD(daemon_values, member)
#define OF_WATCH(member)      WATCH, COUNT, FIELD(watch_values, member)
#define AGE_OF_WATCH(member)  WATCH, MS, FIELD(watch_values, member)
#define OF_LOG(member)        LOG, COUNT, FIELD(log_values, member)
#define OF_HANDLER(member)    HANDLER, COUNT, FIELD(handler_values, status.member)
#define MS_OF_HANDLER(member) HANDLER, MS, FIELD(handler_values, status.member)

static const struct family families[] = {
    {"informerd_watch_up", METRICS_GAUGE,
     "1 if the watch is synced, not stale, not held and without errors.", OF_WATCH(up)},
    {"informerd_watch_synced", METRICS_GAUGE, "1 if the initial list has been delivered.",
     OF_WATCH(status.sum.synced)},
    {"informerd_watch_stale", METRICS_GAUGE,
     "1 if no data was received from the server for longer than stale_after.",
     OF_WATCH(status.sum.stale)},
    {"informerd_watch_held", METRICS_GAUGE,
     "1 if reading is paused because an event log or a handler with overflow: wait is full, or "
     "memory.backlog is used up.",
     OF_WATCH(status.sum.held)},
    {"informerd_watch_objects", METRICS_GAUGE, "Objects in the cache.", OF_WATCH(status.objects)},
    {"informerd_watch_cache_bytes", METRICS_GAUGE, "Memory used by the objects in the cache.",
     OF_WATCH(status.bytes)},
    {"informerd_watch_queue_length", METRICS_GAUGE, "Changes waiting to be applied to the cache.",
     OF_WATCH(status.sum.queued)},
    {"informerd_watch_backlog_events", METRICS_GAUGE,
     "Applied changes waiting to be delivered to event logs.", OF_WATCH(status.backlog)},
    {"informerd_watch_coalesced_total", METRICS_COUNTER,
     "Changes replaced by a newer one before delivery (option coalesce).",
     OF_WATCH(status.sum.coalesced)},
    {"informerd_watch_skipped_objects_total", METRICS_COUNTER,
     "Objects that could not be decoded, counted once per version.", OF_WATCH(status.sum.skipped)},
    {"informerd_watch_other_shard_objects_total", METRICS_COUNTER,
     "Objects of other shards that the server sent; 0 if it selects the shard.",
     OF_WATCH(status.sum.other_shards)},
    {"informerd_watch_requests_total", METRICS_COUNTER, "Requests sent to the server.",
     OF_WATCH(status.sum.requests)},
    {"informerd_watch_last_event_age_seconds", METRICS_GAUGE,
     "Time since the last change was received.", AGE_OF_WATCH(status.sum.event_age_ms)},
    {"informerd_watch_last_bookmark_age_seconds", METRICS_GAUGE,
     "Time since the last bookmark was received.", AGE_OF_WATCH(status.sum.bookmark_age_ms)},
    {"informerd_watch_last_heard_age_seconds", METRICS_GAUGE,
     "Time since the last complete data was received.", AGE_OF_WATCH(status.sum.heard_age_ms)},
    {"informerd_watch_events_total", METRICS_COUNTER,
     "Changes delivered to event logs and handlers, by verb.", WATCH, BY_VERB,
     FIELD(watch_values, journal.events)},
    {"informerd_watch_heartbeats_ignored_total", METRICS_COUNTER,
     "Updates not reported because they are heartbeats (option ignore).",
     OF_WATCH(journal.heartbeats)},
    {"informerd_watch_unchanged_ignored_total", METRICS_COUNTER,
     "Updates not reported because they change no kept field (option ignore).",
     OF_WATCH(journal.unchanged)},
    {"informerd_watch_noise_ignored_total", METRICS_COUNTER,
     "Updates not reported because of other presets or field paths (option ignore).",
     OF_WATCH(journal.noise)},
    {"informerd_watch_gaps_total", METRICS_COUNTER, "Gaps reported in the event stream.",
     OF_WATCH(journal.gaps)},
    {"informerd_watch_reconnects_total", METRICS_COUNTER,
     "Ended streams and failed requests, by reason.", WATCH, BY_ERROR,
     FIELD(watch_values, status.sum.ends)},
    {"informerd_watch_relists_total", METRICS_COUNTER, "Lists after the initial one, by reason.",
     WATCH, BY_ERROR, FIELD(watch_values, status.sum.relists)},

    {"informerd_log_seq", METRICS_GAUGE, "Sequence number of the next record.",
     OF_DAEMON(journal.next_seq)},
    {"informerd_log_bytes_total", METRICS_COUNTER, "Bytes written to event logs.",
     OF_DAEMON(journal.bytes)},
    {"informerd_log_unwritten_bytes", METRICS_GAUGE, "Bytes of records not written yet.",
     OF_DAEMON(journal.unwritten)},
    {"informerd_log_failures_total", METRICS_COUNTER, "Failed writes to event logs.",
     OF_DAEMON(journal.failures)},
    {"informerd_log_rotations_total", METRICS_COUNTER, "Rotations of event logs.",
     OF_DAEMON(journal.rotations)},
    {"informerd_log_notes_dropped_total", METRICS_COUNTER,
     "Records about the daemon dropped for lack of space; records of changes are never dropped.",
     OF_DAEMON(journal.dropped)},
    {"informerd_log_outputs", METRICS_GAUGE, "Number of event logs.", OF_DAEMON(journal.logs)},
    {"informerd_log_outputs_failing", METRICS_GAUGE, "Event logs that cannot be written.",
     OF_DAEMON(journal.failing)},
    {"informerd_log_outputs_full", METRICS_GAUGE, "Event logs that hold their watches.",
     OF_DAEMON(journal.held)},

    {"informerd_event_log_writable", METRICS_GAUGE,
     "1 if the event log is neither held, failing nor stuck.", OF_LOG(writable)},
    {"informerd_event_log_held", METRICS_GAUGE, "1 if the event log is full and holds its watches.",
     OF_LOG(status.held)},
    {"informerd_event_log_failing", METRICS_GAUGE, "1 if the last write to the event log failed.",
     OF_LOG(status.failing)},
    {"informerd_event_log_stuck", METRICS_GAUGE,
     "1 if the event log could not be written for longer than stuck_after.", OF_LOG(status.stuck)},
    {"informerd_event_log_oldest_unwritten_seconds", METRICS_GAUGE,
     "Age of the oldest unwritten line; 0 if there is none.", LOG, MS,
     FIELD(log_values, oldest_ms)},
    {"informerd_event_log_unwritten_bytes", METRICS_GAUGE,
     "Bytes waiting to be written to the event log.", OF_LOG(status.unwritten)},

    {"informerd_handler_queue_length", METRICS_GAUGE,
     "Records that the handler has not delivered, without parked ones.", OF_HANDLER(length)},
    {"informerd_handler_queue_bytes", METRICS_GAUGE, "Memory used by these records.",
     OF_HANDLER(bytes)},
    {"informerd_handler_oldest_seconds", METRICS_GAUGE,
     "Age of the oldest of these records; 0 if there is none.", MS_OF_HANDLER(oldest_ms)},
    {"informerd_handler_running", METRICS_GAUGE, "Runs in progress.", OF_HANDLER(running)},
    {"informerd_handler_parked", METRICS_GAUGE,
     "Records that were given up after retry.max repetitions.", OF_HANDLER(parked)},
    {"informerd_handler_paused", METRICS_GAUGE,
     "1 if the handler was paused with informerctl or a command file.", OF_HANDLER(paused)},
    {"informerd_handler_held", METRICS_GAUGE,
     "1 if the queue is full and the handler holds its watches (overflow: wait).",
     OF_HANDLER(held)},
    {"informerd_handler_runs_total", METRICS_COUNTER, "Runs that have ended.",
     OF_HANDLER(counters.runs)},
    {"informerd_handler_run_seconds_total", METRICS_COUNTER, "Duration of these runs.",
     MS_OF_HANDLER(counters.run_ms)},
    {"informerd_handler_run_duration_seconds", METRICS_HISTOGRAM, "Duration of these runs.",
     HANDLER, DURATION, FIELD(handler_values, status.counters.durations)},
    {"informerd_handler_failures_total", METRICS_COUNTER, "Runs that failed.",
     OF_HANDLER(counters.failures)},
    {"informerd_handler_retries_total", METRICS_COUNTER,
     "Runs that failed and were, or will be, repeated.", OF_HANDLER(counters.retries)},
    {"informerd_handler_parked_total", METRICS_COUNTER, "Records that were parked since the start.",
     OF_HANDLER(counters.parked)},
    {"informerd_handler_forgotten_total", METRICS_COUNTER,
     "Parked records that were dropped because there were too many.",
     OF_HANDLER(counters.forgotten)},
    {"informerd_handler_coalesced_total", METRICS_COUNTER,
     "Records replaced by a newer one of the same object (deliver: latest, overflow: coalesce).",
     OF_HANDLER(counters.coalesced)},
    {"informerd_handler_skipped_total", METRICS_COUNTER,
     "Records dropped because the queue was full.", OF_HANDLER(counters.skipped)},
    {"informerd_handler_gaps_total", METRICS_COUNTER,
     "Number of times that records were dropped, or that a leader does not know what the last one has not delivered.",
     OF_HANDLER(counters.gaps)},

    {"informerd_backlog_bytes", METRICS_GAUGE,
     "Memory used by queued changes, unwritten lines and the local API.", OF_DAEMON(memory.used)},
    {"informerd_backlog_limit_bytes", METRICS_GAUGE,
     "Limit of informerd_backlog_bytes (option memory.backlog).", OF_DAEMON(memory.limit)},
    {"informerd_backlog_limit_reached_total", METRICS_COUNTER,
     "Number of times the limit was exceeded.", OF_DAEMON(memory.reached)},
    {"informerd_backlog_held_streams", METRICS_GAUGE, "Streams held because the limit is exceeded.",
     OF_DAEMON(memory.held)},
    {"informerd_state_active", METRICS_GAUGE,
     "1 if the reported objects are saved on disk (option state).", OF_DAEMON(state_active)},
    {"informerd_state_objects", METRICS_GAUGE, "Objects in the state on disk.",
     OF_DAEMON(state.objects)},
    {"informerd_state_disk_bytes", METRICS_GAUGE, "Size of all files of the state.",
     OF_DAEMON(state.disk_bytes)},
    {"informerd_state_live_bytes", METRICS_GAUGE,
     "Bytes of the state that are needed; the rest is removed by compaction.",
     OF_DAEMON(state.live_bytes)},
    {"informerd_state_written_bytes_total", METRICS_COUNTER, "Bytes written to the state.",
     OF_DAEMON(state.written_bytes)},
    {"informerd_state_writes_total", METRICS_COUNTER, "Writes to the state.",
     OF_DAEMON(state.batches)},
    {"informerd_state_compactions_total", METRICS_COUNTER,
     "Files of the state that were compacted.", OF_DAEMON(state.compactions)},
    {"informerd_state_last_write_timestamp_seconds", METRICS_GAUGE,
     "Time of the last write to the state, in seconds since 1970; 0 if there was none.", DAEMON, US,
     FIELD(daemon_values, state_written_us)},
    {"informerd_replica_leader", METRICS_GAUGE,
     "1 if this replica is the leader of its group, and delivers (option replica).",
     OF_DAEMON(replica.leads)},
    {"informerd_replica_acquisitions_total", METRICS_COUNTER,
     "Number of times that this replica became the leader.", OF_DAEMON(replica.acquisitions)},
    {"informerd_config_last_reload_successful", METRICS_GAUGE,
     "1 if the last load of the configuration succeeded.", OF_DAEMON(reload_succeeded)},
    {"informerd_config_last_reload_timestamp_seconds", METRICS_GAUGE,
     "Time when the configuration in use was loaded, in seconds since 1970.", DAEMON, US,
     FIELD(daemon_values, reloaded_us)},
    {"informerd_worst_tick_seconds", METRICS_GAUGE,
     "Longest event loop iteration in the last minute.", DAEMON, US,
     FIELD(daemon_values, worst_tick_us)},
    {"informerd_worst_tick_cpu_seconds", METRICS_GAUGE,
     "CPU time of the event loop iteration that used most in the last minute.", DAEMON, US,
     FIELD(daemon_values, worst_tick_cpu_us)},
};

/* ---- writing ---- */

static uint64_t read_field(const void *field, size_t size)
{
    uint64_t u64;
    uint32_t u32;
    if (size == sizeof(bool))
        return *(const bool *)field;
    if (size == sizeof(u32)) {
        memcpy(&u32, field, sizeof(u32));
        return u32;
    }
    assert(size == sizeof(u64));
    memcpy(&u64, field, sizeof(u64));
    return u64;
}

/* "INF_EGONE" -> "gone" */
static void reason_of(int code, char ret[32])
{
    const char *name = inf_error_name(code) + strlen("INF_E");
    size_t i = 0;
    for (; name[i] && i < 31; i++)
        ret[i] = (char)tolower((unsigned char)name[i]);
    ret[i] = '\0';
}

static void put_durations(struct metrics *m, const void *field, struct metrics_label *labels,
                          size_t n)
{
    struct handler_durations durations;
    memcpy(&durations, field, sizeof(durations));
    metrics_histogram(m, n, labels, handler_duration_bounds_ms, HANDLER_DURATION_BOUNDS,
                      durations.counts, (double)durations.sum_ms / 1000);
}

/* Writes the samples of one daemon, watch, event log or handler, which the first @n of @labels name; there is
 * space for one more. */
static void put_samples(struct metrics *m, const struct family *f, const void *values,
                        struct metrics_label *labels, size_t n)
{
    const char *field = (const char *)values + f->offset;
    uint64_t counts[INF_ERRORS], value = 0;
    if (f->unit == DURATION) {
        put_durations(m, field, labels, n);
        return;
    }
    if (f->unit == BY_VERB || f->unit == BY_ERROR)
        memcpy(counts, field, f->size);
    else
        value = read_field(field, f->size);
    switch (f->unit) {
    case COUNT: metrics_sample(m, n, labels, (double)value); break;
    case MS:
        if (value != INF_NEVER)
            metrics_sample(m, n, labels, (double)value / 1000);
        break;
    case US: metrics_sample(m, n, labels, (double)value / 1000000); break;
    case BY_VERB:
        for (int verb = INF_ADDED; verb <= INF_DELETED; verb++) {
            labels[n] = (struct metrics_label){"verb", inf_verb_name((enum inf_verb)verb)};
            metrics_sample(m, n + 1, labels, (double)counts[verb]);
        }
        break;
    case BY_ERROR:
        for (int code = 1; code < INF_ERRORS; code++) {
            char reason[32];
            if (!counts[code])
                continue;
            reason_of(code, reason);
            labels[n] = (struct metrics_label){"reason", reason};
            metrics_sample(m, n + 1, labels, (double)counts[code]);
        }
        break;
    case DURATION: break; /* see above */
    }
}

/* The number of watches, event logs or handlers that have samples in @f. */
static size_t item_count(const struct metrics_page *p, const struct family *f)
{
    switch (f->scope) {
    case DAEMON: return 1;
    case WATCH: return p->n_watches;
    case LOG: return p->n_logs;
    case HANDLER: return p->n_handlers;
    }
    return 0;
}

static void put_item(const struct metrics_page *p, struct metrics *m, const struct family *f,
                     size_t i)
{
    struct metrics_label labels[3];
    switch (f->scope) {
    case DAEMON: put_samples(m, f, &p->daemon, NULL, 0); break;
    case WATCH:
        labels[0] = (struct metrics_label){"cluster", p->watches[i].cluster};
        labels[1] = (struct metrics_label){"watch", p->watches[i].name};
        put_samples(m, f, &p->watches[i], labels, 2);
        break;
    case LOG:
        labels[0] = (struct metrics_label){"log", p->logs[i].name};
        put_samples(m, f, &p->logs[i], labels, 1);
        break;
    case HANDLER:
        labels[0] = (struct metrics_label){"handler", p->handlers[i].name};
        put_samples(m, f, &p->handlers[i], labels, 1);
        break;
    }
}

bool metrics_page_put_some(struct metrics_page *p, size_t items, struct buf *out)
{
    struct metrics m = {.out = out};
    while (p->family < ARRAY_LEN(families) && items > 0) {
        const struct family *f = &families[p->family];
        m.family = f->name;
        if (!p->item)
            metrics_family(&m, f->name, f->type, f->help);
        if (p->item < item_count(p, f)) {
            put_item(p, &m, f, p->item++);
            items--;
        }
        if (p->item >= item_count(p, f)) {
            p->family++;
            p->item = 0;
        }
    }
    if (p->family < ARRAY_LEN(families))
        return false;
    metrics_process(&m, p->started);
    return true;
}

/* ---- collecting ---- */

static void collect_daemon(struct metrics_page *p, struct daemon *d)
{
    struct daemon_values *v = &p->daemon;
    journal_stats(&d->journal, &v->journal);
    inf_budget_status(d->budget, &v->memory);
    if (d->saved.state) {
        inf_state_info(d->saved.state, &v->state);
        v->state_active = inf_state_is_active(d->saved.state);
        v->state_written_us = (uint64_t)v->state.written_us;
    }
    replica_status(&d->replica, &v->replica);
    v->reload_succeeded = !d->reload_failed;
    v->reloaded_us = (uint64_t)d->reloaded_us;
    /* each client and the daemon run a part of each iteration and measure it */
    v->worst_tick_us = loop_worst_tick_us(&d->loop);
    v->worst_tick_cpu_us = tick_cpu_worst_us(&d->tick_cpu, clock_now_ms(&d->loop.clock));
    list_for_each(node, &d->clusters) {
        const struct cluster *cluster = container_of(node, struct cluster, node);
        uint64_t its = inf_client_worst_tick_us(cluster->client);
        v->worst_tick_us = its > v->worst_tick_us ? its : v->worst_tick_us;
    }
}

static void collect_watches(struct metrics_page *p, const struct daemon *d)
{
    size_t n = 0;
    list_for_each(node, &d->watchers)
        n++;
    p->watches = xcalloc(n + 1, sizeof(*p->watches));
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        struct watch_values *v = &p->watches[p->n_watches++];
        v->cluster = arena_copy(&p->names, str_of(w->cluster->conf->name)).at;
        v->name = arena_copy(&p->names, str_of(w->conf->name)).at;
        v->journal = *journal_consumer_watch(&w->channel);
        watcher_status(w, &v->status);
        v->up = watcher_ready(&v->status) && !v->status.sum.error.code;
    }
}

static void collect_log(void *ctx, const struct event_log *log)
{
    struct metrics_page *p = ctx;
    struct log_values *v = &p->logs[p->n_logs++];
    event_log_status(log, &v->status);
    v->name = arena_copy(&p->names, str_of(v->status.name)).at;
    v->writable = !v->status.failing && !v->status.stuck && !v->status.held;
    v->oldest_ms = v->status.oldest_ms == EVENT_LOG_NONE ? 0 : v->status.oldest_ms;
}

static void collect_handler(void *ctx, const struct handler *handler)
{
    struct metrics_page *p = ctx;
    struct handler_values *v = &p->handlers[p->n_handlers++];
    handler_status(handler, &v->status);
    v->name = arena_copy(&p->names, str_of(v->status.name)).at;
}

struct metrics_page *metrics_page_new(struct daemon *d)
{
    struct metrics_page *p = NEW(struct metrics_page);
    collect_daemon(p, d);
    collect_watches(p, d);
    p->logs = xcalloc(p->daemon.journal.logs + 1, sizeof(*p->logs));
    journal_each_log(&d->journal, false, collect_log, p);
    p->handlers = xcalloc(handlers_count(&d->handlers) + 1, sizeof(*p->handlers));
    handlers_each(&d->handlers, collect_handler, p);
    p->started = (double)d->started_us / 1000000;
    return p;
}

void metrics_page_free(struct metrics_page *p)
{
    if (!p)
        return;
    arena_free(&p->names);
    free(p->watches);
    free(p->logs);
    free(p->handlers);
    free(p);
}
