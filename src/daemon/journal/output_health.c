/*
 * output_health.c - the status of an output, and how long its lines have waited.
 *
 * An output records when the oldest line of each of its two buffers was added. If a line has waited
 * for `stuck_after`, or the file has failed for that long, the output is *stuck*. That is logged
 * once, by a timer that runs only while lines wait or the file fails; so is the end.
 * output_status() does not depend on that timer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "daemon/journal/output.h"

void output_say(struct output *output, enum inf_log_level level, const char *fmt, ...)
{
    char line[INF_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    output->events->on_say(output, level, line);
}

/* A missing file is created, so -ENOENT means that its directory is missing. */
const char *output_error_text(const struct output *output, int error)
{
    switch (error) {
    case -EBUSY: return output->locked_by;
    case -ENOENT: return "its directory does not exist";
    case -ENXIO: return "the FIFO has no reader";
    default: return strerror(-error);
    }
}

void output_note_lock(struct output *output)
{
    pid_t holder = output->file.holder;
    char *text = output->locked_by;
    if (holder == getpid())
        snprintf(text, OUTPUT_LOCKED_TEXT, "another event log of this process has locked the file");
    else if (holder)
        snprintf(text, OUTPUT_LOCKED_TEXT,
                 "process %d has locked the file; is a second informerd running?", (int)holder);
    else
        snprintf(text, OUTPUT_LOCKED_TEXT,
                 "another process has locked the file; is a second informerd running?");
}

/* ---- unwritten lines ---- */

uint64_t output_count_lines(const char *bytes, size_t len)
{
    const char *end = bytes + len;
    uint64_t lines = 0;
    for (const char *at = bytes; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines;
}

uint64_t output_unwritten_lines(const struct output *output)
{
    uint64_t lines = output_count_lines(output->collected.bytes, output->collected.len);
    if (output->written < output->writing.len)
        lines += output_count_lines(output->writing.bytes + output->written,
                                    output->writing.len - output->written);
    return lines;
}

static uint64_t age_of(const struct output *o, uint64_t since)
{
    return since == OUTPUT_NONE ? OUTPUT_NONE : clock_now_ms(o->clock) - since;
}

/* Age of the oldest unwritten line; OUTPUT_NONE: there is none. */
static uint64_t oldest_age(const struct output *o)
{
    if (o->written < o->writing.len)
        return age_of(o, o->writing_ms);
    return o->collected.len ? age_of(o, o->collected_ms) : OUTPUT_NONE;
}

/* How long the output could not be written; 0: it can. */
static uint64_t unable_for(const struct output *o)
{
    uint64_t oldest = oldest_age(o), failing = age_of(o, o->failing_ms);
    oldest = oldest == OUTPUT_NONE ? 0 : oldest;
    failing = failing == OUTPUT_NONE ? 0 : failing;
    return oldest > failing ? oldest : failing;
}

static bool is_stuck(const struct output *o)
{
    return o->stuck_after_ms && unable_for(o) >= o->stuck_after_ms;
}

void output_note_lines(struct output *output, bool cleared)
{
    uint64_t now = clock_now_ms(output->clock);
    if (output->collected.len && output->collected_ms == OUTPUT_NONE)
        output->collected_ms = now;
    if (cleared)
        output->kept_back_ms = OUTPUT_NONE;
    else if (output->kept_back_ms == OUTPUT_NONE && output->collected.len > output->cleared)
        output->kept_back_ms = now;
    output_note_progress(output);
}

/* ---- stuck ---- */

static const char *reason_of(const struct output *o)
{
    if (o->failing)
        return output_error_text(o, o->error);
    if (o->waits)
        return "too many removed event logs are still waiting for their disks";
    return o->doing == OUTPUT_NOTHING ? NULL : "the file operation does not complete";
}

static void report_stuck(struct output *o)
{
    const char *reason = reason_of(o);
    o->stuck = true;
    output_say(o, INF_LOG_ERROR,
               "event log %s: not written for %" PRIu64
               " s%s%s; %zu bytes are buffered, and informerd is "
               "not ready",
               output_name(o), unable_for(o) / 1000, reason ? ": " : "", reason ? reason : "",
               output_unwritten(o));
}

static void schedule_stuck_check(struct output *o)
{
    uint64_t age = unable_for(o);
    if (!o->stuck_after_ms || o->stuck || o->closing || o->stuck_look.running ||
        (!output_unwritten(o) && !o->failing))
        return;
    timer_start(o->clock, &o->stuck_look, age < o->stuck_after_ms ? o->stuck_after_ms - age : 1);
}

static void on_stuck_look(struct timer *timer)
{
    struct output *o = container_of(timer, struct output, stuck_look);
    if (is_stuck(o))
        report_stuck(o);
    else
        schedule_stuck_check(o);
}

void output_note_progress(struct output *output)
{
    if (output->stuck && !is_stuck(output)) {
        output->stuck = false;
        output_say(output, INF_LOG_INFO, "event log %s: no longer stuck", output_name(output));
    }
    schedule_stuck_check(output);
}

/* ---- interface ---- */

void output_health_init(struct output *output)
{
    output->stuck_look.fire = on_stuck_look;
    output->collected_ms = output->kept_back_ms = output->writing_ms = OUTPUT_NONE;
    output->failing_ms = OUTPUT_NONE;
}

static const char *state_of(const struct output *o)
{
    if (o->failing)
        return "failing";
    if (o->waits)
        return "waiting";
    if (is_stuck(o))
        return "stuck";
    return o->held ? "held" : "writable";
}

void output_status(const struct output *output, struct output_status *ret)
{
    bool stuck = is_stuck(output);
    *ret = (struct output_status){
        .name = output_name(output),
        .state = state_of(output),
        .reason = output->failing || output->waits || stuck ? reason_of(output) : NULL,
        .unwritten = output_unwritten(output),
        .oldest_ms = oldest_age(output),
        .unable_ms = unable_for(output),
        .stuck_after_ms = output->stuck_after_ms,
        .held = output->held,
        .failing = output->failing,
        .stuck = stuck,
    };
}
