/*
 * state_write.c - writes batches, one write at a time.
 *
 * Normal path: writer_pump() writes the complete batches of the first chunk with one append. A second
 * after a write the file is synced; writes do not wait for that.
 *
 * Before a new file is written to, the file before it is synced and closed, and the directory is synced: a
 * file can only be incomplete if it is the last one. Dictionaries are written and synced before the batch
 * that needs them.
 *
 * Failures, and operations that do not end, suspend the state (state_suspend.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/mutant.h"
#include "core/state/state_internal.h"

enum {
    HANG_MS = 2000,                  /* a write that takes longer suspends the state */
    SYNC_MS = 1000,                  /* between a write and the sync */
    WAITING_MAX = 128 * 1024 * 1024, /* LIMIT: bytes that wait to be written */
};

static void write_step(struct inf_state *state);

/* ---- writing ---- */

void writer_drop(struct inf_state *state)
{
    list_for_each_safe(node, &state->chunks) {
        struct write_chunk *chunk = container_of(node, struct write_chunk, node);
        if (chunk != state->writing || !state_io_busy(&state->write_io))
            chunk_free(state, chunk);
    }
    if (!state_io_busy(&state->write_io))
        state->writing = NULL;
    state->batch_records = 0;
    state->batch_changes = false;
    state->abandoned = true;
    hang_timer_stop(&state->hang_timer);
    timer_stop(state->clock, &state->sync_timer);
}

bool writer_has_work(const struct inf_state *state)
{
    const struct write_chunk *first =
        container_of(state->chunks.next, const struct write_chunk, node);
    return !state->abandoned && (state->writing || (!list_empty(&state->chunks) && first->closed));
}

static bool is_writing_allowed(const struct inf_state *state)
{
    return !state->abandoned &&
           (state_phase(state) == STATE_ACTIVE || state_phase(state) == STATE_CLOSING);
}

/* An operation of write_io has ended: returns whether to continue. */
static bool write_may_continue(struct inf_state *state, int64_t result, const char *what)
{
    hang_timer_stop(&state->hang_timer);
    if (!is_writing_allowed(state)) {
        writer_drop(state); /* suspended meanwhile */
        return false;
    }
    if (result >= 0)
        return true;
    state_suspend(state, "%s: %s", what, strerror((int)-result));
    return false;
}

static struct state_io *start_write_io(struct inf_state *state)
{
    hang_timer_start(&state->hang_timer);
    return &state->write_io;
}

static void on_hang(struct hang_timer *timer)
{
    struct inf_state *state = container_of(timer, struct inf_state, hang_timer);
    if (is_writing_allowed(state))
        state_suspend(state, "the disk has not completed an operation for %d ms", HANG_MS);
}

static void end_chunk(struct inf_state *state)
{
    struct write_chunk *chunk = state->writing;
    uint64_t flush = chunk->flush;
    state->writing = NULL;
    state->written += chunk->closed;
    state->written_bytes += chunk->closed;
    state->batches += chunk->batches;
    chunk_free(state, chunk);
    if (!state->sync_timer.running)
        timer_start(state->clock, &state->sync_timer, SYNC_MS);
    writer_pump(state);
    compact_check(state);
    if (flush > state->flushed)
        state->flushed = flush;
    if (state->settings.on_flushed && state_may_call(state))
        state->settings.on_flushed(state, state->flushed);
}

static void on_written(struct inf_state *state, int64_t result)
{
    struct write_chunk *chunk = state->writing;
    if (!write_may_continue(state, result ? result : -ENOSPC, "write"))
        return;
    chunk->written += (size_t)result;
    if (chunk->written < chunk->closed)
        write_step(state);
    else
        end_chunk(state);
}

/* ---- dictionaries ---- */

static struct state_dictionary *unwritten_dictionary(struct inf_state *state)
{
    list_for_each(node, &state->dictionaries) {
        struct state_dictionary *d = container_of(node, struct state_dictionary, node);
        if (!d->size)
            return d;
    }
    return NULL;
}

static void on_dictionary_closed(struct inf_state *state, int64_t result)
{
    struct state_dictionary *d = unwritten_dictionary(state);
    state->side_fd = -1;
    if (!write_may_continue(state, result, "close dictionary"))
        return;
    d->size = state->side_bytes.len;
    pack_dictionary_unref(d->dictionary);
    d->dictionary = NULL;
    state->written_bytes += d->size;
    state->dir_changed = true;
    buf_free(&state->side_bytes);
    write_step(state);
}

static void on_dictionary_synced(struct inf_state *state, int64_t result)
{
    if (write_may_continue(state, result, "sync dictionary"))
        state_io_close(start_write_io(state), state->side_fd, on_dictionary_closed);
}

static void on_dictionary_written(struct inf_state *state, int64_t result)
{
    if (!write_may_continue(state, result ? result : -ENOSPC, "write dictionary"))
        return;
    state->side_written += (size_t)result;
    if (state->side_written < state->side_bytes.len)
        state_io_write(start_write_io(state), state->side_fd,
                       state->side_bytes.bytes + state->side_written,
                       state->side_bytes.len - state->side_written, state->side_written,
                       on_dictionary_written);
    else if (MUTANT("state: dictionary not synced"))
        state_io_close(start_write_io(state), state->side_fd, on_dictionary_closed);
    else
        state_io_sync(start_write_io(state), state->side_fd, on_dictionary_synced);
}

static void on_dictionary_opened(struct inf_state *state, int64_t result)
{
    struct state_dictionary *d;
    struct record record = {.type = RECORD_DICTIONARY, .number = state->id};
    if (result >= 0)
        state->side_fd = (int)result;
    if (!write_may_continue(state, result, "create dictionary"))
        return;
    d = unwritten_dictionary(state);
    record.owner = d->number;
    record.body = pack_dictionary_bytes(d->dictionary);
    buf_clear(&state->side_bytes);
    record_put(&state->side_bytes, &record);
    state->side_written = 0;
    state_io_write(start_write_io(state), state->side_fd, state->side_bytes.bytes,
                   state->side_bytes.len, 0, on_dictionary_written);
}

/* ---- files ---- */

static void on_dir_closed(struct inf_state *state, int64_t result)
{
    state->side_fd = -1;
    if (write_may_continue(state, result, "close directory"))
        write_step(state);
}

static void on_dir_synced(struct inf_state *state, int64_t result)
{
    if (!write_may_continue(state, result, "sync directory"))
        return;
    state->dir_changed = false;
    state_io_close(start_write_io(state), state->side_fd, on_dir_closed);
}

static void on_dir_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->side_fd = (int)result;
    if (write_may_continue(state, result, "open directory"))
        state_io_sync(start_write_io(state), state->side_fd, on_dir_synced);
}

static void on_segment_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0) {
        state->fd = (int)result;
        state->open_segment = state->writing ? state->writing->segment : 0;
    }
    if (!write_may_continue(state, result, "create segment"))
        return;
    state->dir_changed |= state->writing->offset == 0;
    write_step(state);
}

static void on_segment_closed(struct inf_state *state, int64_t result)
{
    state->fd = -1;
    if (write_may_continue(state, result, "close segment"))
        write_step(state);
}

static void on_segment_synced(struct inf_state *state, int64_t result)
{
    if (!write_may_continue(state, result, "sync"))
        return;
    state->synced = state->written;
    compact_continue(state);
    write_step(state);
}

/* The next operation that leads to the write of `writing`. */
static void write_step(struct inf_state *state)
{
    struct write_chunk *chunk = state->writing;
    struct state_dictionary *dictionary = unwritten_dictionary(state);
    bool other_file = state->fd >= 0 && state->open_segment != chunk->segment;
    char name[STATE_FILE_NAME];
    if (dictionary) {
        state_file_name(name, FILE_DICTIONARY, dictionary->number);
        state_io_open(start_write_io(state), name, O_WRONLY | O_CREAT | O_TRUNC,
                      on_dictionary_opened);
    } else if (other_file && state_io_busy(&state->sync_io)) {
        hang_timer_start(&state->hang_timer); /* on_synced() continues */
    } else if (other_file && state->synced < state->written &&
               !MUTANT("state: older segment not synced")) {
        state_io_sync(start_write_io(state), state->fd, on_segment_synced);
    } else if (other_file) {
        state_io_close(start_write_io(state), state->fd, on_segment_closed);
    } else if (state->fd < 0) {
        state_file_name(name, FILE_SEGMENT, chunk->segment);
        state_io_open(start_write_io(state), name,
                      O_WRONLY | O_APPEND | (chunk->offset ? 0 : O_CREAT | O_TRUNC),
                      on_segment_opened);
    } else if (state->dir_changed && !MUTANT("state: directory not synced")) {
        state_io_open(start_write_io(state), "", O_RDONLY | O_DIRECTORY, on_dir_opened);
    } else {
        state_io_append(start_write_io(state), state->fd, chunk->bytes.bytes + chunk->written,
                        chunk->closed - chunk->written, on_written);
    }
}

void writer_pump(struct inf_state *state)
{
    if (state->writing || !is_writing_allowed(state) || !writer_has_work(state))
        return;
    state->writing = container_of(state->chunks.next, struct write_chunk, node);
    chunk_split(state, state->writing);
    write_step(state);
}

/* ---- syncing ---- */

static void on_synced(struct inf_state *state, int64_t result)
{
    state->synced = state->syncing;
    if (!is_writing_allowed(state))
        return;
    if (result < 0) {
        state_suspend(state, "sync: %s", strerror((int)-result));
        return;
    }
    if (state->synced < state->written && !state->sync_timer.running)
        timer_start(state->clock, &state->sync_timer, SYNC_MS);
    if (state->writing && !state_io_busy(&state->write_io))
        write_step(state); /* it waited for the end of the sync */
    compact_continue(state);
}

static void on_sync_due(struct timer *timer)
{
    struct inf_state *state = container_of(timer, struct inf_state, sync_timer);
    writer_sync(state);
}

void writer_sync(struct inf_state *state)
{
    if (state_io_busy(&state->sync_io) || state->fd < 0 || state->synced == state->written)
        return;
    if (state->writing && state->writing->segment != state->open_segment)
        return; /* the file is synced before the next one is started */
    state->syncing = state->written;
    state_io_sync(&state->sync_io, state->fd, on_synced);
}

/* ---- reports without a write ---- */

static void report_flushes(struct task *task)
{
    struct inf_state *state = container_of(task, struct inf_state, report_task);
    if (state_phase(state) == STATE_CLOSING) {
        state_settle(state);
        return;
    }
    if (state_phase(state) == STATE_ACTIVE && state->waiting > WAITING_MAX)
        state_suspend(state, "the disk is too slow: %zu bytes wait to be written", state->waiting);
    if ((state_phase(state) == STATE_ACTIVE && writer_has_work(state) &&
         !MUTANT("state: log before state")) ||
        !state_may_call(state) || state->flushed == state->flush)
        return;
    state->flushed = state->flush;
    if (state->settings.on_flushed)
        state->settings.on_flushed(state, state->flushed);
}

void inf_state_mark(struct inf_state *state, uint64_t mark)
{
    state->mark = mark;
}

uint64_t inf_state_flush(struct inf_state *state)
{
    state->flush++;
    if (state_phase(state) != STATE_ACTIVE) {
        task_schedule(state->clock, &state->report_task);
        return state->flush;
    }
    writer_close_notes(state, state->flush);
    if (state->waiting > WAITING_MAX || MUTANT("state: log before state"))
        task_schedule(state->clock, &state->report_task);
    writer_pump(state);
    return state->flush;
}

void writer_init(struct inf_state *state)
{
    list_init(&state->chunks);
    state->fd = state->side_fd = state->load_fd = state->clean_fd = state->compact_fd = -1;
    state_io_init(&state->write_io, state);
    state_io_init(&state->sync_io, state);
    hang_timer_init(&state->hang_timer, state->clock, HANG_MS, on_hang);
    state->sync_timer.fire = on_sync_due;
    task_init(&state->report_task, PHASE_PUMP, report_flushes);
    task_init(&state->collect_task, PHASE_FLUSH, state_io_collect);
}
