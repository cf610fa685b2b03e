/*
 * state_load.c - reads the files of a state.
 *
 * Normal path: make the directory, list it, read the dictionaries, then each segment in order. A
 * segment is read in pieces on the pool, which also verifies their records and makes objects (state_verify.h); while
 * the next piece is read, the loop applies what has arrived, within the budget of its ticks: whole batches. The first
 * piece is small: the pool needs what is in it (state_lend.c). What follows from all that, and from errors:
 * state_load_end.c.
 */
#include "core/state/state_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page_pool.h"
#include "core/mutant.h"

enum {
    HEAD_PIECE = 8 * 1024, /* has the head of the first segment */
    PIECE = 1024 * 1024,
    BUFFER = 4 * 1024 * 1024,          /* for pieces and their batch, unless that is larger */
    SLICE = 32,                        /* records between two looks at the budget */
    EXPECT_FROM = 4 * 1024 * 1024,     /* bytes of records that are like the later ones */
    SEGMENT_MAX = 1024 * 1024 * 1024,  /* LIMIT: bytes of a segment */
    DICTIONARY_MAX = 16 * 1024 * 1024, /* LIMIT: bytes of a dictionary */
    FILES_MAX = 1024 * 1024,           /* LIMIT: segments, and dictionaries */
};

static void read_next_file(struct inf_state *state);

/* ---- numbers of files ---- */

static uint32_t number_at(const struct buf *numbers, size_t i)
{
    uint32_t number;
    memcpy(&number, numbers->bytes + i * sizeof(number), sizeof(number));
    return number;
}

static size_t count_of(const struct buf *numbers)
{
    return numbers->len / sizeof(uint32_t);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return (left > right) - (left < right);
}

static void sort_numbers(struct buf *numbers)
{
    if (numbers->len)
        qsort(numbers->bytes, count_of(numbers), sizeof(uint32_t), compare_numbers);
}

static void take_names(struct loader *l, const char *names)
{
    for (; *names; names += strlen(names) + 1) {
        uint32_t number;
        enum state_file type = state_file_type(names, &number);
        struct buf *numbers = type == FILE_SEGMENT      ? &l->segments
                              : type == FILE_DICTIONARY ? &l->dictionaries
                                                        : NULL;
        if (numbers && count_of(numbers) < FILES_MAX)
            buf_put(numbers, (const char *)&number, sizeof(number));
    }
    sort_numbers(&l->segments);
    sort_numbers(&l->dictionaries);
}

/* ---- segments ---- */

static bool is_last_segment(const struct loader *l)
{
    return l->next + 1 == count_of(&l->segments);
}

static void on_segment_closed(struct inf_state *state, int64_t result)
{
    if (!loader_may_continue(state, result, "close"))
        return;
    state->loader->next++;
    if (state->torn_bytes)
        loader_cut_torn_tail(state);
    else
        read_next_file(state);
}

static void end_segment(struct inf_state *state)
{
    struct loader *l = state->loader;
    int fd = state->load_fd;
    if (!l->has_batch)
        l->batch = 0; /* the definitions are in the first batch: the file is started again */
    segment_of(state, state->newest)->size = l->batch;
    state->next_labels = (uint32_t)l->labels.count + 1;
    state->end_offset = (uint32_t)l->batch;
    state->torn_bytes = l->size - l->batch;
    if (MUTANT("state: torn tail accepted") && l->has_batch) {
        state->end_offset = (uint32_t)l->size;
        state->torn_bytes = 0;
    }
    if ((state->torn_bytes || !l->batch) && !is_last_segment(l)) {
        state_set_reason(state, "segment %u is damaged at byte %zu", state->newest, l->batch);
        loader_discard(state);
        return;
    }
    state->load_fd = -1;
    state_io_close(loader_start_io(state), fd, on_segment_closed);
}

/* After a part of the first segment, as if all segments were alike, and the last one half full. Gain over maps that
 * grow step by step: 9 of 69 ms of the loop's CPU time for 100,000 objects (bench_state start). */
static void expect_objects(struct inf_state *state)
{
    struct loader *l = state->loader;
    size_t segments = count_of(&l->segments);
    uint64_t all = l->size * segments - (segments > 1 ? l->size / 2 : 0);
    l->expecting = true;
    list_for_each(node, &state->streams) {
        struct inf_state_stream *stream = container_of(node, struct inf_state_stream, node);
        stream_expect(stream, (size_t)(stream->index.count * all / l->at));
    }
}

static void read_piece(struct inf_state *state);

static size_t next_len(const struct loader *l)
{
    size_t piece = l->work.checks_images || l->have ? PIECE : HEAD_PIECE;
    return l->size - l->have < piece ? l->size - l->have : piece;
}

/* The pool reads ahead as far as there is room. */
static void read_ahead(struct inf_state *state)
{
    struct loader *l = state->loader;
    if (l->work.checks_images && !l->torn && l->have < l->size &&
        l->have - l->batch + next_len(l) <= l->cap)
        read_piece(state);
}

/* What follows when all that is complete was applied. */
static void continue_segment(struct inf_state *state, const char *wrong)
{
    struct loader *l = state->loader;
    if (wrong || state->reason) {
        loader_discard(state);
    } else if (l->at >= l->size || l->torn) {
        end_segment(state);
    } else if (l->have < l->size) { /* the buffer was full, or it was the first piece */
        if (l->at && !l->work.checks_images)
            loader_begin_lending(state);
        read_piece(state);
        state_identify_dictionaries(state); /* while the pool reads */
    }
}

static void on_decode(struct task *task)
{
    struct loader *l = container_of(task, struct loader, task);
    struct inf_state *state = l->io.state;
    const char *wrong = NULL;
    bool more = true;
    if (state_phase(state) != STATE_LOADING)
        return;
    for (unsigned n = 1; more && !l->torn && l->at < l->have; n++) {
        more = segment_decode_next(state, &wrong);
        if (n % SLICE == 0 && clock_over_budget(state->clock)) {
            task_schedule(state->clock, &l->task);
            break;
        }
    }
    if (!l->expecting && l->at >= EXPECT_FROM)
        expect_objects(state);
    if (wrong) {
        l->torn = true;
        state_set_reason(state, "segment %u at byte %zu: %s", state->newest, l->at, wrong);
    }
    if (state_io_busy(&l->io))
        return; /* on_piece() continues */
    if (list_empty(&l->task.node))
        continue_segment(state, wrong);
    else
        read_ahead(state);
}

static void on_piece(struct inf_state *state, int64_t result)
{
    struct loader *l = state->loader;
    loader_take_back(state);
    if (!loader_may_continue(state, result, "read"))
        return;
    l->have += (size_t)result;
    l->total += (size_t)result;
    if (l->work.complete)
        l->complete = l->verified + l->work.complete;
    l->verified += l->work.verified;
    l->bad = l->work.bad;
    if (result == 0)
        l->size = l->have; /* the file was shortened */
    read_ahead(state);
    task_schedule(state->clock, &l->task);
}

/* Makes room for @len more bytes. The current batch must stay: it is applied when its end was read. */
static void make_room(struct loader *l, size_t len)
{
    size_t needed = l->have - l->base + len;
    if (needed > l->cap && l->base < l->batch) {
        memmove(l->bytes, l->bytes + (l->batch - l->base), l->have - l->batch);
        l->base = l->batch;
        needed = l->have - l->base + len;
    }
    if (needed > l->cap) {
        l->cap = needed < BUFFER ? BUFFER : needed * 2;
        l->bytes = xrealloc(l->bytes, l->cap);
    }
}

static void read_piece(struct inf_state *state)
{
    struct loader *l = state->loader;
    size_t len = next_len(l);
    make_room(l, len);
    loader_lend(state);
    state_io_read_and_work(loader_start_io(state), state->load_fd, l->bytes + (l->have - l->base),
                           len, l->have, piece_verify, &l->work, on_piece);
}

/* ---- dictionaries ---- */

static void on_dictionary_closed(struct inf_state *state, int64_t result)
{
    if (!loader_may_continue(state, result, "close"))
        return;
    state->loader->next++;
    read_next_file(state);
}

/* A damaged dictionary is not used: it may be a file that was not needed yet. */
static void take_dictionary(struct inf_state *state)
{
    struct loader *l = state->loader;
    struct state_dictionary *dictionary;
    struct record record;
    size_t size;
    int fd = state->load_fd;
    uint32_t number = number_at(&l->dictionaries, l->next);
    if (state->next_dictionary <= number)
        state->next_dictionary = number + 1;
    if (record_read((struct str){l->bytes, l->have}, &record, &size) == RECORD_OK &&
        record.type == RECORD_DICTIONARY && record.owner == number && size == l->have) {
        dictionary = dictionary_add(state, number);
        dictionary->size = size;
        dictionary->bytes = (struct buf){.bytes = l->bytes, .len = size, .cap = l->cap};
        l->bytes = NULL;
        l->cap = 0;
    }
    state->load_fd = -1;
    state_io_close(loader_start_io(state), fd, on_dictionary_closed);
}

static void on_dictionary_piece(struct inf_state *state, int64_t result)
{
    struct loader *l = state->loader;
    if (!loader_may_continue(state, result, "read"))
        return;
    l->have += (size_t)result;
    if (result == 0 || l->have == l->size)
        take_dictionary(state);
    else
        state_io_read(loader_start_io(state), state->load_fd, l->bytes + l->have, l->size - l->have,
                      l->have, on_dictionary_piece);
}

/* ---- files ---- */

static void on_stat(struct inf_state *state, int64_t result)
{
    struct loader *l = state->loader;
    uint64_t size = l->io.op.stat.size;
    if (!loader_may_continue(state, result, "stat"))
        return;
    if (!l->io.op.stat.regular || size > (l->reading_dictionaries ? DICTIONARY_MAX : SEGMENT_MAX)) {
        state_set_reason(state, "file %zu is not a regular file or too large", l->next + 1);
        loader_discard(state);
        return;
    }
    l->size = size;
    loader_drop_images(l);
    l->base = l->have = l->verified = l->complete = l->batch = l->at = 0;
    l->bad = false;
    l->records = 0;
    l->torn = l->has_batch = false;
    label_list_clear(&l->labels);
    if (l->reading_dictionaries) {
        make_room(l, size);
        state_io_read(loader_start_io(state), state->load_fd, l->bytes, l->size, 0,
                      on_dictionary_piece);
    } else if (size) {
        read_piece(state);
    } else {
        end_segment(state);
    }
}

static void on_opened(struct inf_state *state, int64_t result)
{
    if (result >= 0)
        state->load_fd = (int)result;
    if (loader_may_continue(state, result, "open"))
        state_io_stat(loader_start_io(state), state->load_fd, on_stat);
}

/* Segments are numbered without gaps. */
static bool begin_segment(struct inf_state *state)
{
    uint32_t number = number_at(&state->loader->segments, state->loader->next);
    if (number == 0 || (state->newest && number != state->newest + 1)) {
        state_set_reason(state, "segment %u is missing", state->newest + 1);
        return false;
    }
    if (!state->newest) {
        state->oldest = number;
        state->newest = number - 1;
    }
    segments_add(state);
    return true;
}

static void read_next_file(struct inf_state *state)
{
    struct loader *l = state->loader;
    char name[STATE_FILE_NAME];
    if (l->reading_dictionaries && l->next == count_of(&l->dictionaries)) {
        l->reading_dictionaries = false;
        l->next = 0;
    }
    if (l->reading_dictionaries) {
        state_file_name(name, FILE_DICTIONARY, number_at(&l->dictionaries, l->next));
    } else if (l->next == count_of(&l->segments)) {
        loader_end(state);
        return;
    } else if (!begin_segment(state)) {
        loader_discard(state);
        return;
    } else {
        state_file_name(name, FILE_SEGMENT, state->newest);
    }
    state_io_open(loader_start_io(state), name, O_RDONLY, on_opened);
}

static void on_listed(struct inf_state *state, int64_t result)
{
    if (!loader_may_continue(state, result, "list directory"))
        return;
    take_names(state->loader, state->loader->io.op.names);
    read_next_file(state);
}

static void on_dir_made(struct inf_state *state, int64_t result)
{
    if (loader_may_continue(state, result == -EEXIST ? 0 : result, "create directory"))
        state_io_list(loader_start_io(state), on_listed);
}

bool loader_busy(const struct inf_state *state)
{
    return state->loader && state_io_busy(&state->loader->io);
}

void loader_free(struct inf_state *state)
{
    struct loader *l = state->loader;
    if (!l)
        return;
    task_cancel(&l->task);
    hang_timer_stop(&l->hang_timer);
    buf_free(&l->segments);
    buf_free(&l->dictionaries);
    free(l->bytes);
    loader_free_work(l);
    label_list_clear(&l->labels);
    free(l);
    state->loader = NULL;
}

void loader_start(struct inf_state *state)
{
    struct loader *l = NEW(struct loader);
    state->loader = l;
    loader_init(state, l);
    page_stock_init(&l->work.stock);
    task_init(&l->task, PHASE_PUMP, on_decode);
    l->reading_dictionaries = true;
    if (state->settings.read_only)
        state_io_list(loader_start_io(state), on_listed);
    else
        state_io_make_dir(loader_start_io(state), on_dir_made);
}
