/*
 * report_metrics.c - the metrics of the daemon, family by family.
 *
 * Labels name watches and event logs, never objects: the number of series does not depend on the
 * contents of a cluster.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/http/metrics.h"
#include "daemon/http/report.h"
#include "daemon/journal/journal_consumer.h"
#include "daemon/watch/watcher.h"

struct page {
    struct metrics m;
    const struct daemon *d;
    size_t n;
    const struct watcher **watchers;
    struct watcher_status *statuses;
};

enum {
    LABELS = 4,
};

/* ---- families with a sample for each watch ---- */

static void put_watch_sample(struct page *p, size_t i, const char *label, const char *value,
                             double number)
{
    const struct watcher *w = p->watchers[i];
    struct metrics_label labels[LABELS] = {
        {"cluster", w->cluster->conf->name}, {"watch", w->conf->name}, {label, value}};
    metrics_sample(&p->m, label ? 3 : 2, labels, number);
}

#define EACH(p, i) for (size_t i = 0; i < (p)->n; i++)

static void family_of(struct page *p, const char *name, enum metrics_type type, const char *help,
                      double (*number)(const struct watcher_status *s))
{
    metrics_family(&p->m, name, type, help);
    EACH(p, i)
    put_watch_sample(p, i, NULL, NULL, number(&p->statuses[i]));
}

static double watch_up(const struct watcher_status *s)
{
    return watcher_ready(s) && !s->sum.error.code;
}

static double watch_synced(const struct watcher_status *s)
{
    return s->sum.synced;
}

static double watch_stale(const struct watcher_status *s)
{
    return s->sum.stale;
}

static double watch_held(const struct watcher_status *s)
{
    return s->sum.held;
}

static double watch_objects(const struct watcher_status *s)
{
    return (double)s->objects;
}

static double watch_bytes(const struct watcher_status *s)
{
    return (double)s->bytes;
}

static double watch_queued(const struct watcher_status *s)
{
    return (double)s->sum.queued;
}

static double watch_skipped(const struct watcher_status *s)
{
    return (double)s->sum.skipped;
}

static double watch_coalesced(const struct watcher_status *s)
{
    return (double)s->sum.coalesced;
}

static double watch_backlog(const struct watcher_status *s)
{
    return (double)s->backlog;
}

static double watch_requests(const struct watcher_status *s)
{
    return (double)s->sum.requests;
}

static void put_states(struct page *p)
{
    family_of(p, "informerd_watch_up", METRICS_GAUGE,
              "1 if the watch is synced, not stale, not held and without errors.", watch_up);
    family_of(p, "informerd_watch_synced", METRICS_GAUGE,
              "1 if the initial list has been delivered.", watch_synced);
    family_of(p, "informerd_watch_stale", METRICS_GAUGE,
              "1 if no data was received from the server for longer than stale_after.",
              watch_stale);
    family_of(p, "informerd_watch_held", METRICS_GAUGE,
              "1 if reading is paused because an event log is full or memory.backlog is used up.",
              watch_held);
    family_of(p, "informerd_watch_objects", METRICS_GAUGE, "Objects in the cache.", watch_objects);
    family_of(p, "informerd_watch_cache_bytes", METRICS_GAUGE,
              "Memory used by the objects in the cache.", watch_bytes);
    family_of(p, "informerd_watch_queue_length", METRICS_GAUGE,
              "Changes waiting to be applied to the cache.", watch_queued);
    family_of(p, "informerd_watch_backlog_events", METRICS_GAUGE,
              "Applied changes waiting to be delivered to event logs.", watch_backlog);
    family_of(p, "informerd_watch_coalesced_total", METRICS_COUNTER,
              "Changes replaced by a newer one before delivery (option coalesce).",
              watch_coalesced);
    family_of(p, "informerd_watch_skipped_objects_total", METRICS_COUNTER,
              "Objects that could not be decoded, counted once per version.", watch_skipped);
    family_of(p, "informerd_watch_requests_total", METRICS_COUNTER, "Requests sent to the server.",
              watch_requests);
}

/* An event that never happened has no age, and no sample. */
static void put_age(struct page *p, const char *name, const char *help, size_t offset)
{
    metrics_family(&p->m, name, METRICS_GAUGE, help);
    EACH(p, i)
    {
        uint64_t ms;
        memcpy(&ms, (const char *)&p->statuses[i].sum + offset, sizeof(ms));
        if (ms != INF_NEVER)
            put_watch_sample(p, i, NULL, NULL, (double)ms / 1000);
    }
}

static void put_ages(struct page *p)
{
    put_age(p, "informerd_watch_last_event_age_seconds", "Time since the last change was received.",
            offsetof(struct inf_status, event_age_ms));
    put_age(p, "informerd_watch_last_bookmark_age_seconds",
            "Time since the last bookmark was received.",
            offsetof(struct inf_status, bookmark_age_ms));
    put_age(p, "informerd_watch_last_heard_age_seconds",
            "Time since the last complete data was received.",
            offsetof(struct inf_status, heard_age_ms));
}

static void put_events(struct page *p)
{
    metrics_family(&p->m, "informerd_watch_events_total", METRICS_COUNTER,
                   "Changes delivered to event logs, by verb.");
    EACH(p, i)
    for (int verb = INF_ADDED; verb <= INF_DELETED; verb++)
        put_watch_sample(p, i, "verb", inf_verb_name((enum inf_verb)verb),
                         (double)journal_consumer_watch(&p->watchers[i]->channel)->events[verb]);
    metrics_family(&p->m, "informerd_watch_heartbeats_ignored_total", METRICS_COUNTER,
                   "Updates not reported because they are heartbeats (option ignore).");
    EACH(p, i)
    put_watch_sample(p, i, NULL, NULL,
                     (double)journal_consumer_watch(&p->watchers[i]->channel)->heartbeats);
    metrics_family(&p->m, "informerd_watch_unchanged_ignored_total", METRICS_COUNTER,
                   "Updates not reported because they change no kept field (option ignore).");
    EACH(p, i)
    put_watch_sample(p, i, NULL, NULL,
                     (double)journal_consumer_watch(&p->watchers[i]->channel)->unchanged);
    metrics_family(&p->m, "informerd_watch_gaps_total", METRICS_COUNTER,
                   "Gaps reported in the event stream.");
    EACH(p, i)
    put_watch_sample(p, i, NULL, NULL,
                     (double)journal_consumer_watch(&p->watchers[i]->channel)->gaps);
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

static void put_by_reason(struct page *p, const char *name, const char *help, size_t offset)
{
    metrics_family(&p->m, name, METRICS_COUNTER, help);
    EACH(p, i)
    {
        uint64_t counts[INF_ERRORS];
        memcpy(counts, (const char *)&p->statuses[i].sum + offset, sizeof(counts));
        for (int code = 1; code < INF_ERRORS; code++) {
            char reason[32];
            if (!counts[code])
                continue;
            reason_of(code, reason);
            put_watch_sample(p, i, "reason", reason, (double)counts[code]);
        }
    }
}

/* ---- the daemon ---- */

static void put_journal(struct page *p)
{
    struct journal_stats s;
    journal_stats(&p->d->journal, &s);
    metrics_single(&p->m, "informerd_log_seq", METRICS_GAUGE, "Sequence number of the next record.",
                   (double)s.next_seq);
    metrics_single(&p->m, "informerd_log_bytes_total", METRICS_COUNTER,
                   "Bytes written to event logs.", (double)s.bytes);
    metrics_single(&p->m, "informerd_log_unwritten_bytes", METRICS_GAUGE,
                   "Bytes of records not written yet.", (double)s.unwritten);
    metrics_single(&p->m, "informerd_log_failures_total", METRICS_COUNTER,
                   "Failed writes to event logs.", (double)s.failures);
    metrics_single(&p->m, "informerd_log_rotations_total", METRICS_COUNTER,
                   "Rotations of event logs.", (double)s.rotations);
    metrics_single(&p->m, "informerd_log_notes_dropped_total", METRICS_COUNTER,
                   "Records about the daemon dropped for lack of space; records of changes are "
                   "never dropped.",
                   (double)s.dropped);
    metrics_single(&p->m, "informerd_log_outputs", METRICS_GAUGE, "Number of event logs.", s.logs);
    metrics_single(&p->m, "informerd_log_outputs_failing", METRICS_GAUGE,
                   "Event logs that cannot be written.", s.failing);
    metrics_single(&p->m, "informerd_log_outputs_full", METRICS_GAUGE,
                   "Event logs that hold their watches.", s.held);
}

/* ---- families with a sample for each event log ---- */

struct log_family {
    struct metrics *m;
    double (*number)(const struct event_log_status *s);
};

static void put_log_sample(void *ctx, const struct event_log *log)
{
    struct log_family *family = ctx;
    struct event_log_status s;
    event_log_status(log, &s);
    metrics_sample(family->m, 1, (struct metrics_label[]){{"log", s.name}}, family->number(&s));
}

static double log_writable(const struct event_log_status *s)
{
    return !s->failing && !s->stuck && !s->held;
}

static double log_held(const struct event_log_status *s)
{
    return s->held;
}

static double log_failing(const struct event_log_status *s)
{
    return s->failing;
}

static double log_stuck(const struct event_log_status *s)
{
    return s->stuck;
}

static double log_oldest(const struct event_log_status *s)
{
    return s->oldest_ms == EVENT_LOG_NONE ? 0 : (double)s->oldest_ms / 1000;
}

static double log_waiting(const struct event_log_status *s)
{
    return (double)s->unwritten;
}

static void put_logs(struct page *p)
{
    static const struct {
        const char *name, *help;
        double (*number)(const struct event_log_status *s);
    } families[] = {
        {"informerd_event_log_writable", "1 if the event log is neither held, failing nor stuck.",
         log_writable},
        {"informerd_event_log_held", "1 if the event log is full and holds its watches.", log_held},
        {"informerd_event_log_failing", "1 if the last write to the event log failed.",
         log_failing},
        {"informerd_event_log_stuck",
         "1 if the event log could not be written for longer than stuck_after.", log_stuck},
        {"informerd_event_log_oldest_unwritten_seconds",
         "Age of the oldest unwritten line; 0 if there is none.", log_oldest},
        {"informerd_event_log_unwritten_bytes", "Bytes waiting to be written to the event log.",
         log_waiting},
    };
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        struct log_family family = {&p->m, families[i].number};
        metrics_family(&p->m, families[i].name, METRICS_GAUGE, families[i].help);
        journal_each_log(&p->d->journal, false, put_log_sample, &family);
    }
}

static void put_memory(struct page *p)
{
    struct inf_budget_status s;
    inf_budget_status(p->d->budget, &s);
    metrics_single(&p->m, "informerd_backlog_bytes", METRICS_GAUGE,
                   "Memory used by queued changes and unwritten lines.", (double)s.used);
    metrics_single(&p->m, "informerd_backlog_limit_bytes", METRICS_GAUGE,
                   "Limit of informerd_backlog_bytes (option memory.backlog).", (double)s.limit);
    metrics_single(&p->m, "informerd_backlog_limit_reached_total", METRICS_COUNTER,
                   "Number of times the limit was exceeded.", (double)s.reached);
    metrics_single(&p->m, "informerd_backlog_held_streams", METRICS_GAUGE,
                   "Streams held because the limit is exceeded.", (double)s.held);
}

static void put_config(struct page *p)
{
    metrics_single(&p->m, "informerd_config_last_reload_successful", METRICS_GAUGE,
                   "1 if the last load of the configuration succeeded.", !p->d->reload_failed);
    metrics_single(&p->m, "informerd_config_last_reload_timestamp_seconds", METRICS_GAUGE,
                   "Time when the configuration in use was loaded, in seconds since 1970.",
                   (double)p->d->reloaded_us / 1000000);
}

/* Each client and the daemon run a part of each iteration and measure it; the longest part is
 * reported. */
static double worst_tick_s(struct daemon *d)
{
    uint64_t worst = loop_worst_tick_us(&d->loop);
    list_for_each(node, &d->clusters) {
        const struct cluster *cluster = container_of(node, struct cluster, node);
        uint64_t its = inf_client_worst_tick_us(cluster->client);
        worst = its > worst ? its : worst;
    }
    return (double)worst / 1000000;
}

void report_metrics(struct daemon *d, struct buf *out)
{
    struct page p = {.m = {.out = out}, .d = d};
    list_for_each(node, &d->watchers)
        p.n++;
    p.watchers = xcalloc(p.n + 1, sizeof(*p.watchers));
    p.statuses = xcalloc(p.n + 1, sizeof(*p.statuses));
    p.n = 0;
    list_for_each(node, &d->watchers) {
        p.watchers[p.n] = container_of(node, struct watcher, node);
        watcher_status(p.watchers[p.n], &p.statuses[p.n]);
        p.n++;
    }
    put_states(&p);
    put_ages(&p);
    put_events(&p);
    put_by_reason(&p, "informerd_watch_reconnects_total",
                  "Ended streams and failed requests, by reason.",
                  offsetof(struct inf_status, ends));
    put_by_reason(&p, "informerd_watch_relists_total", "Lists after the initial one, by reason.",
                  offsetof(struct inf_status, relists));
    put_journal(&p);
    put_logs(&p);
    put_memory(&p);
    put_config(&p);
    metrics_single(&p.m, "informerd_worst_tick_seconds", METRICS_GAUGE,
                   "Longest event loop iteration in the last minute.", worst_tick_s(d));
    metrics_process(&p.m, (double)d->started_us / 1000000);
    free(p.watchers);
    free(p.statuses);
}
