/*
 * state_batch.c - collects records in batches, and decides which file they go to.
 *
 * Normal path: writer_put() appends records to the last chunk, and writer_close_notes() adds the end
 * record. What is noted while a chunk is written waits in the next one. A new file is started between two
 * batches, with everything that the records in it refer to.
 *
 * The place of a record is known when it is noted, because all that waits is appended in order or, after
 * an error, not at all: then the state is suspended (state_suspend.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/mutant.h"
#include "core/object/object_image.h"
#include "core/state/state_internal.h"

/* ---- chunks ---- */

static struct write_chunk *last_chunk(struct inf_state *state)
{
    struct write_chunk *chunk = container_of(state->chunks.prev, struct write_chunk, node);
    return list_empty(&state->chunks) || chunk == state->writing ? NULL : chunk;
}

static struct write_chunk *add_chunk(struct inf_state *state, uint32_t segment, uint32_t offset)
{
    struct write_chunk *chunk = NEW(struct write_chunk);
    chunk->segment = segment;
    chunk->offset = offset;
    list_push(&state->chunks, &chunk->node);
    return chunk;
}

void chunk_free(struct inf_state *state, struct write_chunk *chunk)
{
    state->waiting -= chunk->bytes.len;
    list_remove(&chunk->node);
    buf_free(&chunk->bytes);
    free(chunk);
}

/* Batches after the complete ones of @chunk move to a chunk of their own. */
void chunk_split(struct inf_state *state, struct write_chunk *chunk)
{
    struct write_chunk *rest;
    size_t open = chunk->bytes.len - chunk->closed;
    if (!open)
        return;
    rest = add_chunk(state, chunk->segment, chunk->offset + (uint32_t)chunk->closed);
    buf_put(&rest->bytes, chunk->bytes.bytes + chunk->closed, open);
    chunk->bytes.len = chunk->closed;
}

/* ---- files ---- */

/* Counts @len bytes that were appended to the last chunk, and returns their place. */
static struct place count_bytes(struct inf_state *state, size_t len)
{
    struct place place = {state->newest, state->end_offset, (uint32_t)len};
    state->end_offset += (uint32_t)len;
    state->waiting += len;
    segment_of(state, state->newest)->size += len;
    return place;
}

static void put_segment_head(struct inf_state *state, struct write_chunk *chunk)
{
    struct segment_body body = {.version = RECORD_VERSION,
                                .key = {state->pack_key.k0, state->pack_key.k1}};
    struct record record = {RECORD_SEGMENT, 0, state->newest, state->id, {"", 0}};
    size_t begin = record_begin(&chunk->bytes, &record);
    memcpy(body.magic, record_magic, sizeof(body.magic));
    buf_put(&chunk->bytes, (const char *)&body, sizeof(body));
    buf_puts(&chunk->bytes, state->settings.epoch);
    count_bytes(state, record_end(&chunk->bytes, begin));
}

/* Starts the next file with everything that records of streams and queues need. */
static void start_segment(struct inf_state *state)
{
    segments_add(state);
    state->end_offset = 0;
    state->next_segment = false;
    if (!MUTANT("state: labels of another segment")) {
        live_index_clear(&state->labels);
        state->next_labels = 1;
    }
    put_segment_head(state, add_chunk(state, state->newest, 0));
    list_for_each(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        if (!MUTANT("state: streams not defined again"))
            stream_define(stream);
        stream_put_position(stream);
    }
    list_for_each(node, &state->queues) {
        struct inf_state_queue *queue = container_of(node, struct inf_state_queue, node);
        queue_define(queue);
    }
    state->definitions = state->end_offset;
}

static bool is_segment_full(const struct inf_state *state)
{
    return !state->newest || state->next_segment ||
           (state->end_offset >= state->settings.segment_bytes &&
            state->end_offset >= 4 * state->definitions);
}

void writer_begin_record(struct inf_state *state)
{
    if (!state->batch_records && is_segment_full(state))
        start_segment(state);
}

/* ---- records ---- */

/* Where the next record of the current batch goes. */
static struct buf *batch_room(struct inf_state *state)
{
    struct write_chunk *chunk;
    writer_begin_record(state);
    chunk = last_chunk(state);
    if (!chunk)
        chunk = add_chunk(state, state->newest, state->end_offset);
    return &chunk->bytes;
}

struct place writer_put(struct inf_state *state, const struct record *record)
{
    size_t len = record_put(batch_room(state), record);
    state->batch_records++;
    return count_bytes(state, len);
}

struct place writer_put_object(struct inf_state *state, uint32_t stream, struct object_refs refs,
                               const struct inf_object *object, const struct packed_parts *parts)
{
    struct record record = {RECORD_OBJECT, 0, stream, object_refs_number(refs), {"", 0}};
    struct buf *out = batch_room(state);
    size_t begin = record_begin(out, &record);
    if (parts)
        object_image_put_parts(out, object, parts);
    else
        object_image_put(out, object);
    state->batch_records++;
    return count_bytes(state, record_end(out, begin));
}

/* ---- the end of a batch ---- */

static void close_batch(struct inf_state *state, uint64_t flush)
{
    struct batch_body body = {
        .time_us = clock_wall_us(state->clock), .oldest = state->needed, .mark = state->mark};
    struct record record = {.type = RECORD_BATCH_END,
                            .owner = state->batch_records,
                            .number = state->batch_number + 1,
                            .body = {(const char *)&body, sizeof(body)}};
    struct write_chunk *chunk;
    if (!state->batch_records) {
        chunk = last_chunk(state);
        if (!chunk)
            chunk = state->writing;
        if (chunk)
            chunk->flush = flush;
        else
            task_schedule(state->clock, &state->report_task);
        return;
    }
    writer_put(state, &record);
    state->batch_records = 0;
    state->batch_number++;
    state->written_us = body.time_us;
    chunk = last_chunk(state);
    state->closed += chunk->bytes.len - chunk->closed;
    chunk->closed = chunk->bytes.len;
    chunk->flush = flush;
    chunk->batches++;
}

void writer_close_notes(struct inf_state *state, uint64_t flush)
{
    list_for_each(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        if (stream->version_changed)
            stream_put_position(stream);
    }
    list_for_each(node, &state->queues) {
        struct inf_state_queue *queue = container_of(node, struct inf_state_queue, node);
        if (queue->confirmed_changed)
            queue_put_confirm(queue);
    }
    state->batch_changes = false;
    close_batch(state, flush);
    compact_batch_closed(state);
}

void writer_close_always(struct inf_state *state)
{
    struct record none = {.type = RECORD_NONE};
    if (!state->batch_records)
        writer_put(state, &none);
    writer_close_notes(state, state->flush);
}
