/*
 * journal.c - makes records from events and gives them to the outputs that accept them.
 *
 * Normal path: journal_event() finds the first output that accepts the change, computes the diff,
 * takes a sequence number, and adds a line to each output that accepts it; journal_flush() releases
 * the lines for writing once their numbers are reserved. If reserving fails, the lines stay in the
 * outputs' buffers. A full output holds the watches that write to it; daemon records, which can't
 * be held, are dropped when its buffer is full, and a GAP reports their number.
 */
#include "daemon/journal/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "daemon/journal/heartbeat.h"
#include "daemon/journal/outlet.h"

/* ---- holding ---- */

static bool must_hold(struct journal *j, const struct journal_watch *watch)
{
    for_each_outlet(o, j)
        if (o->output.held && filter_takes_watch(o->filter, watch->info->id.name))
            return true;
    return false;
}

static void update_hold(struct journal *j, struct journal_watch *watch)
{
    bool hold = must_hold(j, watch);
    if (hold == watch->held)
        return;
    watch->held = hold;
    watch->on_hold(watch, hold);
}

void journal_weigh(struct journal *journal)
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

/* Reports the daemon records that were dropped, before the next record. */
static void report_dropped(struct journal *j, struct outlet *o)
{
    struct note gap = {.type = NOTE_GAP,
                       .level = INF_LOG_WARN,
                       .reason = "dropped",
                       .msg = "this log could not be written: daemon records were dropped; no "
                              "object change was lost",
                       .count = (int64_t)o->unsaid};
    struct stamp stamp;
    if (!o->unsaid || !output_has_room(&o->output))
        return;
    stamp = stamp_now(j);
    o->unsaid = 0;
    o->format->put_note(&o->output.collected, &gap, &stamp, NULL, &o->record);
}

static void report_all_dropped(struct journal *j)
{
    for_each_outlet(o, j)
        report_dropped(j, o);
}

static void put_gap(struct outlet *o, const char *reason, const char *msg, uint64_t lines)
{
    struct note gap = {.type = NOTE_GAP,
                       .level = INF_LOG_WARN,
                       .reason = reason,
                       .msg = msg,
                       .count = (int64_t)lines};
    struct stamp stamp = stamp_now(o->journal);
    if (o->notes & 1u << NOTE_GAP)
        o->format->put_note(&o->output.collected, &gap, &stamp, NULL, &o->record);
}

void journal_say_lost(struct outlet *o, uint64_t lines)
{
    put_gap(o, "unwritten",
            "lines of this log were not written before it was removed from the "
            "configuration",
            lines);
}

void journal_say_removed(struct outlet *o, uint64_t lines)
{
    put_gap(o, "removed", "the file of this log was removed while lines were written to it", lines);
}

static bool outlet_takes_change(const struct outlet *o, const struct journal_watch *watch,
                                const struct inf_event *event)
{
    return !o->output.lost && filter_takes_watch(o->filter, watch->info->id.name) &&
           filter_takes(o->filter, event);
}

static struct inf_diff *diff_of(const struct inf_event *event)
{
    if (event->verb != INF_MODIFIED)
        return NULL;
    return inf_diff_make(event->old_object, event->new_object, NULL, NULL);
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

/* Computes what all outputs need, and takes the number. False: the update is ignored. */
static bool prepare_change(struct journal *j, struct journal_watch *watch,
                           const struct inf_event *event, const char *reason, struct change *ret)
{
    struct inf_diff *diff = diff_of(event);
    if (diff && is_ignored(watch, event, diff)) {
        inf_diff_free(diff);
        return false;
    }
    change_init(ret, &watch->info->id, event, diff);
    if (reason)
        change_set_reason(ret, reason);
    ret->stamp.seq = seq_take(j->seq);
    ret->stamp.log = j->seq->log;
    watch->events[event->verb]++;
    return true;
}

/* NULL: no output accepts the change, so its diff need not be computed. */
static struct outlet *first_accepting_outlet(struct journal *j, const struct journal_watch *watch,
                                             const struct inf_event *event)
{
    for_each_outlet(o, j)
        if (outlet_takes_change(o, watch, event))
            return o;
    return NULL;
}

static void put_change_to_all(struct journal *j, struct journal_watch *watch, struct change *change,
                              struct outlet *first)
{
    struct ignored_entry *before = ignored_take(&watch->ignored, change->object);
    if (before && change->event->verb == INF_MODIFIED) {
        change->old_rv = before->rv;
        change->ignored = before->count;
    }
    for (struct outlet *o = first; &o->node != &j->outputs; o = outlet_after(o))
        if (o == first || outlet_takes_change(o, watch, change->event))
            o->format->put_change(&o->output.collected, change, &o->record);
    free(before);
}

void journal_event(struct journal *journal, struct journal_watch *watch,
                   const struct inf_event *event, const char *reason)
{
    struct outlet *first;
    struct change change;
    if (event->origin == INF_RESYNC)
        return;
    report_all_dropped(journal);
    first = first_accepting_outlet(journal, watch, event);
    if (!first && event->verb == INF_DELETED)
        free(ignored_take(&watch->ignored, event->old_object));
    if (!first || !prepare_change(journal, watch, event, reason, &change))
        return;
    put_change_to_all(journal, watch, &change, first);
    inf_diff_free(change.diff);
}

/* ---- notes ---- */

static bool outlet_takes_note(const struct outlet *o, const struct journal_watch *watch,
                              enum note_type type)
{
    return o->notes & 1u << type && !o->output.lost &&
           (!watch || filter_takes_watch(o->filter, watch->info->id.name));
}

static bool any_takes_note(struct journal *j, const struct journal_watch *watch,
                           enum note_type type)
{
    for_each_outlet(o, j)
        if (outlet_takes_note(o, watch, type))
            return true;
    return false;
}

static void write_note(struct journal *j, const struct journal_watch *watch,
                       const struct note *note, int64_t time_us)
{
    struct stamp stamp;
    report_all_dropped(j);
    if (!any_takes_note(j, watch, note->type))
        return;
    stamp = stamp_now(j);
    if (time_us)
        stamp.time_us = time_us;
    for_each_outlet(o, j) {
        if (!outlet_takes_note(o, watch, note->type))
            continue;
        if (output_has_room(&o->output)) {
            o->format->put_note(&o->output.collected, note, &stamp, watch ? &watch->info->id : NULL,
                                &o->record);
        } else {
            o->dropped++;
            o->unsaid++;
        }
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
    list_init(&journal->outputs);
    list_init(&journal->leaving);
    list_init(&journal->watches);
    seq->owner = journal;
    seq->on_ready = on_seq_ready;
    seq->on_trouble = on_seq_trouble;
}

void journal_flush(struct journal *journal)
{
    bool ready = seq_ready(journal->seq);
    for_each_outlet(o, journal) {
        if (ready)
            output_flush(&o->output);
        else
            output_wait(&o->output);
    }
    list_for_each_safe(node, &journal->leaving) {
        struct outlet *o = container_of(node, struct outlet, node);
        if (ready && !o->output.closing)
            output_flush(&o->output);
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
    for_each_outlet(o, journal)
        output_reopen(&o->output);
}
