/*
 * event_log_lines.c - the lines of an event log until they are written: which ones it accepts, their
 * format, and the two buffers that hold them.
 *
 * Normal path: a record that the filter accepts is formatted into `collected`. When the journal
 * releases it, and all of `writing` is written, it moves there. A log with too many collected lines
 * holds its watches until enough of them are written. Unwritten bytes are charged to the budget. With
 * state on disk, lines are first added to a queue there, so that the next run can write what this one
 * did not.
 * Changes are never dropped here; notes are, and counted, if there is no room.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "daemon/output/event_log.h"

/* ---- format and filter ---- */

void event_log_release_format(struct event_log *log)
{
    if (log->format)
        record_format_release(log->format, log->record.state);
    free(log->format_argument);
}

void *event_log_take_format(struct event_log *log, const struct event_log_settings *settings)
{
    const struct record_format *format = settings->format ? settings->format : &jsonl_format;
    void *state;
    if (log->format == format && cstr_eq(log->format_argument, settings->format_argument))
        return log->record.state;
    if (record_format_prepare(format, settings->format_argument, &state, NULL) < 0)
        abort(); /* UNTESTED: the conf checks it */
    event_log_release_format(log);
    log->format = format;
    log->format_argument = settings->format_argument ? xstrdup(settings->format_argument) : NULL;
    return state;
}

bool event_log_accepts_change(const struct event_log *log, const char *watch,
                              const struct inf_event *event)
{
    return log->sm.state != EVENT_LOG_LOST && filter_accepts_watch(log->filter, watch) &&
           filter_accepts(log->filter, event);
}

bool event_log_accepts_note(const struct event_log *log, const char *watch, enum note_type type)
{
    return (log->format->put_note || type == NOTE_GAP) && log->notes & 1u << type &&
           log->sm.state != EVENT_LOG_LOST && (!watch || filter_accepts_watch(log->filter, watch));
}

/* ---- collecting ---- */

void event_log_release_events(struct event_log *log, const struct watch_id *watch)
{
    if (watch && !event_order_has(&log->order, watch))
        return;
    timer_stop(log->clock, &log->order_timer);
    event_order_release(&log->order, &log->collected);
}

void event_log_on_order_timer(struct timer *timer)
{
    struct event_log *log = container_of(timer, struct event_log, order_timer);
    event_log_release_events(log, NULL);
    log->order.is_over = true;
    log->events->on_lines(log);
}

static void collect_event(struct event_log *log, const struct change *change)
{
    if (!log->order.text.len)
        timer_start(log->clock, &log->order_timer, EVENT_ORDER_MS);
    event_order_add(&log->order, log->format, change, &log->record);
    if (log->order.text.len >= EVENT_ORDER_BYTES_MAX) {
        event_log_release_events(log, NULL);
        log->order.is_over = true;
    }
}

/* The log has a version of the object that is between the states of @change, see log_ahead.h: what it has
 * of it is replaced. */
static void put_replacement(struct event_log *log, const struct change *change, const char *old_rv)
{
    struct inf_event event = *change->event;
    struct change other = *change;
    event.verb = INF_MODIFIED;
    other.event = &event;
    other.old_rv = old_rv;
    other.old_unknown = true;
    other.ignored = 0;
    other.diff = NULL;
    other.lines = NULL;
    log->format->put_change(&log->collected, &other, &log->record);
}

void event_log_put_change(struct event_log *log, const struct change *change)
{
    const char *rv = NULL;
    switch (log_ahead_check(log->ahead, change, &rv)) {
    case LOG_AHEAD_NOT: break;
    case LOG_AHEAD_WRITTEN: return;
    case LOG_AHEAD_UNKNOWN: put_replacement(log, change, rv); return;
    }
    if (log->format->orders_events && event_order_takes(&log->order, change)) {
        collect_event(log, change);
        return;
    }
    if (change->is_core_event && log->order.text.len)
        event_log_release_events(log, NULL); /* the record of an Event follows its ADDED */
    log->format->put_change(&log->collected, change, &log->record);
}

void event_log_add_note(struct event_log *log, const struct note *note, const struct stamp *stamp,
                        const struct watch_id *watch)
{
    char *line;
    if (log->format->put_note) {
        log->format->put_note(&log->collected, note, stamp, watch, &log->record);
        return;
    }
    line = xasprintf("%s%s%s", watch ? watch->name : "", watch ? ": " : "", note->msg);
    log->events->on_log(log, note->level, line);
    free(line);
}

void event_log_put_note(struct event_log *log, const struct note *note, const struct stamp *stamp,
                        const struct watch_id *watch)
{
    if (event_log_has_room(log)) {
        event_log_add_note(log, note, stamp, watch);
        return;
    }
    log->dropped++;
    log->dropped_unreported++;
}

/* ---- the queue on disk ---- */

void event_log_save(struct event_log *log)
{
    if (!log->queue)
        return;
    if (log->saved < log->collected.len)
        inf_state_queue_add(log->queue, log->collected.bytes + log->saved,
                            log->collected.len - log->saved);
    log->saved = log->collected.len;
}

/* Only complete lines: the next run looks for whole lines in the file. */
void event_log_confirm(struct event_log *log)
{
    const char *newline = log->written ? memrchr(log->writing.bytes, '\n', log->written) : NULL;
    size_t complete = newline ? (size_t)(newline - log->writing.bytes) + 1 : 0;
    size_t unwritten = log->writing.len - complete + log->saved;
    if (log->queue)
        inf_state_queue_confirm(log->queue, inf_state_queue_end(log->queue) - unwritten);
}

/* ---- buffers ---- */

size_t event_log_unwritten(const struct event_log *log)
{
    return log->writing.len - log->written + log->collected.len;
}

uint64_t event_log_unwritten_lines(const struct event_log *log)
{
    uint64_t lines = sink_count_lines(log->collected.bytes, log->collected.len);
    if (log->written < log->writing.len)
        lines +=
            sink_count_lines(log->writing.bytes + log->written, log->writing.len - log->written);
    return lines;
}

bool event_log_has_room(const struct event_log *log)
{
    return log->collected.len < EVENT_LOG_MAX;
}

void event_log_charge(struct event_log *log)
{
    size_t now = event_log_unwritten(log);
    inf_budget_add(log->budget, (ptrdiff_t)now - (ptrdiff_t)log->charged);
    log->charged = now;
}

void event_log_update_hold(struct event_log *log)
{
    bool hold = log->reading_ahead || (log->held ? log->collected.len > EVENT_LOG_LOW
                                                 : log->collected.len >= EVENT_LOG_HIGH);
    event_log_charge(log);
    if (hold == log->held)
        return;
    log->held = hold;
    log->events->on_hold(log);
}

void event_log_take_released(struct event_log *log)
{
    struct buf empty = log->writing;
    buf_clear(&empty);
    log->written = 0;
    log->writing_ms = log->collected_ms;
    log->collected_ms = log->released < log->collected.len ? log->deferred_ms : EVENT_LOG_NONE;
    if (log->released == log->collected.len) {
        log->writing = log->collected;
        log->collected = empty;
    } else {
        log->writing = empty;
        buf_put(&log->writing, log->collected.bytes, log->released);
        buf_consume(&log->collected, log->released);
    }
    log->saved -= log->queue ? log->released : 0;
    log->released = 0;
    event_log_update_hold(log);
}
