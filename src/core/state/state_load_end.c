/*
 * state_load_end.c - how loading ends.
 *
 * Normal path: all records were applied, and the state is active. What follows the last complete batch of the
 * last segment was torn by a crash: it is cut off first.
 *
 * Failures: damage anywhere else discards everything, and the files are removed. An error of the disk,
 * or an operation that does not end, also discards everything, and the state is suspended. In both
 * cases it is empty, with the reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/state/state_load.h"

enum {
    HANG_MS = 10 * 1000, /* an operation that takes longer: start without the state */
};

/* ---- discarding ---- */

static void forget_everything(struct inf_state *state)
{
    list_for_each_safe(node, &state->streams)
        stream_free(container_of(node, struct inf_state_stream, node));
    list_for_each_safe(node, &state->queues)
        queue_free(container_of(node, struct inf_state_queue, node));
    list_for_each_safe(node, &state->dictionaries)
        dictionary_free(state, container_of(node, struct state_dictionary, node));
    segments_reset(state);
    state->written_us = 0;
    state->mark = 0;
    state->torn_bytes = 0;
}

static void end_read_only(struct inf_state *state)
{
    sm_move(&state->sm, STATE_READ_ONLY, "discarded");
    state_report_loaded(state);
}

/* Files can't be trusted: they are removed. */
static void discard(struct inf_state *state)
{
    log_line(&state->log, LOG_WARN, "state: discarded: %s", state->reason);
    forget_everything(state);
    loader_free(state);
    if (state->settings.read_only)
        end_read_only(state);
    else
        state_clear(state, false);
}

static void on_discarded_closed(struct inf_state *state, int64_t result)
{
    (void)result;
    if (state_phase(state) == STATE_LOADING)
        discard(state);
}

/* Discards because of damage that @state->reason describes. No operation is in flight. */
void loader_discard(struct inf_state *state)
{
    struct loader *l = state->loader;
    int fd = state->load_fd;
    state->load_fd = -1;
    if (fd >= 0)
        state_io_close(&l->io, fd, on_discarded_closed);
    else
        discard(state);
}

/* The loader of an operation that hangs is freed when the state is closed, or when a suspension ends. */
static void fail(struct inf_state *state, const char *what, int64_t error)
{
    forget_everything(state);
    if (!state->settings.read_only) {
        state_suspend(state, "%s: %s", what, strerror((int)-error));
        return;
    }
    state_set_reason(state, "%s: %s", what, strerror((int)-error));
    if (loader_busy(state))
        end_read_only(state);
    else
        loader_discard(state);
}

/* ---- operations ---- */

/* An operation has ended: returns whether to continue. */
bool loader_may_continue(struct inf_state *state, int64_t result, const char *what)
{
    hang_timer_stop(&state->loader->hang_timer);
    if (state_phase(state) != STATE_LOADING)
        return false;
    if (result >= 0)
        return true;
    fail(state, what, result);
    return false;
}

struct state_io *loader_start_io(struct inf_state *state)
{
    hang_timer_start(&state->loader->hang_timer);
    return &state->loader->io;
}

static void on_hang(struct hang_timer *timer)
{
    struct loader *l = container_of(timer, struct loader, hang_timer);
    if (state_phase(l->io.state) == STATE_LOADING)
        fail(l->io.state, "read", -ETIMEDOUT);
}

void loader_init(struct inf_state *state, struct loader *l)
{
    state_io_init(&l->io, state);
    hang_timer_init(&l->hang_timer, state->clock, HANG_MS, on_hang);
}

/* ---- the end ---- */

static void become_ready(struct inf_state *state)
{
    uint64_t objects = 0;
    list_for_each(node, &state->streams)
        objects += container_of(node, struct inf_state_stream, node)->index.count;
    if (state->newest)
        log_line(&state->log, LOG_INFO, "state: loaded %llu objects", (unsigned long long)objects);
    loader_free(state);
    sm_move(&state->sm, state->settings.read_only ? STATE_READ_ONLY : STATE_ACTIVE, "%llu objects",
            (unsigned long long)objects);
    state_report_loaded(state);
}

void loader_end(struct inf_state *state)
{
    struct loader *l = state->loader;
    const char *wrong = state_apply_end(state);
    if (!wrong && l->oldest && state->oldest > l->oldest)
        wrong = "the first segment is missing";
    if (!wrong && state->newest && !state->end_offset) {
        if (state->oldest < state->newest)
            segments_remove_newest(state); /* it is started again */
        else if (state->newest == 1)
            segments_reset(state);
        else
            wrong = "the only segment is empty";
    }
    if (wrong) {
        state_set_reason(state, "%s", wrong);
        loader_discard(state);
        return;
    }
    become_ready(state);
}

/* ---- cutting off a torn tail ---- */

static void on_cut_closed(struct inf_state *state, int64_t result)
{
    if (loader_may_continue(state, result, "close"))
        loader_end(state);
}

static void on_cut_synced(struct inf_state *state, int64_t result)
{
    int fd = state->load_fd;
    if (!loader_may_continue(state, result, "sync"))
        return;
    state->load_fd = -1;
    state_io_close(loader_start_io(state), fd, on_cut_closed);
}

static void on_cut(struct inf_state *state, int64_t result)
{
    if (loader_may_continue(state, result, "truncate"))
        state_io_sync(loader_start_io(state), state->load_fd, on_cut_synced);
}

static void on_cut_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->load_fd = (int)result;
    if (loader_may_continue(state, result, "open"))
        state_io_truncate(loader_start_io(state), state->load_fd, state->end_offset, on_cut);
}

void loader_cut_torn_tail(struct inf_state *state)
{
    char name[STATE_FILE_NAME];
    state_file_name(name, FILE_SEGMENT, state->newest);
    log_line(&state->log, LOG_WARN, "state: cut %llu bytes of an incomplete batch off %s",
             (unsigned long long)state->torn_bytes, name);
    if (state->settings.read_only)
        loader_end(state);
    else
        state_io_open(loader_start_io(state), name, O_WRONLY, on_cut_opened);
}
