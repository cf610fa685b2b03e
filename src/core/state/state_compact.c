/*
 * state_compact.c - copies what is needed from the oldest file to the end of the last one, and removes
 * the oldest file.
 *
 * Normal path: compact_check(), after each write, finds that more bytes are dead than live. The oldest
 * segment is read in pieces; within the budget of a tick the records that the index still refers to
 * are copied into the current batch, and the index follows. When a batch that was closed after the
 * last copy is synced, the segment is removed, then the dictionaries that no segment uses any more.
 *
 * A record is dead as soon as its successor is noted. The successor may be in the current batch, so the
 * segment is only removed when that batch is on disk, too. A batch that has notes of the owner is
 * closed by the owner alone: it must not be split.
 *
 * Failures suspend the state, also a copied record with a wrong CRC.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/mutant.h"
#include "core/object/object_image.h"
#include "core/state/state_internal.h"

enum {
    PIECE = 256 * 1024,
    SLICE = 16,                     /* records between two looks at the budget */
    WAITING_MAX = 4 * 1024 * 1024,  /* copy no more while this much waits to be written */
    FULL_RETRY_MS = 60 * 60 * 1000, /* after max_disk was exceeded */
};

enum compact_step {
    COMPACT_COPY,
    COMPACT_CLOSE, /* wait for the end of the current batch */
    COMPACT_SYNC,  /* wait until everything is synced */
    COMPACT_REMOVE,
};

struct compactor {
    struct state_io io;
    struct task task;
    enum compact_step step;
    struct buf piece;
    size_t at;                /* in the piece */
    uint64_t offset;          /* of the piece */
    uint64_t target;          /* COMPACT_SYNC: what must be synced */
    struct label_list labels; /* that the segment has defined */
    char name[STATE_FILE_NAME];
};

static void remove_dictionaries(struct inf_state *state, int64_t result);

/* ---- when ---- */

struct usage {
    uint64_t size, live;
};

static struct usage usage_of(struct inf_state *state)
{
    struct usage usage = {0};
    for (uint32_t n = state->oldest; state->newest && n <= state->newest; n++) {
        usage.size += segment_of(state, n)->size;
        usage.live += segment_of(state, n)->live;
    }
    return usage;
}

static uint64_t dictionary_bytes(const struct inf_state *state)
{
    uint64_t bytes = 0;
    list_for_each(node, &state->dictionaries)
        bytes += container_of(node, const struct state_dictionary, node)->size;
    return bytes;
}

/* Near the limit a quarter of the live bytes is enough reason to compact. */
static bool is_worth_it(const struct inf_state *state, struct usage usage, bool full)
{
    uint64_t dead = usage.size - usage.live;
    return full ? dead > usage.live / 4 : dead > usage.live + state->settings.segment_bytes;
}

static void start(struct inf_state *state);

void compact_check(struct inf_state *state)
{
    struct usage usage = usage_of(state);
    uint64_t disk = usage.size + dictionary_bytes(state), max = state->settings.max_disk;
    bool worth_it = is_worth_it(state, usage, disk + state->settings.segment_bytes > max);
    if (state_phase(state) != STATE_ACTIVE)
        return;
    if (disk > max && (!worth_it || disk > max + 2 * state->settings.segment_bytes)) {
        state->retry_ms = FULL_RETRY_MS;
        state_suspend(state, "it needs %llu bytes; max_disk is %llu", (unsigned long long)disk,
                      (unsigned long long)max);
    } else if (state->compactor) {
        compact_continue(state);
    } else if (worth_it && state->oldest == state->newest) {
        state->next_segment = true;
    } else if (worth_it && state->oldest != state->open_segment) {
        start(state);
    } /* else the first segment may have parts that are not written yet; the end of a later write checks again */
}

/* ---- copying ---- */

static bool is_at(const struct place *place, uint32_t segment, uint64_t offset)
{
    return place && place->segment == segment && place->offset == offset;
}

/* The place that refers to the record at @offset of the oldest segment; NULL if it is dead. */
static struct place *find_place(struct inf_state *state, const struct record *record,
                                uint64_t offset)
{
    struct inf_state_stream *stream;
    struct inf_state_queue *queue;
    struct queue_piece *piece;
    struct place *place;
    if (record->type == RECORD_OBJECT) {
        stream = stream_by_number(state, record->owner);
        place = stream ? live_index_find(&stream->index,
                                         state_key_hash(state, object_image_key(record->body)))
                       : NULL;
        return is_at(place, state->oldest, offset) ? place : NULL;
    }
    if (MUTANT("state: compaction loses lines"))
        return NULL;
    if (record->type != RECORD_LINES || !(queue = queue_by_number(state, record->owner)))
        return NULL;
    piece = queue_find_piece(queue, record->number);
    return piece && is_at(&piece->place, state->oldest, offset) ? &piece->place : NULL;
}

/* The number of an object's label set is another one in another segment. */
static uint64_t number_of_copy(struct inf_state *state, const struct record *record)
{
    struct object_refs refs = object_refs_of(record->number);
    struct label_set *labels = label_list_get(&state->compactor->labels, refs.labels);
    if (record->type != RECORD_OBJECT)
        return record->number;
    if (!MUTANT("state: compaction mixes up labels"))
        refs.labels = labels ? labels_define(state, labels->text) : 0;
    return object_refs_number(refs);
}

static void copy_record(struct inf_state *state, const struct record *record, struct place *place)
{
    struct record copied = *record;
    struct state_dictionary *dictionary;
    struct place copy;
    copied.number = number_of_copy(state, record);
    copy = writer_put(state, &copied);
    if (MUTANT("state: compaction mixes up offsets"))
        copy.offset -= 8;
    segment_dead(state, place);
    *place = copy;
    segment_live(state, place);
    dictionary = record->type == RECORD_OBJECT
                     ? dictionary_by_number(state, object_refs_of(record->number).dictionary)
                     : NULL;
    if (dictionary && !MUTANT("state: dictionary lost"))
        dictionary->last_segment = copy.segment;
}

/* Copies records of the piece. Returns false if the segment is damaged. */
static bool copy_some(struct inf_state *state, struct compactor *c)
{
    struct record record;
    size_t size;
    for (unsigned n = 1; c->at < c->piece.len; n++) {
        struct str bytes = {c->piece.bytes + c->at, c->piece.len - c->at};
        struct place *place;
        enum record_result result = record_read(bytes, &record, &size);
        if (result == RECORD_SHORT)
            return true;
        if (result == RECORD_BAD)
            return false;
        place = find_place(state, &record, c->offset + c->at);
        if (record.type == RECORD_LABELS)
            label_list_add(&c->labels, record.body);
        else if (place)
            copy_record(state, &record, place);
        c->at += size;
        if (state->waiting > WAITING_MAX)
            return true;
        if (n % SLICE == 0 && clock_over_budget(state->clock)) {
            task_schedule(state->clock, &c->task);
            return true;
        }
    }
    return true;
}

/* ---- reading ---- */

static bool compact_may_continue(struct inf_state *state, int64_t result, const char *what)
{
    if (state_phase(state) != STATE_ACTIVE)
        return false;
    if (result >= 0)
        return true;
    state_suspend(state, "%s: %s", what, strerror((int)-result));
    return false;
}

static void end_copying(struct inf_state *state);

static void on_read(struct inf_state *state, int64_t result)
{
    struct compactor *c = state->compactor;
    if (!compact_may_continue(state, result, "read"))
        return;
    if (result == 0) {
        state_suspend(state, "%s is shorter than it was", c->name);
        return;
    }
    c->piece.len += (size_t)result;
    task_schedule(state->clock, &c->task);
}

/* Reads on from the first record that is not complete. */
static void read_piece(struct inf_state *state)
{
    struct compactor *c = state->compactor;
    buf_consume(&c->piece, c->at);
    c->offset += c->at;
    c->at = 0;
    if (c->offset + c->piece.len >= segment_of(state, state->oldest)->size) {
        end_copying(state);
        return;
    }
    state_io_read(&c->io, state->compact_fd, buf_room(&c->piece, PIECE), PIECE,
                  c->offset + c->piece.len, on_read);
}

static void on_copy(struct task *task)
{
    struct compactor *c = container_of(task, struct compactor, task);
    struct inf_state *state = c->io.state;
    bool alone = !writer_is_batch_open(state) || MUTANT("state: compaction splits a batch");
    if (state_phase(state) != STATE_ACTIVE || c->step != COMPACT_COPY)
        return;
    if (!copy_some(state, c)) {
        state_suspend(state, "%s is damaged", c->name);
        return;
    }
    if (alone && state->batch_records) {
        writer_close_notes(state, state->flush);
        writer_pump(state);
    }
    if (list_empty(&c->task.node) && state->waiting <= WAITING_MAX)
        read_piece(state);
}

/* ---- removing ---- */

static void end_compaction(struct inf_state *state)
{
    compactor_free(state);
    compact_check(state);
}

static void on_dictionary_removed(struct inf_state *state, int64_t result)
{
    if (compact_may_continue(state, result == -ENOENT ? 0 : result, "remove dictionary"))
        remove_dictionaries(state, 0);
}

/* Removes the first dictionary that no segment uses. */
static void remove_dictionaries(struct inf_state *state, int64_t result)
{
    struct compactor *c = state->compactor;
    state->compact_fd = -1;
    if (!compact_may_continue(state, result, "close directory"))
        return;
    list_for_each(node, &state->dictionaries) {
        struct state_dictionary *d = container_of(node, struct state_dictionary, node);
        if (!d->size || d->last_segment >= state->oldest)
            continue;
        state_file_name(c->name, FILE_DICTIONARY, d->number);
        dictionary_free(state, d);
        state_io_remove(&c->io, c->name, on_dictionary_removed);
        return;
    }
    end_compaction(state);
}

static void on_dir_synced(struct inf_state *state, int64_t result)
{
    if (compact_may_continue(state, result, "sync directory"))
        state_io_close(&state->compactor->io, state->compact_fd, remove_dictionaries);
}

static void on_dir_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->compact_fd = (int)result;
    if (compact_may_continue(state, result, "open directory"))
        state_io_sync(&state->compactor->io, state->compact_fd, on_dir_synced);
}

/* The removal must be on disk before anything else is removed. */
static void on_removed(struct inf_state *state, int64_t result)
{
    if (!compact_may_continue(state, result, "remove"))
        return;
    segments_remove_oldest(state);
    state->compactions++;
    state_io_open(&state->compactor->io, "", O_RDONLY | O_DIRECTORY, on_dir_opened);
}

void compact_batch_closed(struct inf_state *state)
{
    struct compactor *c = state->compactor;
    if (!c || c->step != COMPACT_CLOSE)
        return;
    c->step = COMPACT_SYNC;
    c->target = MUTANT("state: segment removed before its copies are synced") ? 0 : state->closed;
}

void compact_continue(struct inf_state *state)
{
    struct compactor *c = state->compactor;
    if (!c || state_phase(state) != STATE_ACTIVE || state_io_busy(&c->io))
        return;
    if (c->step == COMPACT_COPY && state->waiting <= WAITING_MAX) {
        task_schedule(state->clock, &c->task);
    } else if (c->step == COMPACT_SYNC && state->synced >= c->target) {
        c->step = COMPACT_REMOVE;
        state_io_remove(&c->io, c->name, on_removed);
    } else if (c->step == COMPACT_SYNC && state->written >= c->target) {
        writer_sync(state);
    }
}

static void on_segment_closed(struct inf_state *state, int64_t result)
{
    state->compact_fd = -1;
    if (!compact_may_continue(state, result, "close"))
        return;
    state->compactor->step = COMPACT_CLOSE;
    state->needed = state->oldest + 1;
    if (!writer_is_batch_open(state)) {
        writer_close_always(state);
        writer_pump(state);
    } else if (MUTANT("state: compaction does not wait for the open batch")) {
        compact_batch_closed(state);
        compact_continue(state);
    }
}

static void end_copying(struct inf_state *state)
{
    state_io_close(&state->compactor->io, state->compact_fd, on_segment_closed);
}

/* ---- life ---- */

static void on_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->compact_fd = (int)result;
    if (compact_may_continue(state, result, "open"))
        read_piece(state);
}

static void start(struct inf_state *state)
{
    struct compactor *c = NEW(struct compactor);
    state->compactor = c;
    state_io_init(&c->io, state);
    task_init(&c->task, PHASE_PUMP, on_copy);
    state_file_name(c->name, FILE_SEGMENT, state->oldest);
    state_io_open(&c->io, c->name, O_RDONLY, on_opened);
}

bool compactor_busy(const struct inf_state *state)
{
    return state->compactor && state_io_busy(&state->compactor->io);
}

void compactor_free(struct inf_state *state)
{
    if (!state->compactor)
        return;
    task_cancel(&state->compactor->task);
    buf_free(&state->compactor->piece);
    label_list_clear(&state->compactor->labels);
    free(state->compactor);
    state->compactor = NULL;
}
