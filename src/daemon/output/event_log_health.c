/*
 * event_log_health.c - the status of an event log, and how long its lines have waited.
 *
 * A log records when the oldest line of each of its two buffers was added. If a line has waited for
 * `stuck_after`, or the sink has failed for that long, the log is *stuck*. That is logged once, by a
 * timer that runs only while lines wait or the sink fails; so is the end. event_log_status() does not
 * depend on that timer.
 */
#include <inttypes.h>

#include "base/base.h"
#include "daemon/output/event_log.h"

static uint64_t age_of(const struct event_log *log, uint64_t since)
{
    return since == EVENT_LOG_NONE ? EVENT_LOG_NONE : clock_now_ms(log->clock) - since;
}

/* Age of the oldest unwritten line; EVENT_LOG_NONE: there is none. */
static uint64_t oldest_age(const struct event_log *log)
{
    if (log->written < log->writing.len)
        return age_of(log, log->writing_ms);
    return log->collected.len ? age_of(log, log->collected_ms) : EVENT_LOG_NONE;
}

/* How long the log could not be written; 0: it can. */
static uint64_t unable_for(const struct event_log *log)
{
    uint64_t oldest = oldest_age(log), failing = age_of(log, log->failing_ms);
    oldest = oldest == EVENT_LOG_NONE ? 0 : oldest;
    failing = failing == EVENT_LOG_NONE ? 0 : failing;
    return oldest > failing ? oldest : failing;
}

static bool is_stuck(const struct event_log *log)
{
    return log->stuck_after_ms && unable_for(log) >= log->stuck_after_ms;
}

static const char *reason_of(const struct event_log *log)
{
    if (event_log_is_failing(log))
        return event_log_error_text(log, log->error);
    if (log->sm.state == EVENT_LOG_WAITING)
        return "too many removed event logs are still waiting for their disks";
    return event_log_is_busy(log) ? "the file operation does not complete" : NULL;
}

static void schedule_stuck_check(struct event_log *log)
{
    uint64_t age = unable_for(log);
    if (!log->stuck_after_ms || log->stuck_reported || log->sm.state == EVENT_LOG_CLOSING ||
        log->stuck_timer.running || (!event_log_unwritten(log) && !event_log_is_failing(log)))
        return;
    timer_start(log->clock, &log->stuck_timer,
                age < log->stuck_after_ms ? log->stuck_after_ms - age : 1);
}

static void on_stuck_timer(struct timer *timer)
{
    struct event_log *log = container_of(timer, struct event_log, stuck_timer);
    const char *reason = reason_of(log);
    if (!is_stuck(log)) {
        schedule_stuck_check(log);
        return;
    }
    log->stuck_reported = true;
    sink_log(
        log->sink, INF_LOG_ERROR,
        "not written for %" PRIu64 " s%s%s; %zu bytes are buffered, and informerd is not ready",
        unable_for(log) / 1000, reason ? ": " : "", reason ? reason : "", event_log_unwritten(log));
}

void event_log_note_progress(struct event_log *log)
{
    if (log->stuck_reported && !is_stuck(log)) {
        log->stuck_reported = false;
        sink_log(log->sink, INF_LOG_INFO, "no longer stuck");
    }
    schedule_stuck_check(log);
}

void event_log_note_lines(struct event_log *log, bool released)
{
    uint64_t now = clock_now_ms(log->clock);
    if (log->collected.len && log->collected_ms == EVENT_LOG_NONE)
        log->collected_ms = now;
    if (released)
        log->deferred_ms = EVENT_LOG_NONE;
    else if (log->deferred_ms == EVENT_LOG_NONE && log->collected.len > log->released)
        log->deferred_ms = now;
    event_log_note_progress(log);
}

void event_log_health_init(struct event_log *log)
{
    log->stuck_timer.fire = on_stuck_timer;
    log->collected_ms = log->deferred_ms = log->writing_ms = EVENT_LOG_NONE;
    log->failing_ms = EVENT_LOG_NONE;
}

void event_log_status(const struct event_log *log, struct event_log_status *ret)
{
    bool failing = event_log_is_failing(log), stuck = is_stuck(log);
    bool waiting = log->sm.state == EVENT_LOG_WAITING;
    *ret = (struct event_log_status){
        .name = log->name,
        .state = failing     ? "failing"
                 : waiting   ? "waiting"
                 : stuck     ? "stuck"
                 : log->held ? "held"
                             : "writable",
        .reason = failing || waiting || stuck ? reason_of(log) : NULL,
        .unwritten = event_log_unwritten(log),
        .oldest_ms = oldest_age(log),
        .unable_ms = unable_for(log),
        .stuck_after_ms = log->stuck_after_ms,
        .held = log->held,
        .failing = failing,
        .stuck = stuck,
    };
}
