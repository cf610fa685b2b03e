/*
 * event_log.c - writes the collected lines, one operation of the sink at a time.
 *
 * Normal path: event_log_lines.c collects lines. When no operation is in flight (READY),
 * continue_log() decides what to do next and starts it: open, check, rotate or write. The end of each
 * operation calls it again. A failure is reported once and retried by a timer with growing delays; an
 * inherited descriptor that fails is given up.
 */
#include "daemon/output/event_log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"

enum {
    AHEAD_SLICE = 16, /* records read between two looks at the budget */
};

#define TO_AFTER_OPERATION (SM_TO(EVENT_LOG_READY) | SM_TO(EVENT_LOG_CLOSING))

static const struct sm_state states[] = {
    [EVENT_LOG_WAITING] = {"waiting", SM_TO(EVENT_LOG_READY) | SM_TO(EVENT_LOG_CLOSING)},
    [EVENT_LOG_READY] = {"ready", SM_TO(EVENT_LOG_RECALLING) | SM_TO(EVENT_LOG_OPENING) |
                                      SM_TO(EVENT_LOG_CHECKING) | SM_TO(EVENT_LOG_ROTATING) |
                                      SM_TO(EVENT_LOG_WRITING) | SM_TO(EVENT_LOG_REOPENING) |
                                      SM_TO(EVENT_LOG_RETRYING) | SM_TO(EVENT_LOG_LOST) |
                                      SM_TO(EVENT_LOG_CLOSING)},
    [EVENT_LOG_RECALLING] = {"recalling", TO_AFTER_OPERATION},
    [EVENT_LOG_OPENING] = {"opening", TO_AFTER_OPERATION},
    [EVENT_LOG_CHECKING] = {"checking", TO_AFTER_OPERATION},
    [EVENT_LOG_ROTATING] = {"rotating", TO_AFTER_OPERATION},
    [EVENT_LOG_WRITING] = {"writing", TO_AFTER_OPERATION},
    [EVENT_LOG_REOPENING] = {"reopening", TO_AFTER_OPERATION},
    [EVENT_LOG_RETRYING] = {"retrying", SM_TO(EVENT_LOG_READY) | SM_TO(EVENT_LOG_CLOSING)},
    [EVENT_LOG_LOST] = {"lost", SM_TO(EVENT_LOG_CLOSING)},
    [EVENT_LOG_CLOSING] = {"closing", 0},
};

static void continue_log(struct event_log *log);

bool event_log_is_busy(const struct event_log *log)
{
    switch ((enum event_log_state)log->sm.state) {
    case EVENT_LOG_RECALLING:
    case EVENT_LOG_OPENING:
    case EVENT_LOG_CHECKING:
    case EVENT_LOG_ROTATING:
    case EVENT_LOG_WRITING:
    case EVENT_LOG_REOPENING: return true;
    case EVENT_LOG_WAITING:
    case EVENT_LOG_READY:
    case EVENT_LOG_RETRYING:
    case EVENT_LOG_LOST:
    case EVENT_LOG_CLOSING: break;
    }
    return false;
}

bool event_log_is_idle(const struct event_log *log)
{
    return !event_log_is_busy(log) && !event_log_unwritten(log);
}

bool event_log_is_failing(const struct event_log *log)
{
    return log->failing_ms != EVENT_LOG_NONE;
}

/* ---- releasing lines ---- */

static void release_lines(struct event_log *log, size_t len)
{
    if (log->sm.state == EVENT_LOG_LOST) {
        buf_clear(&log->collected);
        log->saved = 0;
        event_log_confirm(log);
        return;
    }
    log->released = len;
    event_log_note_lines(log, len == log->collected.len);
    if (log->released) {
        event_log_collect(log);
        continue_log(log);
    }
    event_log_update_hold(log);
}

void event_log_collect(struct event_log *log)
{
    const struct sink_type *type = log->sink->type;
    if (log->sm.state == EVENT_LOG_WRITING && type->collect_write)
        type->collect_write(log->sink);
}

void event_log_flush(struct event_log *log)
{
    release_lines(log, log->collected.len);
}

void event_log_release_saved(struct event_log *log)
{
    release_lines(log, log->saved);
}

void event_log_defer(struct event_log *log)
{
    event_log_note_lines(log, false);
    event_log_update_hold(log);
}

/* ---- failures ---- */

const char *event_log_error_text(const struct event_log *log, int error)
{
    const struct sink_type *type = log->sink->type;
    const char *text = type->error_text ? type->error_text(log->sink, error) : NULL;
    return text ? text : strerror(-error);
}

static void retry_after(struct event_log *log, uint64_t ms, const char *why)
{
    sm_move(&log->sm, EVENT_LOG_RETRYING, "%s", why);
    timer_start(log->clock, &log->retry, ms);
}

static void stop_retrying(struct event_log *log, const char *why)
{
    timer_stop(log->clock, &log->retry);
    if (log->sm.state == EVENT_LOG_RETRYING)
        sm_move(&log->sm, EVENT_LOG_READY, "%s", why);
}

static void on_retry(struct timer *timer)
{
    struct event_log *log = container_of(timer, struct event_log, retry);
    stop_retrying(log, "time to retry");
    continue_log(log);
}

static void fail_log(struct event_log *log, int error)
{
    log->error = error;
    if (log->sink->type->inherited) {
        sm_move(&log->sm, EVENT_LOG_LOST, "%s", strerror(-error));
        buf_clear(&log->collected);
        buf_clear(&log->writing);
        log->released = log->saved = log->written = 0;
        event_log_confirm(log);
        event_log_update_hold(log);
        log->events->on_lost(log, error);
        return;
    }
    if (!event_log_is_failing(log)) {
        log->failing_ms = clock_now_ms(log->clock);
        log->failures++;
        sink_log(log->sink, INF_LOG_ERROR, "%s; lines are buffered, retrying until it works",
                 event_log_error_text(log, error));
    }
    event_log_note_progress(log);
    retry_after(log, backoff_ms(EVENT_LOG_RETRY_MIN_MS, EVENT_LOG_RETRY_MAX_MS, log->retries++),
                strerror(-error));
}

static void recover_log(struct event_log *log)
{
    log->retries = 0;
    if (!event_log_is_failing(log))
        return;
    log->failing_ms = EVENT_LOG_NONE;
    sink_log(log->sink, INF_LOG_INFO, "writable again; no change was lost");
}

/* ---- starting operations ---- */

static bool is_mid_line(const struct event_log *log)
{
    return log->written && log->writing.bytes[log->written - 1] != '\n';
}

/* An idle log does not keep a large buffer. */
static void free_large_buffer(struct buf *b)
{
    if (!b->len && b->cap > EVENT_LOG_LOW)
        buf_free(b);
}

static void become_idle(struct event_log *log)
{
    log->written = 0;
    buf_clear(&log->writing);
    free_large_buffer(&log->writing);
    free_large_buffer(&log->collected);
    recover_log(log);
    event_log_note_progress(log);
    if (log->finishing && !event_log_unwritten(log)) {
        event_log_close(log);
        return;
    }
    event_log_update_hold(log);
    log->events->on_idle(log);
}

static void write_or_rotate(struct event_log *log)
{
    struct sink *sink = log->sink;
    struct str rest = {log->writing.bytes + log->written, log->writing.len - log->written};
    size_t len = sink->type->room ? sink->type->room(sink, rest, is_mid_line(log)) : rest.len;
    if (len) {
        sm_move(&log->sm, EVENT_LOG_WRITING, "%zu bytes", len);
        if (sink->type->inherited && log->events->on_print)
            log->events->on_print(log);
        sink->type->write(sink, rest.at, len);
    } else {
        sm_move(&log->sm, EVENT_LOG_ROTATING, "the file is full");
        sink->type->rotate(sink);
    }
}

static void continue_log(struct event_log *log)
{
    struct sink *sink = log->sink;
    const struct sink_type *type = sink->type;
    bool all_written = log->written == log->writing.len;
    bool pending = !all_written || log->released;
    if (log->sm.state != EVENT_LOG_READY)
        return;
    if (log->recall) {
        sm_move(&log->sm, EVENT_LOG_RECALLING, "%zu bytes of the previous run", log->writing.len);
        type->recall(sink, log->writing.bytes, log->writing.len);
    } else if (!sink->open) {
        sm_move(&log->sm, EVENT_LOG_OPENING, "not open");
        sink->reopen = false;
        type->open(sink);
    } else if (type->check && type->check_due(sink, false)) {
        sm_move(&log->sm, EVENT_LOG_CHECKING, "after writing");
        type->check(sink);
    } else if (sink->reopen) {
        sm_move(&log->sm, EVENT_LOG_REOPENING, "to be opened again");
        type->close(sink);
    } else if (!pending) {
        become_idle(log);
    } else if (type->check && type->check_due(sink, true)) {
        sm_move(&log->sm, EVENT_LOG_CHECKING, "before writing");
        type->check(sink);
    } else {
        if (all_written)
            event_log_take_released(log);
        write_or_rotate(log);
    }
}

/* ---- ends of operations ---- */

static void after_write(struct event_log *log, int64_t result)
{
    if (result > 0) {
        log->written += (size_t)result;
        log->bytes += (uint64_t)result;
        event_log_confirm(log);
        if (log->written == log->writing.len) {
            log->writing_ms = EVENT_LOG_NONE;
            recover_log(log);
            event_log_note_progress(log);
        }
        if (log->events->on_written)
            log->events->on_written(log);
    } else if (result == -EAGAIN) {
        retry_after(log, EVENT_LOG_AGAIN_MS, "full for a moment");
    } else if (result != -EINTR) {
        fail_log(log, result ? (int)result : -EIO);
    }
}

static void after_recall(struct event_log *log, size_t found)
{
    log->recall = false;
    log->written = found;
    event_log_confirm(log);
    if (log->written < log->writing.len)
        sink_log(log->sink, INF_LOG_INFO, "writing %zu bytes that the previous run did not write",
                 log->writing.len - log->written);
    event_log_charge(log);
}

static void report_reopened(struct event_log *log)
{
    log->reopen_requested = false;
    sink_log(log->sink, INF_LOG_INFO, "reopened");
}

static void after_open(struct event_log *log)
{
    while (is_mid_line(log) && !log->sink->continued) /* the file does not have its beginning */
        log->written--;
    if (log->reopen_requested && !log->sink->reopen)
        report_reopened(log);
}

static void finish_closing(struct event_log *log);

static void on_done(struct sink *sink, int64_t result)
{
    struct event_log *log = sink->owner;
    enum event_log_state state = (enum event_log_state)log->sm.state;
    if (state == EVENT_LOG_CLOSING) {
        finish_closing(log);
        return;
    }
    sm_move(&log->sm, EVENT_LOG_READY, "%" PRId64, result);
    if (state == EVENT_LOG_WRITING)
        after_write(log, result);
    else if (result < 0)
        fail_log(log, (int)result);
    else if (state == EVENT_LOG_RECALLING)
        after_recall(log, (size_t)result);
    else if (state == EVENT_LOG_OPENING)
        after_open(log);
    else if (state == EVENT_LOG_CHECKING && result > 0)
        log->events->on_removed(log, (uint64_t)result);
    continue_log(log);
}

/* ---- life ---- */

static void on_sink_log(struct sink *sink, enum inf_log_level level, const char *line)
{
    struct event_log *log = sink->owner;
    if (log->sm.state != EVENT_LOG_CLOSING)
        log->events->on_log(log, level, line);
}

static void on_deadline(struct timer *timer)
{
    event_log_close(container_of(timer, struct event_log, deadline));
}

void event_log_init(struct event_log *log, struct clock *clock, struct disk *disk,
                    struct inf_budget *budget, const char *target,
                    const struct event_log_events *events)
{
    const struct sink_type *type = sink_type_for(target);
    *log = (struct event_log){.clock = clock,
                              .events = events,
                              .name = xstrdup(target),
                              .budget = budget,
                              .retry.fire = on_retry,
                              .deadline.fire = on_deadline,
                              .order_timer.fire = event_log_on_order_timer};
    sm_init(&log->sm, states, EVENT_LOG_WAITING, log->name, NULL);
    log->sink = type->make(log->name, clock, disk);
    log->sink->type = type;
    log->sink->name = log->name;
    log->sink->owner = log;
    log->sink->on_done = on_done;
    log->sink->on_log = on_sink_log;
    event_log_health_init(log);
}

void event_log_configure(struct event_log *log, const struct event_log_settings *settings,
                         struct filter *filter, struct record_fields *fields)
{
    void *state;
    filter_free(log->filter);
    log->filter = filter;
    record_fields_free(log->fields);
    log->fields = fields;
    state = event_log_take_format(log, settings);
    log->record = settings->record;
    log->record.state = state;
    log->record.fields = fields;
    if (!log->record.max_line)
        log->record.max_line = RECORD_LINE_DEFAULT;
    log->notes = settings->notes ? settings->notes : ~0u;
    log->stuck_after_ms = settings->stuck_after_ms;
    log->sink->type->configure(log->sink, &settings->sink);
    event_log_note_progress(log);
}

void event_log_restore(struct event_log *log, struct inf_state_queue *queue)
{
    const char *lines;
    size_t len;
    assert(log->sm.state == EVENT_LOG_WAITING && !log->writing.len);
    log->queue = queue;
    if (!queue || !inf_state_queue_pending(queue, &lines, &len, &(uint64_t){0}))
        return;
    buf_put(&log->writing, lines, len);
    log->writing_ms = clock_now_ms(log->clock);
    log->recall = log->sink->type->recall;
    event_log_charge(log);
}

static void end_reading_ahead(struct event_log *log)
{
    timer_stop(log->clock, &log->ahead_timer);
    log->reading_ahead = false;
    event_log_update_hold(log);
}

/* A file that can't be read now holds no watch: then changes may be written twice. */
static void on_ahead_timer(struct timer *timer)
{
    end_reading_ahead(container_of(timer, struct event_log, ahead_timer));
}

/* A power loss may have left thousands of records. */
static bool on_tail(struct sink *sink, struct str *tail, bool cut)
{
    struct event_log *log = sink->owner;
    while (log_ahead_read(log->ahead, tail, cut, AHEAD_SLICE))
        if (clock_over_budget(log->clock))
            return true;
    if (log->ahead->count)
        sink_log(sink, INF_LOG_WARN, "has changes of %zu object%s that the saved state has lost%s",
                 log->ahead->count, log->ahead->count == 1 ? "" : "s",
                 log->ahead->partial ? ", and perhaps more; those are written again"
                                     : "; they are not written again");
    end_reading_ahead(log);
    return false;
}

void event_log_restore_ahead(struct event_log *event_log, const char *log, uint64_t from)
{
    assert(event_log->sm.state == EVENT_LOG_WAITING && !event_log->ahead);
    if (!event_log->sink->type->recall || event_log->format != &jsonl_format)
        return;
    event_log->ahead = log_ahead_new(log, from);
    event_log->sink->on_tail = on_tail;
    event_log->sink->tail_more = LOG_AHEAD_TAIL;
    event_log->recall = event_log->reading_ahead = true;
    event_log->ahead_timer.fire = on_ahead_timer;
    timer_start(event_log->clock, &event_log->ahead_timer, EVENT_LOG_AHEAD_MS);
    event_log_update_hold(event_log);
}

void event_log_begin(struct event_log *log)
{
    sm_move(&log->sm, EVENT_LOG_READY, "may open its sink");
    continue_log(log);
}

void event_log_reopen(struct event_log *log)
{
    if (log->sink->type->inherited || log->sm.state == EVENT_LOG_CLOSING)
        return;
    log->sink->reopen = log->reopen_requested = true;
    stop_retrying(log, "the cause may have been fixed");
    event_log_collect(log);
    continue_log(log);
}

void event_log_finish(struct event_log *log)
{
    assert(!log->finishing && log->sm.state != EVENT_LOG_CLOSING);
    if (log->sm.state == EVENT_LOG_LOST) {
        event_log_close(log);
        return;
    }
    log->finishing = true;
    timer_start(log->clock, &log->deadline, EVENT_LOG_FINISH_MS);
    stop_retrying(log, "last attempts");
    event_log_collect(log);
    continue_log(log);
}

void event_log_resume(struct event_log *log)
{
    assert(log->finishing && log->sm.state != EVENT_LOG_CLOSING);
    log->finishing = false;
    timer_stop(log->clock, &log->deadline);
}

static void free_log(struct deferred_free *deferred_free)
{
    struct event_log *log = container_of(deferred_free, struct event_log, deferred_free);
    struct sink *sink = log->sink;
    char *name = log->name;
    buf_free(&log->collected);
    buf_free(&log->writing);
    log->written = 0;
    event_log_charge(log);
    event_log_release_format(log);
    filter_free(log->filter);
    record_fields_free(log->fields);
    log_ahead_free(log->ahead);
    log->events->on_closed(log); /* may free it */
    sink->type->free(sink);
    free(name);
}

/* Closes the sink, then frees in the reap phase, when no callback is running. */
static void finish_closing(struct event_log *log)
{
    if (log->sink->open && !log->sink->type->inherited)
        log->sink->type->close(log->sink);
    else
        clock_free_later(log->clock, &log->deferred_free, free_log);
}

/* A write in flight may still succeed; its lines are counted as dropped. */
static void report_dropped_lines(struct event_log *log)
{
    size_t left = event_log_unwritten(log);
    uint64_t lines = event_log_unwritten_lines(log);
    char *line;
    if (!left)
        return;
    line = xasprintf("event log %s: closed with %zu bytes not written: %" PRIu64 " line%s lost%s%s",
                     log->name, left, lines, lines == 1 ? " is" : "s are", log->error ? ": " : "",
                     log->error ? event_log_error_text(log, log->error) : "");
    log->events->on_log(log, INF_LOG_WARN, line);
    free(line);
    log->events->on_dropped(log, lines);
}

void event_log_close(struct event_log *log)
{
    bool busy = event_log_is_busy(log), writing = log->sm.state == EVENT_LOG_WRITING;
    sm_move(&log->sm, EVENT_LOG_CLOSING, "%s", log->finishing ? "finished" : "closed");
    event_log_release_events(log, NULL);
    report_dropped_lines(log);
    timer_stop(log->clock, &log->retry);
    timer_stop(log->clock, &log->deadline);
    timer_stop(log->clock, &log->stuck_timer);
    timer_stop(log->clock, &log->ahead_timer);
    buf_clear(&log->collected);
    log->released = log->saved = 0; /* the next run writes the lines that are not confirmed */
    if (!busy)
        finish_closing(log);
    else if (writing && log->sink->type->cancel_write)
        log->sink->type->cancel_write(log->sink);
}
