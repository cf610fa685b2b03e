/*
 * state_suspend.c - what happens when the disk is full, fails or hangs.
 *
 * state_suspend() drops what waits and forgets where records are. The state ignores everything until
 * a retry succeeds: when no operation is in flight any more, all files are removed, and a small file is
 * written as a probe. Then the state is active and empty, and its owner notes everything again. Retries
 * wait longer each time.
 *
 * The same removal follows after files were found damaged, without a probe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "core/mutant.h"
#include "core/state/state_internal.h"

enum {
    RETRY_FIRST_MS = 1000,
    RETRY_MAX_MS = 5 * 60 * 1000,
    STEADY_MS = 10 * 60 * 1000, /* after this long without an error the first wait is short again */
    PROBE_SIZE = 64 * 1024,
};

/* Removes files. */
struct cleaner {
    struct state_io io;
    struct hang_timer hang_timer;
    struct buf names; /* each with a NUL */
    size_t at;        /* the next one */
    bool probe;
    char bytes[PROBE_SIZE];
};

enum {
    CLEAN_HANG_MS = 10 * 1000,
};

/* ---- suspending ---- */

/* Nothing that is on disk counts any more. */
static void forget_files(struct inf_state *state)
{
    list_for_each(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        if (!stream->restored)
            stream_forget(stream); /* restored objects can still be taken */
        stream->version_changed = false;
    }
    list_for_each(node, &state->queues) {
        struct inf_state_queue *queue = container_of(node, struct inf_state_queue, node);
        queue_forget(queue);
        queue->confirmed_changed = false;
    }
    list_for_each_safe(node, &state->dictionaries)
        dictionary_free(state, container_of(node, struct state_dictionary, node));
    segments_reset(state);
}

static void report_suspended(struct inf_state *state)
{
    if (state->settings.on_suspended && state_may_call(state) && !state->suspension_reported) {
        state->suspension_reported = true;
        state->settings.on_suspended(state, state->reason);
    }
}

void state_suspend(struct inf_state *state, const char *fmt, ...)
{
    uint64_t wait;
    va_list args;
    va_start(args, fmt);
    state_set_reason_v(state, fmt, args);
    va_end(args);
    writer_drop(state);
    if (state_phase(state) >= STATE_CLOSING)
        return; /* state_settle() continues without what was dropped */
    forget_files(state);
    if (clock_elapsed_ms(state->clock) - state->resumed_ms > STEADY_MS)
        state->failures = 0;
    wait = backoff_ms(RETRY_FIRST_MS, RETRY_MAX_MS, state->failures++);
    if (wait < state->retry_ms)
        wait = state->retry_ms;
    state->retry_ms = 0;
    log_line(&state->log, LOG_WARN, "state: suspended: %s; retry in %llu s", state->reason,
             (unsigned long long)wait / 1000);
    sm_move(&state->sm, STATE_SUSPENDED, "%s", state->reason);
    timer_start(state->clock, &state->retry_timer, wait);
    task_schedule(state->clock, &state->report_task);
    if (!state->loaded)
        state_report_loaded(state);
    report_suspended(state);
}

/* ---- clearing ---- */

bool cleaner_busy(const struct inf_state *state)
{
    return state->cleaner && state_io_busy(&state->cleaner->io);
}

void cleaner_free(struct inf_state *state)
{
    if (!state->cleaner)
        return;
    hang_timer_stop(&state->cleaner->hang_timer);
    buf_free(&state->cleaner->names);
    free(state->cleaner);
    state->cleaner = NULL;
}

/* The files are gone. Streams are incomplete until they have a position again. */
static void become_active(struct inf_state *state)
{
    bool resumed = state->suspension_reported;
    cleaner_free(state);
    state->id = rng_next(&state->rng);
    state->abandoned = false;
    state->closed = state->synced = state->written; /* there is no batch */
    state->resumed_ms = clock_elapsed_ms(state->clock);
    list_for_each(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        stream_forget(stream);
        str_replace(&stream->version, "");
        stream->rebuilding = true;
    }
    list_for_each(node, &state->queues) {
        struct inf_state_queue *queue = container_of(node, struct inf_state_queue, node);
        queue->confirmed = queue->end;
    }
    sm_move(&state->sm, STATE_ACTIVE, "empty");
    if (!state->loaded) {
        state_report_loaded(state);
        return;
    }
    free(state->reason);
    state->reason = NULL;
    state->suspension_reported = false;
    log_line(&state->log, LOG_INFO, "state: works again");
    if (resumed && state->settings.on_suspended)
        state->settings.on_suspended(state, NULL);
}

static bool clean_may_continue(struct inf_state *state, int64_t result, const char *what)
{
    hang_timer_stop(&state->cleaner->hang_timer);
    if (state_phase(state) != STATE_CLEARING)
        return false;
    if (result >= 0)
        return true;
    state_suspend(state, "%s: %s", what, strerror((int)-result));
    return false;
}

static struct state_io *start_clean_io(struct inf_state *state)
{
    hang_timer_start(&state->cleaner->hang_timer);
    return &state->cleaner->io;
}

static void on_clean_hang(struct hang_timer *timer)
{
    struct cleaner *c = container_of(timer, struct cleaner, hang_timer);
    if (state_phase(c->io.state) == STATE_CLEARING)
        state_suspend(c->io.state, "the disk has not completed an operation for %d ms",
                      CLEAN_HANG_MS);
}

static void on_dir_closed(struct inf_state *state, int64_t result)
{
    state->clean_fd = -1;
    if (clean_may_continue(state, result, "close directory"))
        become_active(state);
}

static void on_dir_synced(struct inf_state *state, int64_t result)
{
    if (clean_may_continue(state, result, "sync directory"))
        state_io_close(start_clean_io(state), state->clean_fd, on_dir_closed);
}

static void on_dir_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->clean_fd = (int)result;
    if (clean_may_continue(state, result, "open directory"))
        state_io_sync(start_clean_io(state), state->clean_fd, on_dir_synced);
}

static void on_probe_removed(struct inf_state *state, int64_t result)
{
    if (clean_may_continue(state, result, "remove"))
        state_io_open(start_clean_io(state), "", O_RDONLY | O_DIRECTORY, on_dir_opened);
}

static void on_probe_closed(struct inf_state *state, int64_t result)
{
    char name[STATE_FILE_NAME];
    state->clean_fd = -1;
    state_file_name(name, FILE_PROBE, 0);
    if (clean_may_continue(state, result, "close"))
        state_io_remove(start_clean_io(state), name, on_probe_removed);
}

static void on_probe_written(struct inf_state *state, int64_t result)
{
    if (clean_may_continue(state, result < PROBE_SIZE && result >= 0 ? -ENOSPC : result, "write"))
        state_io_close(start_clean_io(state), state->clean_fd, on_probe_closed);
}

static void on_probe_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->clean_fd = (int)result;
    if (clean_may_continue(state, result, "create"))
        state_io_write(start_clean_io(state), state->clean_fd, state->cleaner->bytes, PROBE_SIZE, 0,
                       on_probe_written);
}

static void remove_next(struct inf_state *state, int64_t result)
{
    struct cleaner *c = state->cleaner;
    char name[STATE_FILE_NAME];
    if (!clean_may_continue(state, result == -ENOENT ? 0 : result, "remove"))
        return;
    if (c->at < c->names.len) {
        const char *next = c->names.bytes + c->at;
        c->at += strlen(next) + 1;
        state_io_remove(start_clean_io(state), next, remove_next);
    } else if (c->probe) {
        state_file_name(name, FILE_PROBE, 0);
        state_io_open(start_clean_io(state), name, O_WRONLY | O_CREAT | O_TRUNC, on_probe_opened);
    } else {
        on_probe_removed(state, 0);
    }
}

static void on_emptied_closed(struct inf_state *state, int64_t result)
{
    state->clean_fd = -1;
    remove_next(state, result);
}

static void on_emptied_synced(struct inf_state *state, int64_t result)
{
    if (clean_may_continue(state, result, "sync"))
        state_io_close(start_clean_io(state), state->clean_fd, on_emptied_closed);
}

static void on_emptied(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->clean_fd = (int)result;
    if (clean_may_continue(state, result, "open"))
        state_io_sync(start_clean_io(state), state->clean_fd, on_emptied_synced);
}

/* First the oldest segment becomes empty: if the power fails while files are removed, those that are
 * left are not taken for a state. */
static void on_names(struct inf_state *state, int64_t result)
{
    struct cleaner *c = state->cleaner;
    uint32_t number, oldest = 0;
    char first[STATE_FILE_NAME];
    if (!clean_may_continue(state, result, "list directory"))
        return;
    for (const char *name = c->io.op.names; *name; name += strlen(name) + 1) {
        enum state_file type = state_file_type(name, &number);
        if (type != FILE_OTHER)
            buf_put(&c->names, name, strlen(name) + 1);
        if (type == FILE_SEGMENT && (!oldest || number < oldest))
            oldest = number;
    }
    state_file_name(first, FILE_SEGMENT, oldest);
    if (oldest && !MUTANT("state: files removed in any order"))
        state_io_open(start_clean_io(state), first, O_WRONLY | O_TRUNC, on_emptied);
    else
        remove_next(state, 0);
}

static void on_dir_made(struct inf_state *state, int64_t result)
{
    if (clean_may_continue(state, result == -EEXIST ? 0 : result, "create directory"))
        state_io_list(start_clean_io(state), on_names);
}

void state_clear(struct inf_state *state, bool probe)
{
    struct cleaner *c = NEW(struct cleaner);
    cleaner_free(state);
    state->cleaner = c;
    state_io_init(&c->io, state);
    hang_timer_init(&c->hang_timer, state->clock, CLEAN_HANG_MS, on_clean_hang);
    c->probe = probe;
    sm_move(&state->sm, STATE_CLEARING, probe ? "retry" : "discarded");
    state_io_make_dir(start_clean_io(state), on_dir_made);
}

/* ---- retries ---- */

static void on_retry(struct timer *timer)
{
    struct inf_state *state = container_of(timer, struct inf_state, retry_timer);
    if (state_any_io_busy(state) || state_close_leftovers(state)) {
        timer_start(state->clock, timer, RETRY_FIRST_MS); /* an operation has not ended yet */
        return;
    }
    writer_drop(state);
    compactor_free(state);
    loader_free(state);
    state_clear(state, true);
}

void suspend_init(struct inf_state *state)
{
    state->retry_timer.fire = on_retry;
}
