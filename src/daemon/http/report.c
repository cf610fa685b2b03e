/*
 * report.c - readiness, the one-line status and the state dump, from the statuses of watches and
 * event logs. Nothing is stored; each call reads the current state.
 */
#include "daemon/http/report.h"

#include <inttypes.h>
#include <math.h>

#include "base/base.h"
#include "base/text/json_string.h"
#include "base/text/timestamp.h"
#include "daemon/daemon.h"
#include "daemon/http/metrics.h"
#include "daemon/journal/journal_consumer.h"
#include "daemon/service/service_handlers.h"
#include "daemon/watch/watcher.h"

/* ---- ages ---- */

/* "3s", "12m", "5h", "2d": one unit is precise enough here. */
static void put_age(struct buf *out, uint64_t ms)
{
    uint64_t s = ms / 1000;
    if (s < 120)
        buf_printf(out, "%" PRIu64 "s", s);
    else if (s < 2 * 3600)
        buf_printf(out, "%" PRIu64 "m", s / 60);
    else if (s < 2 * 86400)
        buf_printf(out, "%" PRIu64 "h", s / 3600);
    else
        buf_printf(out, "%" PRIu64 "d", s / 86400);
}

static void put_last(struct buf *out, const char *what, uint64_t age_ms)
{
    buf_printf(out, ", last %s ", what);
    put_age(out, age_ms);
    buf_puts(out, " ago");
}

/* How long the watch has been in its state; 0: the age of the last data shows that. */
static uint64_t state_age_ms(const struct watcher_status *s)
{
    if (s->sum.held)
        return s->sum.held_for_ms;
    if (s->sum.stale)
        return 0;
    if (s->sum.error.code)
        return s->sum.failing_for_ms;
    return s->sum.synced ? 0 : s->age_ms;
}

void report_status(const struct watcher_status *s, struct buf *out)
{
    uint64_t age_ms = state_age_ms(s);
    buf_puts(out, inf_status_name(&s->sum));
    if (age_ms) {
        buf_puts(out, " for ");
        put_age(out, age_ms);
    }
    buf_printf(out, ", %zu object%s", s->objects, s->objects == 1 ? "" : "s");
    if (s->streams > 1 || s->by_labels)
        buf_printf(out, ", %zu of %zu namespaces live", s->live, s->streams);
    if (s->sum.heard_age_ms == INF_NEVER)
        buf_puts(out, ", no data received yet");
    else
        put_last(out, "data", s->sum.heard_age_ms);
    if (s->sum.heard_age_ms != INF_NEVER && s->sum.event_age_ms != INF_NEVER)
        put_last(out, "event", s->sum.event_age_ms);
    if (s->sum.error.code)
        buf_printf(out, ": %s", s->sum.error.text);
}

/* ---- readiness ---- */

struct ready_page {
    struct buf *out;
    bool verbose;
    bool ready;
};

/* "failing for 45s: No space left on device, 1200 bytes unwritten, oldest line waiting for 45s" */
static void put_log(void *ctx, const struct event_log *log)
{
    struct ready_page *page = ctx;
    struct event_log_status s;
    event_log_status(log, &s);
    page->ready &= !s.stuck;
    if (!page->verbose && !s.failing && !s.stuck && !s.held)
        return;
    buf_printf(page->out, "[%c] event log %s: %s", s.stuck ? '-' : '+', s.name, s.state);
    if (s.failing || s.stuck) {
        buf_puts(page->out, " for ");
        put_age(page->out, s.unable_ms);
    }
    if (s.reason)
        buf_printf(page->out, ": %s", s.reason);
    if (s.oldest_ms != EVENT_LOG_NONE) {
        buf_printf(page->out, ", %zu bytes unwritten, oldest line waiting for ", s.unwritten);
        put_age(page->out, s.oldest_ms);
    }
    buf_putc(page->out, '\n');
}

/* "failing: exit code 3, 12 records waiting, oldest for 45s, 1 parked". Never makes the daemon unready:
 * its programs are not informerd. */
static void put_handler(void *ctx, const struct handler *handler)
{
    struct ready_page *page = ctx;
    struct handler_status s;
    handler_status(handler, &s);
    if (!page->verbose && !s.reason && !s.held && !s.parked && !s.paused)
        return;
    buf_printf(page->out, "[+] %s %s: %s", s.noun, s.name, s.state);
    if (s.reason)
        buf_printf(page->out, ": %s", s.reason);
    if (s.length) {
        buf_printf(page->out, ", %" PRIu64 " record%s waiting, oldest for ", s.length,
                   s.length == 1 ? "" : "s");
        put_age(page->out, s.oldest_ms);
    }
    if (s.parked)
        buf_printf(page->out, ", %" PRIu64 " parked", s.parked);
    buf_putc(page->out, '\n');
}

/* Why a watch is held: ", held by event log /var/log/informerd/events.jsonl". */
static void put_holder(const struct daemon *d, const struct watcher *w, struct buf *out)
{
    bool is_log;
    const char *holder = journal_holder(&d->journal, w->conf->name, &is_log);
    struct inf_budget_status memory;
    inf_budget_status(d->budget, &memory);
    if (holder)
        buf_printf(out, ", held by %s %s", is_log ? "event log" : "handler", holder);
    else if (memory.held)
        buf_puts(out, ", held by memory.backlog");
}

/* "4500 objects, 3.8 MB on disk, saved 2s ago". The watches work without it. */
static void put_state(struct daemon *d, struct buf *out)
{
    struct inf_state_info info;
    inf_state_info(d->saved.state, &info);
    buf_puts(out, "[+] state: ");
    if (info.suspended) {
        buf_printf(out, "not saved: %s\n", info.reason);
        return;
    }
    buf_printf(out, "%" PRIu64 " objects, %.1f MB on disk, ", info.objects,
               (double)info.disk_bytes / 1e6);
    if (!info.written_us) {
        buf_puts(out, "nothing saved yet\n");
        return;
    }
    buf_puts(out, "saved ");
    put_age(out, saved_state_age_ms(info.written_us, clock_wall_us(&d->loop.clock)));
    buf_puts(out, " ago\n");
}

/* "leader, Lease renewed 1s ago" or "standby, host_1_2 leads". A standby is as ready as the leader. */
static void put_replica(const struct daemon *d, bool verbose, struct buf *out)
{
    struct replica_status s;
    replica_status(&d->replica, &s);
    if (!s.exists || (!verbose && !s.reason))
        return;
    buf_printf(out, "[+] replica %s: %s", s.identity, s.role);
    if (s.leads) {
        buf_puts(out, ", Lease renewed ");
        put_age(out, s.renewed_ago_ms);
        buf_puts(out, " ago");
    } else if (s.holder[0]) {
        buf_printf(out, ", %s leads", s.holder);
    }
    if (s.reason)
        buf_printf(out, ": %s", s.reason);
    buf_putc(out, '\n');
}

bool report_ready(struct daemon *d, bool verbose, struct buf *out)
{
    struct ready_page page = {.out = out, .verbose = verbose, .ready = true};
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        struct watcher_status s;
        bool ready;
        watcher_status(w, &s);
        ready = watcher_ready(&s);
        buf_printf(out, "[%c] %s/%s: ", ready ? '+' : '-', w->cluster->conf->name, w->conf->name);
        report_status(&s, out);
        if (s.sum.held)
            put_holder(d, w, out);
        buf_putc(out, '\n');
        page.ready &= ready;
    }
    if (!d->options.ad_hoc)
        journal_each_log(&d->journal, false, put_log, &page);
    handlers_each(&d->handlers, put_handler, &page);
    put_replica(d, verbose, out);
    if (d->saved.state && verbose)
        put_state(d, out);
    buf_puts(out, page.ready ? "ready\n" : "not ready\n");
    return page.ready;
}

static void put_if_stuck(void *ctx, const struct event_log *log)
{
    struct event_log_status s;
    event_log_status(log, &s);
    if (s.stuck)
        buf_printf(ctx, "; event log %s: %s", s.name, s.state);
}

void report_sentence(const struct daemon *d, struct buf *out)
{
    size_t all = 0, live = 0;
    const struct watcher *worst = NULL;
    struct watcher_status s;
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        watcher_status(w, &s);
        all++;
        if (watcher_ready(&s) && !s.sum.error.code)
            live++;
        else if (!worst)
            worst = w;
    }
    buf_printf(out, "%zu watch%s, %zu live", all, all == 1 ? "" : "es", live);
    if (worst) {
        watcher_status(worst, &s);
        buf_printf(out, "; %s: %s", worst->conf->name, inf_status_name(&s.sum));
    }
    journal_each_log(&d->journal, false, put_if_stuck, out);
}

/* ---- a dump ---- */

static void put_member(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "\"%s\":", name);
    json_put_string(out, str_of(value));
}

static void put_number(struct buf *out, const char *name, uint64_t value)
{
    buf_printf(out, ",\"%s\":", name);
    if (value == INF_NEVER)
        buf_puts(out, "null");
    else
        buf_printf(out, "%" PRIu64, value);
}

/* The number of distinct values of each index. The store keeps the count: iterating over a million
 * objects blocked the loop for 105 ms. */
static void dump_indexes(const struct watcher *w, struct buf *out)
{
    const struct conf_indexes *indexes = &w->conf->indexes;
    for (size_t i = 0; i < indexes->count; i++) {
        uint64_t values = 0;
        list_for_each(node, &w->streams) {
            const struct watch_stream *stream = container_of(node, struct watch_stream, node);
            if (stream->informer)
                values += inf_store_index_count(inf_informer_store(stream->informer),
                                                indexes->items[i].name);
        }
        buf_puts(out, i ? "," : ",\"indexes\":{");
        json_put_string(out, str_of(indexes->items[i].name));
        buf_printf(out, ":%" PRIu64, values);
    }
    if (indexes->count)
        buf_putc(out, '}');
}

/* Changes that were reported since the watch was opened, by verb, and gaps. */
static void dump_changes(const struct watcher *w, struct buf *out)
{
    const struct journal_watch *counters = journal_consumer_watch(&w->channel);
    put_number(out, "added", counters->events[INF_ADDED]);
    put_number(out, "modified", counters->events[INF_MODIFIED]);
    put_number(out, "deleted", counters->events[INF_DELETED]);
    put_number(out, "ignored", counters->heartbeats + counters->unchanged + counters->noise);
    put_number(out, "gaps", counters->gaps);
}

static void dump_watch(const struct watcher *w, struct buf *out)
{
    struct watcher_status s;
    watcher_status(w, &s);
    buf_puts(out, "  {");
    put_member(out, "cluster", w->cluster->conf->name);
    buf_putc(out, ',');
    put_member(out, "server", inf_client_server(w->cluster->client));
    buf_putc(out, ',');
    put_member(out, "watch", w->conf->name);
    buf_putc(out, ',');
    put_member(out, "resource", w->conf->resource);
    buf_putc(out, ',');
    put_member(out, "state", inf_status_name(&s.sum));
    put_number(out, "streams", s.streams);
    put_number(out, "live", s.live);
    put_number(out, "objects", s.objects);
    put_number(out, "bytes", s.bytes);
    put_number(out, "queued", s.sum.queued);
    put_number(out, "event_age_ms", s.sum.event_age_ms);
    put_number(out, "bookmark_age_ms", s.sum.bookmark_age_ms);
    put_number(out, "heard_age_ms", s.sum.heard_age_ms);
    put_number(out, "requests", s.sum.requests);
    put_number(out, "skipped", s.sum.skipped);
    dump_changes(w, out);
    dump_indexes(w, out);
    if (s.sum.error.code) {
        buf_putc(out, ',');
        put_member(out, "error", s.sum.error.text);
    }
    buf_putc(out, '}');
}

struct log_list {
    struct buf *out;
    const char *comma;
    struct daemon *daemon;
    bool with_records; /* of handlers */
};

static void dump_log(void *ctx, const struct event_log *log)
{
    struct log_list *list = ctx;
    struct event_log_status s;
    event_log_status(log, &s);
    buf_printf(list->out, "%s  {", list->comma);
    put_member(list->out, "path", s.name);
    buf_putc(list->out, ',');
    put_member(list->out, "state", s.state);
    put_number(list->out, "unwritten_bytes", s.unwritten);
    put_number(list->out, "oldest_unwritten_ms", s.oldest_ms);
    if (s.reason) {
        buf_putc(list->out, ',');
        put_member(list->out, "error", s.reason);
    }
    buf_putc(list->out, '}');
    list->comma = ",\n";
}

/* The parked records themselves, as they were given to the handler. */
static void dump_parked(const struct handler *handler, struct buf *out)
{
    const char *comma = "";
    buf_puts(out, ",\"parked_records\":[");
    list_for_each(node, &handler->queue.records) {
        const struct handler_record *r = container_of(node, struct handler_record, node);
        struct str line = handler_record_line(r);
        if (r->state != RECORD_PARKED)
            continue;
        buf_printf(out, "%s%.*s", comma, (int)line.len - 1, line.at); /* without its newline */
        comma = ",";
    }
    buf_putc(out, ']');
}

static void dump_handler(void *ctx, const struct handler *handler)
{
    struct log_list *list = ctx;
    buf_printf(list->out, "%s  {", list->comma);
    service_handlers_put(list->out, list->daemon, handler);
    if (list->with_records)
        dump_parked(handler, list->out);
    buf_putc(list->out, '}');
    list->comma = ",\n";
}

/* The state on disk; nothing if there is none. */
static void dump_state(struct daemon *d, struct buf *out)
{
    struct inf_state_info info;
    if (!d->saved.state)
        return;
    inf_state_info(d->saved.state, &info);
    buf_printf(out, ",\"state\":{\"saved\":%s", info.suspended ? "false" : "true");
    put_number(out, "objects", info.objects);
    put_number(out, "disk_bytes", info.disk_bytes);
    put_number(out, "saved_age_ms",
               info.written_us ? (uint64_t)(clock_wall_us(&d->loop.clock) - info.written_us) / 1000
                               : INF_NEVER);
    if (info.reason) {
        buf_putc(out, ',');
        put_member(out, "reason", info.reason);
    }
    buf_putc(out, '}');
}

/* Nothing if it is the only one. */
static void dump_replica(const struct daemon *d, struct buf *out)
{
    struct replica_status s;
    replica_status(&d->replica, &s);
    if (!s.exists)
        return;
    buf_puts(out, ",\"replica\":{");
    put_member(out, "group", s.group);
    buf_putc(out, ',');
    put_member(out, "identity", s.identity);
    buf_putc(out, ',');
    put_member(out, "role", s.role);
    buf_putc(out, ',');
    put_member(out, "holder", s.holder);
    put_number(out, "acquisitions", s.acquisitions);
    if (s.reason) {
        buf_putc(out, ',');
        put_member(out, "error", s.reason);
    }
    buf_putc(out, '}');
}

static void put_process(struct buf *out)
{
    double resident = metrics_resident_bytes(), cpu = metrics_cpu_seconds();
    put_number(out, "resident_bytes", isnan(resident) ? INF_NEVER : (uint64_t)resident);
    put_number(out, "cpu_ms", isnan(cpu) ? INF_NEVER : (uint64_t)(cpu * 1000));
}

static void put_time(struct buf *out, const char *name, int64_t us)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(us, time);
    put_member(out, name, time);
}

void report_dump(struct daemon *d, bool with_records, struct buf *out)
{
    struct journal_stats stats;
    struct inf_budget_status memory;
    const char *comma = "";
    journal_stats(&d->journal, &stats);
    inf_budget_status(d->budget, &memory);
    buf_puts(out, "{");
    put_member(out, "version", inf_version());
    buf_putc(out, ',');
    put_time(out, "time", clock_wall_us(&d->loop.clock));
    buf_putc(out, ',');
    put_time(out, "started", d->started_us);
    put_number(out, "seq", stats.next_seq);
    put_number(out, "outputs", stats.logs);
    put_number(out, "outputs_failing", stats.failing);
    put_number(out, "unwritten_bytes", stats.unwritten);
    put_number(out, "backlog_bytes", memory.used);
    put_number(out, "backlog_limit_bytes", memory.limit);
    put_number(out, "backlog_held_streams", memory.held);
    put_number(out, "event_streams", d->web.events.count);
    put_process(out);
    dump_state(d, out);
    dump_replica(d, out);
    buf_puts(out, ",\"watches\":[\n");
    list_for_each(node, &d->watchers) {
        buf_puts(out, comma);
        dump_watch(container_of(node, struct watcher, node), out);
        comma = ",\n";
    }
    buf_puts(out, "\n],\"event_logs\":[\n");
    journal_each_log(&d->journal, false, dump_log, &(struct log_list){out, "", d, false});
    buf_puts(out, "\n],\"handlers\":[\n");
    handlers_each(&d->handlers, dump_handler, &(struct log_list){out, "", d, with_records});
    buf_puts(out, "\n]}\n");
}
