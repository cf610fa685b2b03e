/*
 * output.c - runs one file operation at a time.
 *
 * Normal path: when no operation is in flight, output_continue() decides what to do next and starts
 * it: open, check, rotate or write. The end of each operation calls it again. A failure is reported
 * once and retried by a timer with growing delays; a descriptor that fails is given up.
 */
#include "daemon/journal/output.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"
#include "base/str.h"

static void output_continue(struct output *o);

const char *output_name(const struct output *output)
{
    return output->path ? output->path : "stdout";
}

bool output_idle(const struct output *output)
{
    return !output_unwritten(output) && !logfile_is_busy(&output->file);
}

size_t output_unwritten(const struct output *output)
{
    return output->writing.len - output->written + output->collected.len;
}

bool output_has_room(const struct output *output)
{
    return output->collected.len < OUTPUT_MAX;
}

static void count_bytes(struct output *o)
{
    size_t now = output_unwritten(o);
    inf_budget_add(o->budget, (ptrdiff_t)now - (ptrdiff_t)o->counted);
    o->counted = now;
}

static void update_hold(struct output *o)
{
    bool hold = o->held ? o->collected.len > OUTPUT_LOW : o->collected.len >= OUTPUT_HIGH;
    count_bytes(o);
    if (hold == o->held)
        return;
    o->held = hold;
    o->events->on_hold(o, hold);
}

/* ---- failures ---- */

static void give_up_descriptor(struct output *o, int error)
{
    o->lost = true;
    buf_clear(&o->collected);
    buf_clear(&o->writing);
    o->cleared = o->written = 0;
    update_hold(o);
    o->events->on_lost(o, error);
}

static void on_retry(struct timer *timer)
{
    output_continue(container_of(timer, struct output, retry));
}

static void on_deadline(struct timer *timer)
{
    output_close(container_of(timer, struct output, deadline));
}

static void output_fail(struct output *o, int error)
{
    o->error = error;
    if (error == -EBUSY)
        output_note_lock(o);
    if (!o->path) {
        give_up_descriptor(o, error);
        return;
    }
    if (!o->failing) {
        o->failing = true;
        o->failing_ms = clock_now_ms(o->clock);
        o->failures++;
        output_say(o, INF_LOG_ERROR,
                   "event log %s: %s; lines are buffered, retrying until it works", o->path,
                   output_error_text(o, error));
    }
    output_note_progress(o);
    timer_start(o->clock, &o->retry,
                backoff_ms(OUTPUT_RETRY_MIN_MS, OUTPUT_RETRY_MAX_MS, o->retries++));
}

static void output_recover(struct output *o)
{
    o->retries = 0;
    if (!o->failing)
        return;
    o->failing = false;
    o->failing_ms = OUTPUT_NONE;
    output_say(o, INF_LOG_INFO, "event log %s: writable again; no change was lost", o->path);
}

/* ---- what to write ---- */

/* Moves the released lines from `collected` to `writing`. */
static void take_cleared(struct output *o)
{
    struct buf done = o->writing;
    buf_clear(&done);
    o->written = 0;
    o->writing_ms = o->collected_ms;
    o->collected_ms = o->cleared < o->collected.len ? o->kept_back_ms : OUTPUT_NONE;
    if (o->cleared == o->collected.len) {
        o->writing = o->collected;
        o->collected = done;
    } else {
        o->writing = done;
        buf_put(&o->writing, o->collected.bytes, o->cleared);
        buf_consume(&o->collected, o->cleared);
    }
    o->cleared = 0;
    update_hold(o);
}

static struct str rest_of(const struct output *o)
{
    return (struct str){o->writing.bytes + o->written, o->writing.len - o->written};
}

static bool is_mid_line(const struct output *o)
{
    return o->written && o->writing.bytes[o->written - 1] != '\n';
}

static bool may_rotate(const struct output *o)
{
    return o->file.stat.regular && o->rotate_size && clock_now_ms(o->clock) >= o->rotate_due_ms;
}

/* How many bytes of the rest to write now, in whole lines, so that the file stays below
 * rotate_size; 0: rotate first. A line longer than rotate_size gets its own file. */
static size_t next_write_len(const struct output *o)
{
    struct str rest = rest_of(o);
    uint64_t room = o->file.size < o->rotate_size ? o->rotate_size - o->file.size : 0;
    const char *end;
    if (!may_rotate(o) || rest.len <= room)
        return rest.len;
    end = memrchr(rest.at, '\n', (size_t)room);
    if (!end && !is_mid_line(o) && o->file.size)
        return 0;
    if (!end)
        end = memchr(rest.at, '\n', rest.len);
    return end ? (size_t)(end - rest.at) + 1 : rest.len;
}

/* A new file gets the complete line of which the previous file has the beginning. */
static void back_to_line_start(struct output *o)
{
    while (is_mid_line(o))
        o->written--;
}

/* ---- starting operations ---- */

/* So that an idle output does not keep a large buffer. */
static void free_large(struct buf *b)
{
    if (!b->len && b->cap > OUTPUT_LOW)
        buf_free(b);
}

static void become_idle(struct output *o)
{
    o->written = 0;
    buf_clear(&o->writing);
    free_large(&o->writing);
    free_large(&o->collected);
    output_recover(o);
    output_note_progress(o);
    if (o->finishing && !output_unwritten(o)) {
        output_close(o);
        return;
    }
    update_hold(o);
    o->events->on_idle(o);
}

static void write_or_rotate(struct output *o)
{
    size_t len = next_write_len(o);
    if (len) {
        o->doing = OUTPUT_WRITING;
        logfile_write(&o->file, o->writing.bytes + o->written, len);
    } else {
        o->doing = OUTPUT_ROTATING;
        logfile_rotate(&o->file, o->keep);
    }
}

static void open_file(struct output *o)
{
    o->doing = OUTPUT_OPENING;
    o->reopening = false;
    back_to_line_start(o);
    logfile_open(&o->file);
}

static void close_file(struct output *o)
{
    o->doing = OUTPUT_CLOSING;
    logfile_close(&o->file);
}

static void check_file(struct output *o)
{
    o->doing = OUTPUT_CHECKING;
    logfile_check(&o->file);
}

static void look_at_file(struct output *o)
{
    o->doing = OUTPUT_LOOKING;
    logfile_look(&o->file);
}

static void output_continue(struct output *o)
{
    bool out = o->written == o->writing.len;
    if (o->lost || o->closing || o->waits || o->doing != OUTPUT_NOTHING || o->retry.running) {
        return;
    } else if (!logfile_is_open(&o->file)) {
        open_file(o);
    } else if (o->unseen_lines) {
        look_at_file(o);
    } else if (o->reopening) {
        close_file(o);
    } else if (out && !o->cleared) {
        become_idle(o);
    } else if (o->file.stat.regular && clock_now_ms(o->clock) >= o->check_due_ms) {
        check_file(o);
    } else if (o->file.stat.regular && clock_now_ms(o->clock) >= o->look_due_ms) {
        look_at_file(o);
    } else {
        if (out)
            take_cleared(o);
        write_or_rotate(o);
    }
}

/* ---- ends of operations ---- */

static void after_open(struct output *o, int64_t result)
{
    o->check_due_ms = clock_now_ms(o->clock) + OUTPUT_CHECK_MS;
    o->look_due_ms = clock_now_ms(o->clock) + OUTPUT_LOOK_MS;
    if (result < 0)
        output_fail(o, (int)result);
}

static void log_moved(struct output *o)
{
    output_say(o, INF_LOG_WARN, "event log %s: the file was moved or removed; reopening it",
               o->path);
}

/* Reported once; retried after OUTPUT_ROTATE_AGAIN_MS. */
static void fail_rotation(struct output *o, int error)
{
    if (error == -EBUSY)
        output_note_lock(o);
    if (!o->rotation_failing)
        output_say(o, INF_LOG_ERROR, "event log %s: rotation failed: %s%s; the file keeps growing",
                   o->path, error == -EBUSY ? "a rotated file is in use: " : "",
                   error == -EBUSY ? o->locked_by : strerror(-error));
    o->rotation_failing = true;
    o->rotate_due_ms = clock_now_ms(o->clock) + OUTPUT_ROTATE_AGAIN_MS;
}

static void after_rotate(struct output *o, int64_t result)
{
    int error = o->file.rotate_error;
    if (error == LOGFILE_MOVED) {
        log_moved(o);
        o->reopening = true;
    } else if (error) {
        fail_rotation(o, error);
    } else {
        o->rotations++;
        if (o->rotation_failing)
            output_say(o, INF_LOG_INFO, "event log %s: rotated again; no rotated file was lost",
                       o->path);
        o->rotation_failing = false;
    }
    after_open(o, result);
}

static void after_write(struct output *o, int64_t result)
{
    if (result > 0) {
        if (o->file.stat.regular)
            o->unseen_lines += output_count_lines(o->writing.bytes + o->written, (size_t)result);
        o->written += (size_t)result;
        o->bytes += (uint64_t)result;
        if (o->written == o->writing.len) {
            o->writing_ms = OUTPUT_NONE;
            output_recover(o);
            output_note_progress(o);
        }
    } else if (result == -EAGAIN) {
        timer_start(o->clock, &o->retry, OUTPUT_AGAIN_MS);
    } else if (result != -EINTR) {
        output_fail(o, result ? (int)result : -EIO);
    }
}

static void after_check(struct output *o, bool same)
{
    o->check_due_ms = clock_now_ms(o->clock) + OUTPUT_CHECK_MS;
    o->look_due_ms = clock_now_ms(o->clock) + OUTPUT_LOOK_MS;
    if (same)
        return;
    log_moved(o);
    o->reopening = true;
}

/* Lines written before the file was removed were removed on purpose. Lines written since the
 * last check may have been written after the removal; that can't be determined, so they count as
 * lost. */
static void after_look(struct output *o, bool has_name)
{
    uint64_t lines = o->unseen_lines;
    o->unseen_lines = 0;
    o->look_due_ms = clock_now_ms(o->clock) + OUTPUT_LOOK_MS;
    if (has_name)
        return;
    log_moved(o);
    o->reopening = true;
    if (!lines)
        return;
    output_say(o, INF_LOG_WARN,
               "event log %s: %" PRIu64 " line%s written after the file was removed %s lost",
               o->path, lines, lines == 1 ? "" : "s", lines == 1 ? "is" : "are");
    o->events->on_removed(o, lines);
}

/* The moved file was closed; output_continue() opens the one that has its path now. */
static void after_reopen_close(struct output *o, int64_t result)
{
    if (result < 0)
        output_say(o, INF_LOG_WARN,
                   "event log %s: the previous file ends with an incomplete line: %s", o->path,
                   strerror((int)-result));
}

static void finish_closing(struct output *o);

static void on_done(struct logfile *file, int64_t result)
{
    struct output *o = container_of(file, struct output, file);
    enum output_doing doing = o->doing;
    o->doing = OUTPUT_NOTHING;
    if (o->closing) {
        finish_closing(o);
        return;
    }
    switch (doing) {
    case OUTPUT_OPENING: after_open(o, result); break;
    case OUTPUT_ROTATING: after_rotate(o, result); break;
    case OUTPUT_WRITING: after_write(o, result); break;
    case OUTPUT_CHECKING: after_check(o, result); break;
    case OUTPUT_LOOKING: after_look(o, result); break;
    case OUTPUT_CLOSING: after_reopen_close(o, result); break;
    case OUTPUT_NOTHING: break;
    }
    output_continue(o);
}

/* ---- interface ---- */

void output_init(struct output *output, struct clock *clock, struct disk *disk,
                 const struct output_settings *settings, const struct output_events *events)
{
    *output = (struct output){
        .clock = clock, .events = events, .retry.fire = on_retry, .deadline.fire = on_deadline};
    output->path = settings->path ? xstrdup(settings->path) : NULL;
    output->waits = settings->waits;
    output->budget = settings->budget;
    output_health_init(output);
    output_change(output, settings);
    logfile_init(&output->file, disk, output->path, settings->fd, on_done);
    if (output->path)
        output_continue(output);
}

void output_change(struct output *output, const struct output_settings *settings)
{
    output->rotate_size = settings->rotate_size;
    output->keep = settings->keep ? settings->keep : 1;
    output->stuck_after_ms = settings->stuck_after_ms;
    output_note_progress(output);
}

void output_begin(struct output *output)
{
    output->waits = false;
    output_continue(output);
}

void output_flush(struct output *output)
{
    if (output->lost) {
        buf_clear(&output->collected);
        return;
    }
    output->cleared = output->collected.len;
    output_note_lines(output, true);
    if (output->cleared)
        output_continue(output);
    update_hold(output);
}

void output_wait(struct output *output)
{
    output_note_lines(output, false);
    update_hold(output);
}

void output_reopen(struct output *output)
{
    if (!output->path || output->closing)
        return;
    output->reopening = true;
    timer_stop(output->clock, &output->retry); /* the cause may have been fixed */
    output_continue(output);
}

static void free_output(struct deferred_free *deferred_free)
{
    struct output *o = container_of(deferred_free, struct output, deferred_free);
    buf_free(&o->collected);
    buf_free(&o->writing);
    o->written = 0;
    count_bytes(o);
    free(o->path);
    o->path = NULL;
    o->events->on_closed(o);
}

/* Closes the file, then frees in the reap phase, when no callback is running. */
static void finish_closing(struct output *o)
{
    if (o->path && logfile_is_open(&o->file))
        close_file(o);
    else
        clock_free_later(o->clock, &o->deferred_free, free_output);
}

void output_finish(struct output *output)
{
    assert(!output->finishing && !output->closing);
    if (output->lost) {
        output_close(output);
        return;
    }
    output->finishing = true;
    timer_start(output->clock, &output->deadline, OUTPUT_FINISH_MS);
    timer_stop(output->clock, &output->retry);
    output_continue(output);
}

void output_resume(struct output *output)
{
    assert(output->finishing && !output->closing);
    output->finishing = false;
    timer_stop(output->clock, &output->deadline);
}

/* A write in flight may still succeed; its lines are counted as dropped. */
static void log_dropped(struct output *o)
{
    size_t left = output_unwritten(o);
    uint64_t lines = output_unwritten_lines(o);
    if (!left)
        return;
    output_say(o, INF_LOG_WARN,
               "event log %s: closed with %zu bytes not written: %" PRIu64 " line%s lost%s%s",
               output_name(o), left, lines, lines == 1 ? " is" : "s are", o->error ? ": " : "",
               o->error ? output_error_text(o, o->error) : "");
    o->events->on_dropped(o, lines);
}

void output_close(struct output *output)
{
    assert(!output->closing);
    output->closing = true;
    log_dropped(output);
    timer_stop(output->clock, &output->retry);
    timer_stop(output->clock, &output->deadline);
    timer_stop(output->clock, &output->stuck_look);
    buf_clear(&output->collected);
    output->cleared = 0;
    if (output->doing == OUTPUT_NOTHING)
        finish_closing(output);
    else
        logfile_cancel_write(&output->file);
}
