/*
 * journal.c - makes records from events and gives them to the event logs that accept them.
 *
 * Normal path: journal_event() finds the first log that accepts the change, computes the diff, takes a
 * sequence number, and adds a line to each log that accepts it; journal_flush() releases the lines for
 * writing once their numbers are reserved and, with state on disk, the lines are saved there. If reserving fails, the lines stay in the buffers of the
 * logs. The other outputs get each change in the same way. A full log holds the watches that write to it; daemon records, which can't be held, are
 * dropped when its buffer is full, and a GAP reports their number.
 */
#include "daemon/journal/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "daemon/journal/heartbeat.h"
#include "daemon/journal/noise.h"

/* ---- holding ---- */

const char *journal_holder(const struct journal *journal, const char *watch, bool *ret_is_log)
{
    bool is_log = true;
    ret_is_log = ret_is_log ? ret_is_log : &is_log;
    *ret_is_log = true;
    for_each_log(log, &journal->logs)
        if (log->held && filter_accepts_watch(log->filter, watch))
            return log->name;
    *ret_is_log = false;
    for_each_output(output, &journal->outputs)
        if (output->held && filter_accepts_watch(output->filter, watch))
            return output->name;
    return NULL;
}

/* A watch is held while a log to which it writes is full. */
static void update_hold(struct journal *j, struct journal_watch *watch)
{
    bool hold = journal_holder(j, watch->info->id.name, NULL);
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

void journal_set_levels(struct journal *journal, struct level_rules *levels)
{
    level_rules_free(journal->levels);
    journal->levels = levels;
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
        event_log_add_note(log, &gap, &stamp, NULL);
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
    const struct watch_info *info = watch->info;
    const char *kind = inf_object_kind(event->new_object);
    if (!inf_diff_count(diff) && !inf_diff_truncated(diff)) {
        if (!info->ignore_unchanged && !info->ignore_heartbeats)
            return false;
        watch->unchanged++;
    } else if (info->ignore_heartbeats && heartbeat_is(kind, diff)) {
        watch->heartbeats++;
    } else if (noise_is(info->noise, kind, diff)) {
        watch->noise++;
    } else {
        return false;
    }
    ignored_note(&watch->ignored, event);
    return true;
}

/* Whether @log gets a line about the change; @first is known to accept the event. */
static bool log_accepts(const struct event_log *log, const struct event_log *first,
                        const struct change *change)
{
    return filter_accepts_level(log->filter, change->level) &&
           (log == first || event_log_accepts_change(log, change->watch->name, change->event));
}

static bool output_accepts_change(const struct journal_output *output, const struct change *change)
{
    return output->accepts && filter_accepts_level(output->filter, change->level);
}

static bool any_accepts(struct journal *j, const struct event_log *first,
                        const struct change *change)
{
    for_each_log(log, &j->logs)
        if (log_accepts(log, first, change))
            return true;
    for_each_output(output, &j->outputs)
        if (output_accepts_change(output, change))
            return true;
    return false;
}

/* Finds out which outputs accept the event, apart from its level. Returns whether any does. */
static bool ask_outputs(struct journal *j, const char *watch, const struct inf_event *event)
{
    bool any = false;
    for_each_output(output, &j->outputs) {
        output->accepts =
            filter_accepts_watch(output->filter, watch) && filter_accepts(output->filter, event);
        any |= output->accepts;
    }
    return any;
}

/* Takes a number and gives the change to each log and output that accepts it; @first, if there is one,
 * does unless its level is too low. */
static void write_change(struct journal *j, struct journal_watch *watch,
                         const struct inf_event *event, const char *reason, struct inf_diff *diff,
                         struct event_log *first)
{
    struct ignored_entry *before;
    struct line_diffs *lines;
    struct change change;
    change_init(&change, &j->reader, &watch->info->id, event, diff);
    if (reason)
        change_set_reason(&change, reason);
    level_rules_apply(j->levels, &change);
    before = ignored_take(&watch->ignored, change.object);
    if (!any_accepts(j, first, &change)) {
        free(before);
        return;
    }
    change.lines = lines = diff ? line_diffs_make(diff, event) : NULL;
    change.stamp.seq = seq_take(j->seq);
    change.stamp.log = j->seq->log;
    change.stream = watch->info->stream;
    change.cache_version = watch->info->cache_version;
    watch->events[event->verb]++;
    if (before && event->verb == INF_MODIFIED) {
        change.old_rv = before->rv;
        change.ignored = before->count;
    }
    for_each_log(log, &j->logs)
        if (log_accepts(log, first, &change))
            event_log_put_change(log, &change);
    for_each_output(output, &j->outputs)
        if (output_accepts_change(output, &change))
            output->ops->put_change(output, &change);
    line_diffs_free(lines);
    free(before);
}

void journal_follow(struct journal *journal, struct journal_follower *follower)
{
    list_push(&journal->followers, &follower->node);
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
    if (!ask_outputs(journal, watch->info->id.name, event) && !first) {
        /* the diff need not be computed */
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
        if (watch)
            event_log_release_events(log, &watch->info->id);
        if (!event_log_accepts_note(log, name, note->type))
            continue;
        if (!stamp.log)
            stamp = stamp_now(j);
        if (time_us)
            stamp.time_us = time_us;
        event_log_put_note(log, note, &stamp, watch ? &watch->info->id : NULL);
    }
    for_each_output(output, &j->outputs) {
        if (!output->ops->put_note || (name && !filter_accepts_watch(output->filter, name)))
            continue;
        if (!stamp.log)
            stamp = stamp_now(j);
        if (time_us)
            stamp.time_us = time_us;
        output->ops->put_note(output, note, &stamp, watch ? &watch->info->id : NULL);
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
    watch->compared |= relist;
    write_note(journal, watch, &note, gap->received_us);
}

void journal_position(struct journal *journal, const struct journal_watch *watch,
                      const char *stream, const char *version)
{
    for_each_output(output, &journal->outputs)
        if (output->ops->position && filter_accepts_watch(output->filter, watch->info->id.name))
            output->ops->position(output, &watch->info->id, stream, version);
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

/* After a power loss, see log_ahead.h: objects of the log of which a list had no difference to the saved
 * state. */
static void report_unconfirmed(struct journal *j, struct journal_watch *watch,
                               struct event_log *log)
{
    struct buf msg = {0}, names = {0};
    struct note gap = {
        .type = NOTE_GAP, .level = INF_LOG_WARN, .reason = "power-loss", .count = -1};
    struct stamp stamp;
    size_t n = log->ahead ? log_ahead_forget_watch(log->ahead, &watch->info->id, &names) : 0;
    if (n && event_log_accepts_note(log, watch->info->id.name, NOTE_GAP)) {
        buf_printf(&msg,
                   "after a power loss: %zu object%s that this log has may have been deleted "
                   "meanwhile: %.*s",
                   n, n == 1 ? "" : "s", (int)names.len, names.bytes);
        buf_putc(&msg, '\0');
        gap.msg = msg.bytes;
        stamp = stamp_now(j);
        event_log_add_note(log, &gap, &stamp, &watch->info->id);
    }
    buf_free(&names);
    buf_free(&msg);
}

static void report_all_unconfirmed(struct journal *j, struct journal_watch *watch)
{
    for_each_log(log, &j->logs)
        if (watch->compared)
            report_unconfirmed(j, watch, log);
    watch->compared = false;
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
    snprintf(msg, sizeof(msg), "%s: %zu object%s%s",
             watch->info->resumed ? "resumed from the saved state" : "initial sync complete",
             objects, objects == 1 ? "" : "s", at);
    report_all_unconfirmed(journal, watch);
    write_note(journal, watch, &note, 0);
}

void journal_restarted(struct journal *journal, struct journal_watch *watch, const char *why)
{
    struct note note = {
        .type = NOTE_GAP, .level = INF_LOG_WARN, .reason = "restarted", .msg = why, .count = -1};
    watch->gaps++;
    journal_note(journal, watch, &note);
}

void journal_start(struct journal *journal, const char *state)
{
    bool skipped = journal->seq->skipped;
    char msg[600];
    struct note note = {.type = NOTE_START,
                        .level = INF_LOG_INFO,
                        .reason = skipped ? "seq-skipped" : NULL,
                        .msg = msg,
                        .version = inf_version(),
                        .count = -1};
    snprintf(msg, sizeof(msg), "informerd %s started%s%.440s", inf_version(),
             skipped ? "; the previous run did not stop cleanly: seq skipped to the next block"
                     : "",
             state);
    journal->ahead_from = 0;
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
    list_init(&journal->outputs);
    list_init(&journal->watches);
    list_init(&journal->followers);
    change_reader_init(&journal->reader);
    seq->owner = journal;
    seq->on_ready = on_seq_ready;
    seq->on_trouble = on_seq_trouble;
}

static void each_open_log(struct journal *j, void (*apply)(struct event_log *log))
{
    for_each_log(log, &j->logs)
        apply(log);
    list_for_each_safe(node, &j->leaving) {
        struct event_log *log = container_of(node, struct event_log, node);
        if (log->sm.state != EVENT_LOG_CLOSING)
            apply(log);
    }
}

static void save_outputs(struct journal *j)
{
    for_each_output(output, &j->outputs)
        output->ops->save(output);
}

static void release_outputs(struct journal *j)
{
    for_each_output(output, &j->outputs)
        output->ops->release(output);
}

/* Everything that was noted and collected goes into one batch. What comes while it is written goes
 * into the next one. */
static void save_lines(struct journal *j)
{
    each_open_log(j, event_log_defer);
    if (j->saving != JOURNAL_NOT_SAVING) {
        j->saving = JOURNAL_SAVING_AGAIN;
        return;
    }
    j->saving = JOURNAL_SAVING;
    each_open_log(j, event_log_save);
    save_outputs(j);
    inf_state_mark(j->state, j->seq->next);
    j->saving_flush = inf_state_flush(j->state);
}

/* The state also reports writes of its own: they say nothing about a later flush. */
void journal_saved(struct journal *journal, uint64_t flush)
{
    bool again = journal->saving == JOURNAL_SAVING_AGAIN;
    if (flush < journal->saving_flush)
        return;
    journal->saving = JOURNAL_NOT_SAVING;
    each_open_log(journal, event_log_release_saved);
    release_outputs(journal);
    if (again)
        journal_flush(journal);
}

void journal_flush(struct journal *journal)
{
    if (!seq_ready(journal->seq)) {
        each_open_log(journal, event_log_defer);
    } else if (journal->state && inf_state_is_active(journal->state)) {
        save_lines(journal);
    } else {
        each_open_log(journal, event_log_save); /* counted, but not written */
        each_open_log(journal, event_log_flush);
        save_outputs(journal);
        release_outputs(journal);
    }
}

void journal_collect(struct journal *journal)
{
    for_each_log(log, &journal->logs) {
        event_log_collect(log);
        if (journal->closing) /* that was the last line, and the journal was draining */
            return;
    }
}

void journal_drain(struct journal *journal)
{
    for_each_log(log, &journal->logs)
        event_log_release_events(log, NULL);
    journal_flush(journal);
    journal_collect(journal);
    journal->draining = true;
    journal_check_drained(journal);
}

void journal_set_width(struct journal *journal, unsigned width)
{
    for_each_log(log, &journal->logs)
        if (log->sink->type->inherited)
            log->record.width = width;
}

void journal_reopen(struct journal *journal)
{
    for_each_log(log, &journal->logs)
        event_log_reopen(log);
}
