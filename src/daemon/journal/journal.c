/*
 * journal.c - makes records from events and gives them to the event logs that accept them.
 *
 * Normal path: journal_event() finds the first log that accepts the change, computes the diff, takes a
 * sequence number, and adds a line to each log that accepts it; journal_flush() releases the lines for
 * writing once their numbers are reserved. If reserving fails, the lines stay in the buffers of the
 * logs. A full log holds the watches that write to it; daemon records, which can't be held, are
 * dropped when its buffer is full, and a GAP reports their number.
 */
#include "daemon/journal/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "daemon/journal/heartbeat.h"

/* ---- holding ---- */

/* A watch is held while a log to which it writes is full. */
static void update_hold(struct journal *j, struct journal_watch *watch)
{
    bool hold = false;
    for_each_log(log, &j->logs)
        hold = hold || (log->held && filter_accepts_watch(log->filter, watch->info->id.name));
    if (hold == watch->held)
        return;
    watch->held = hold;
    watch->on_hold(watch, hold);
}

void journal_update_holds(struct journal *journal)
{
    list_for_each_safe(n, &journal->watches)
        update_hold(journal, container_of(n, struct journal_watch, node));
}

void journal_watch_add(struct journal *journal, struct journal_watch *watch)
{
    list_push(&journal->watches, &watch->node);
    update_hold(journal, watch);
}

void journal_watch_remove(struct journal_watch *watch)
{
    list_remove(&watch->node);
    ignored_free(&watch->ignored);
}

/* ---- lines ---- */

static struct stamp stamp_now(struct journal *j)
{
    return (struct stamp){
        .time_us = clock_wall_us(j->clock),
        .seq = seq_take(j->seq),
        .log = j->seq->log,
    };
}

void journal_gap_in_log(struct journal *journal, struct event_log *log, const char *reason,
                        const char *msg, uint64_t lines)
{
    struct note gap = {.type = NOTE_GAP,
                       .level = INF_LOG_WARN,
                       .reason = reason,
                       .msg = msg,
                       .count = (int64_t)lines};
    struct stamp stamp = stamp_now(journal);
    if (event_log_accepts_note(log, NULL, NOTE_GAP)) /* also if it is full */
        log->format->put_note(&log->collected, &gap, &stamp, NULL, &log->record);
}

/* Reports the daemon records that each log has dropped, before its next record. */
static void report_dropped(struct journal *j)
{
    for_each_log(log, &j->logs) {
        uint64_t dropped = log->dropped_unreported;
        if (!dropped || !event_log_has_room(log))
            continue;
        log->dropped_unreported = 0;
        journal_gap_in_log(j, log, "dropped",
                           "this log could not be written: daemon records were dropped; no object "
                           "change was lost",
                           dropped);
    }
}

/* Whether an update is ignored; counts it if so. */
static bool is_ignored(struct journal_watch *watch, const struct inf_event *event,
                       const struct inf_diff *diff)
{
    bool unchanged = !inf_diff_count(diff) && !inf_diff_truncated(diff);
    if (unchanged ? !watch->info->ignore_unchanged && !watch->info->ignore_heartbeats
                  : !watch->info->ignore_heartbeats ||
                        !heartbeat_is(inf_object_kind(event->new_object), diff))
        return false;
    watch->unchanged += unchanged;
    watch->heartbeats += !unchanged;
    ignored_note(&watch->ignored, event);
    return true;
}

/* Takes a number and adds a line to each log that accepts the change; @first is one of them. */
static void write_change(struct journal *j, struct journal_watch *watch,
                         const struct inf_event *event, const char *reason, struct inf_diff *diff,
                         struct event_log *first)
{
    struct ignored_entry *before;
    struct change change;
    change_init(&change, &watch->info->id, event, diff);
    if (reason)
        change_set_reason(&change, reason);
    change.stamp.seq = seq_take(j->seq);
    change.stamp.log = j->seq->log;
    watch->events[event->verb]++;
    before = ignored_take(&watch->ignored, change.object);
    if (before && event->verb == INF_MODIFIED) {
        change.old_rv = before->rv;
        change.ignored = before->count;
    }
    for_each_log(log, &j->logs)
        if (log == first || event_log_accepts_change(log, watch->info->id.name, event))
            event_log_put_change(log, &change);
    free(before);
}

void journal_event(struct journal *journal, struct journal_watch *watch,
                   const struct inf_event *event, const char *reason)
{
    struct event_log *first = NULL;
    struct inf_diff *diff = NULL;
    if (event->origin == INF_RESYNC)
        return;
    report_dropped(journal);
    for_each_log(log, &journal->logs) {
        if (event_log_accepts_change(log, watch->info->id.name, event)) {
            first = log;
            break;
        }
    }
    if (!first) { /* the diff need not be computed */
        if (event->verb == INF_DELETED)
            free(ignored_take(&watch->ignored, event->old_object));
        return;
    }
    if (event->verb == INF_MODIFIED)
        diff = inf_diff_make(event->old_object, event->new_object, NULL, NULL);
    if (!diff || !is_ignored(watch, event, diff))
        write_change(journal, watch, event, reason, diff, first);
    inf_diff_free(diff);
}

/* ---- notes ---- */

/* @time_us 0: now. */
static void write_note(struct journal *j, const struct journal_watch *watch,
                       const struct note *note, int64_t time_us)
{
    const char *name = watch ? watch->info->id.name : NULL;
    struct stamp stamp = {0};
    report_dropped(j);
    for_each_log(log, &j->logs) {
        if (!event_log_accepts_note(log, name, note->type))
            continue;
        if (!stamp.log)
            stamp = stamp_now(j);
        if (time_us)
            stamp.time_us = time_us;
        event_log_put_note(log, note, &stamp, watch ? &watch->info->id : NULL);
    }
}

void journal_note(struct journal *journal, struct journal_watch *watch, const struct note *note)
{
    write_note(journal, watch, note, 0);
    journal_flush(journal);
}

void journal_gap(struct journal *journal, struct journal_watch *watch, const char *ns,
                 const struct inf_gap *gap)
{
    bool relist = gap->reason == INF_GAP_RELIST;
    struct note note = {
        .type = relist ? NOTE_RELIST : NOTE_GAP,
        .level = relist ? INF_LOG_INFO : INF_LOG_WARN,
        .reason = relist ? NULL : inf_gap_reason_name(gap->reason),
        .msg = gap->text,
        .ns = ns,
        .count = gap->reason == INF_GAP_DROPPED ? (int64_t)gap->dropped : -1,
    };
    watch->gaps++;
    write_note(journal, watch, &note, gap->received_us);
}

void journal_freshness(struct journal *journal, struct journal_watch *watch, const char *ns,
                       const struct inf_freshness *freshness)
{
    struct note note = {
        .type = freshness->stale ? NOTE_STALE : NOTE_RECOVERED,
        .level = freshness->stale ? INF_LOG_WARN : INF_LOG_INFO,
        .msg = freshness->text,
        .ns = ns,
        .count = -1,
    };
    write_note(journal, watch, &note, freshness->received_us);
}

void journal_synced(struct journal *journal, struct journal_watch *watch, size_t objects,
                    const char *version)
{
    char msg[160], at[96] = "";
    struct note note = {.type = NOTE_SYNCED,
                        .level = INF_LOG_INFO,
                        .msg = msg,
                        .version = version,
                        .count = (int64_t)objects};
    if (version)
        snprintf(at, sizeof(at), " at resourceVersion %.64s", version);
    snprintf(msg, sizeof(msg), "initial sync complete: %zu object%s%s", objects,
             objects == 1 ? "" : "s", at);
    write_note(journal, watch, &note, 0);
}

void journal_restarted(struct journal *journal, struct journal_watch *watch, const char *why)
{
    struct note note = {
        .type = NOTE_GAP, .level = INF_LOG_WARN, .reason = "restarted", .msg = why, .count = -1};
    watch->gaps++;
    journal_note(journal, watch, &note);
}

void journal_start(struct journal *journal)
{
    bool skipped = journal->seq->skipped;
    char msg[160];
    struct note note = {.type = NOTE_START,
                        .level = INF_LOG_INFO,
                        .reason = skipped ? "seq-skipped" : NULL,
                        .msg = msg,
                        .version = inf_version(),
                        .count = -1};
    snprintf(msg, sizeof(msg), "informerd %s started%s", inf_version(),
             skipped ? "; the previous run did not stop cleanly: seq skipped to the next block"
                     : "");
    journal_note(journal, NULL, &note);
}

void journal_stop(struct journal *journal, const char *why)
{
    struct note note = {.type = NOTE_STOP, .level = INF_LOG_INFO, .msg = why, .count = -1};
    journal_note(journal, NULL, &note);
}

/* ---- writing ---- */

static void on_seq_ready(struct seq *seq)
{
    journal_flush(seq->owner);
}

static void on_seq_trouble(struct seq *seq, int error)
{
    struct journal *j = seq->owner;
    char line[INF_ERROR_TEXT_MAX];
    if (error)
        snprintf(line, sizeof(line),
                 "state_dir %.200s: cannot reserve sequence numbers: %s; lines will wait when the "
                 "reserved ones are used up",
                 seq->dir, strerror(-error));
    else
        snprintf(line, sizeof(line), "state_dir %.200s: sequence numbers can be reserved again",
                 seq->dir);
    j->log(j->owner, error ? INF_LOG_ERROR : INF_LOG_INFO, line);
}

void journal_init(struct journal *journal, struct clock *clock, struct disk *disk, struct seq *seq)
{
    *journal = (struct journal){.clock = clock, .disk = disk, .seq = seq};
    list_init(&journal->logs);
    list_init(&journal->leaving);
    list_init(&journal->watches);
    seq->owner = journal;
    seq->on_ready = on_seq_ready;
    seq->on_trouble = on_seq_trouble;
}

void journal_flush(struct journal *journal)
{
    bool ready = seq_ready(journal->seq);
    for_each_log(log, &journal->logs) {
        if (ready)
            event_log_flush(log);
        else
            event_log_defer(log);
    }
    list_for_each_safe(node, &journal->leaving) {
        struct event_log *log = container_of(node, struct event_log, node);
        if (ready && log->sm.state != EVENT_LOG_CLOSING)
            event_log_flush(log);
    }
}

void journal_drain(struct journal *journal)
{
    journal->draining = true;
    journal_flush(journal);
    journal_check_drained(journal);
}

void journal_reopen(struct journal *journal)
{
    for_each_log(log, &journal->logs)
        event_log_reopen(log);
}
