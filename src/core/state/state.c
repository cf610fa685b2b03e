/*
 * state.c - the life of a state: open, load, close.
 *
 * Closing writes the current batch, syncs, and closes the file, at most CLOSE_MS; then on_closed() is
 * called. If an operation hangs, the memory stays until it ends.
 */
#include "core/state/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "core/state/state_internal.h"

enum {
    CLOSE_MS = 2000,
    SEGMENT_BYTES = 32 * 1024 * 1024,
    SEGMENT_BYTES_MIN = 64 * 1024,
    SEGMENT_BYTES_MAX = 256 * 1024 * 1024,
};

static const uint64_t MAX_DISK = UINT64_C(2) * 1024 * 1024 * 1024;

static const struct sm_state phases[] = {
    [STATE_LOADING] = {"loading", SM_TO(STATE_CLEARING) | SM_TO(STATE_ACTIVE) |
                                      SM_TO(STATE_READ_ONLY) | SM_TO(STATE_SUSPENDED) |
                                      SM_TO(STATE_CLOSING)},
    [STATE_CLEARING] = {"clearing",
                        SM_TO(STATE_ACTIVE) | SM_TO(STATE_SUSPENDED) | SM_TO(STATE_CLOSING)},
    [STATE_ACTIVE] = {"active", SM_TO(STATE_SUSPENDED) | SM_TO(STATE_CLOSING)},
    [STATE_READ_ONLY] = {"read-only", SM_TO(STATE_CLOSING)},
    [STATE_SUSPENDED] = {"suspended", SM_TO(STATE_CLEARING) | SM_TO(STATE_CLOSING)},
    [STATE_CLOSING] = {"closing", SM_TO(STATE_CLOSED)},
    [STATE_CLOSED] = {"closed", 0},
};

/* ---- small things ---- */

void state_set_reason_v(struct inf_state *state, const char *fmt, va_list args)
{
    struct buf text = {0};
    buf_vprintf(&text, fmt, args);
    buf_putc(&text, '\0');
    free(state->reason);
    state->reason = text.bytes;
}

void state_set_reason(struct inf_state *state, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    state_set_reason_v(state, fmt, args);
    va_end(args);
}

void state_set_pack_key(struct inf_state *state, struct siphash_key key)
{
    state->pack_key = key;
    pack_context_unref(state->context);
    state->context = pack_context_new(&key);
}

void state_report_loaded(struct inf_state *state)
{
    state->loaded = true;
    if (state->settings.on_loaded && state_may_call(state))
        state->settings.on_loaded(state);
}

struct pack_context *state_pack_context(struct inf_state *state)
{
    return state->context;
}

void *inf_state_data(const struct inf_state *state)
{
    return state->settings.data;
}

bool inf_state_is_active(const struct inf_state *state)
{
    return state_phase(state) == STATE_ACTIVE;
}

static void on_log_line(struct log *log, enum log_level level, const char *line)
{
    struct inf_state *state = container_of(log, struct inf_state, log);
    if (state->settings.on_log && state_may_call(state))
        state->settings.on_log(state, (enum inf_log_level)level, line);
}

/* ---- information ---- */

static uint64_t memory_of(const struct inf_state *state)
{
    uint64_t bytes = state->waiting + state->segments_cap * sizeof(*state->segments) +
                     live_index_memory(&state->labels);
    list_for_each(node, &state->streams) {
        const struct inf_state_stream *s = container_of(node, const struct inf_state_stream, node);
        bytes += sizeof(*s) + live_index_memory(&s->index);
    }
    list_for_each(node, &state->queues) {
        const struct inf_state_queue *q = container_of(node, const struct inf_state_queue, node);
        bytes += sizeof(*q) + q->pending.cap;
    }
    return bytes;
}

void inf_state_info(const struct inf_state *state, struct inf_state_info *ret_info)
{
    *ret_info = (struct inf_state_info){
        .loaded = state->loaded,
        .suspended = state->suspension_reported || state_phase(state) == STATE_SUSPENDED,
        .reason = state->reason,
        .batches = state->batches,
        .compactions = state->compactions,
        .written_bytes = state->written_bytes,
        .written_us = state->written_us,
        .torn_bytes = state->torn_bytes,
        .mark = state->mark,
        .memory_bytes = memory_of(state),
    };
    for (uint32_t i = state->oldest; state->newest && i <= state->newest; i++) {
        ret_info->disk_bytes += state->segments[i - state->oldest].size;
        ret_info->live_bytes += state->segments[i - state->oldest].live;
        ret_info->segments++;
    }
    list_for_each(node, &state->dictionaries) {
        const struct state_dictionary *d = container_of(node, const struct state_dictionary, node);
        ret_info->disk_bytes += d->size;
        ret_info->live_bytes += d->size;
    }
    list_for_each(node, &state->streams) {
        ret_info->objects += container_of(node, const struct inf_state_stream, node)->index.count;
        ret_info->streams++;
    }
}

/* ---- open ---- */

static int check_settings(const struct inf_state_settings *settings, struct inf_error *err)
{
    if (!settings->dir || !settings->dir[0])
        return err_set(err, INF_EINVAL, "state: dir is missing");
    if (settings->epoch && strlen(settings->epoch) > INF_STATE_ID_MAX)
        return err_set(err, INF_EINVAL, "state: epoch is longer than %d bytes", INF_STATE_ID_MAX);
    if (settings->segment_bytes && (settings->segment_bytes < SEGMENT_BYTES_MIN ||
                                    settings->segment_bytes > SEGMENT_BYTES_MAX))
        return err_set(err, INF_EINVAL, "state: segment_bytes must be between %d and %d",
                       SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
    if (!ALL_ZERO(settings->reserved))
        return err_set(err, INF_EINVAL, "state: a reserved field is not zero");
    return 0;
}

static void copy_settings(struct inf_state *state, const struct inf_state_settings *settings)
{
    state->settings = *settings;
    state->settings.dir = xstrdup(settings->dir);
    state->settings.epoch = xstrdup(settings->epoch ? settings->epoch : "");
    if (!settings->max_disk)
        state->settings.max_disk = MAX_DISK;
    if (!settings->segment_bytes)
        state->settings.segment_bytes = SEGMENT_BYTES;
}

static void on_close_late(struct timer *timer);

struct inf_state *state_new(struct disk *disk, struct clock *clock, const struct siphash_key *key,
                            const struct inf_state_settings *settings, void (*on_free)(void *owner),
                            void *owner, struct inf_error *err)
{
    struct inf_state *state;
    if (check_settings(settings, err) < 0)
        return NULL;
    state = NEW(struct inf_state);
    state->disk = disk;
    state->clock = clock;
    state->key = *key;
    state->on_free = on_free;
    state->owner = owner;
    copy_settings(state, settings);
    state->log = (struct log){.level = LOG_DEBUG, .emit = on_log_line};
    sm_init(&state->sm, phases, STATE_LOADING, "state", &state->log);
    rng_init(&state->rng);
    state->id = rng_next(&state->rng);
    state_set_pack_key(state, *key);
    streams_init(state);
    list_init(&state->queues);
    list_init(&state->dictionaries);
    state->next_stream = state->next_queue = state->next_dictionary = 1;
    state->close_timer.fire = on_close_late;
    writer_init(state);
    suspend_init(state);
    loader_start(state);
    return state;
}

/* ---- close ---- */

static void on_leftover_closed(struct inf_state *state, int64_t result)
{
    (void)state;
    (void)result; /* the file is not used any more */
}

static void free_state(struct deferred_free *deferred_free)
{
    struct inf_state *state = container_of(deferred_free, struct inf_state, deferred_free);
    void (*on_free)(void *owner) = state->on_free;
    void *owner = state->owner;
    list_for_each_safe(node, &state->dictionaries)
        dictionary_free(state, container_of(node, struct state_dictionary, node));
    segments_reset(state);
    live_index_clear(&state->labels);
    streams_free_discarded(state);
    pack_context_unref(state->context);
    buf_free(&state->side_bytes);
    free((char *)(uintptr_t)state->settings.dir);
    free((char *)(uintptr_t)state->settings.epoch);
    free(state->reason);
    free(state);
    if (on_free)
        on_free(owner);
}

/* Closes one of the files that are still open. Returns false if there is none. */
bool state_close_leftovers(struct inf_state *state)
{
    int *const fds[] = {&state->fd, &state->side_fd, &state->load_fd, &state->clean_fd,
                        &state->compact_fd};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        int fd = *fds[i];
        if (fd < 0)
            continue;
        *fds[i] = -1;
        state_io_close(&state->sync_io, fd, on_leftover_closed);
        return true;
    }
    return false;
}

static void finish_close(struct inf_state *state, const char *why)
{
    timer_stop(state->clock, &state->close_timer);
    writer_drop(state);
    sm_move(&state->sm, STATE_CLOSED, "%s", why);
    if (state->on_closed)
        state->on_closed(state->on_closed_ctx);
}

static void on_close_late(struct timer *timer)
{
    struct inf_state *state = container_of(timer, struct inf_state, close_timer);
    finish_close(state, "the disk is too slow");
    state_settle(state);
}

void state_settle(struct inf_state *state)
{
    if (state_phase(state) < STATE_CLOSING || state_any_io_busy(state))
        return;
    if (state_phase(state) == STATE_CLOSING && writer_has_work(state)) {
        writer_pump(state);
        return;
    }
    if (state_phase(state) == STATE_CLOSING && !state->abandoned &&
        state->synced < state->written && state->fd >= 0) {
        writer_sync(state);
        return;
    }
    writer_drop(state);
    if (state_close_leftovers(state))
        return;
    if (state_phase(state) == STATE_CLOSING)
        finish_close(state, "done");
    loader_free(state);
    cleaner_free(state);
    compactor_free(state);
    task_cancel(&state->report_task);
    task_cancel(&state->collect_task);
    clock_free_later(state->clock, &state->deferred_free, free_state);
}

void inf_state_close(struct inf_state *state, void (*on_closed)(void *ctx), void *ctx)
{
    if (!state)
        return;
    if (state_phase(state) == STATE_ACTIVE)
        inf_state_flush(state);
    state->on_closed = on_closed;
    state->on_closed_ctx = ctx;
    sm_move(&state->sm, STATE_CLOSING, "close");
    timer_stop(state->clock, &state->retry_timer);
    timer_stop(state->clock, &state->sync_timer);
    list_for_each_safe(node, &state->streams)
        stream_free(container_of(node, struct inf_state_stream, node));
    list_for_each_safe(node, &state->queues)
        queue_free(container_of(node, struct inf_state_queue, node));
    timer_start(state->clock, &state->close_timer, CLOSE_MS);
    task_schedule(state->clock, &state->report_task); /* calls state_settle() */
}

void *state_owner(const struct inf_state *state)
{
    return state->owner;
}
