/*
 * state_load.h - the loader of a state: state_load.c reads files, state_decode.c the records of a
 * segment, and state_load_end.c draws the conclusions.
 */
#ifndef CORE_STATE_LOAD_H
#define CORE_STATE_LOAD_H

#include "core/state/state_internal.h"
#include "core/state/state_verify.h"

enum {
    LOADED_PUTS = 8,
};

/* An object that will be added to the index of its stream: some records later, because the memory of the slot has
 * to be fetched. */
struct loaded_put {
    struct inf_state_stream *stream;
    struct place place;
    struct loaded_object object;
};

struct loader {
    struct state_io io;
    struct task task;
    struct hang_timer hang_timer;
    struct buf segments, dictionaries; /* of uint32_t, sorted: numbers of files */
    size_t next;                       /* index of the file that is read */
    bool reading_dictionaries;

    /* the file that is read; positions are offsets in it */
    char *bytes;              /* of the file, from `base` on */
    size_t cap;               /* of `bytes` */
    size_t base;              /* everything before it was applied */
    size_t size;              /* of the file */
    size_t have;              /* the end of what was read */
    size_t verified;          /* the end of the records that are not damaged */
    bool bad;                 /* the record at `verified` is */
    size_t complete;          /* the end of the last complete batch; before the first one 0 */
    size_t batch;             /* where the current batch begins */
    size_t at;                /* the next record to apply */
    uint32_t records;         /* of the current batch that were applied */
    bool torn;                /* nothing after `batch` can be read */
    bool has_batch;           /* a complete one */
    uint32_t oldest;          /* that the last batch needs */
    struct label_list labels; /* that the file has defined */
    struct piece_work work;   /* of the piece that is read */
    struct buf images;        /* of struct checked_image: of the pieces that were read */
    struct checked_image checked[PIECE_IMAGES]; /* of the piece that is read */
    size_t next_image;                          /* bytes of `images` before the next one */
    uint64_t total;                             /* bytes of segments that were read */
    bool expecting;                             /* streams know how many objects to expect */
    struct loaded_put puts[LOADED_PUTS];
    unsigned n_puts;
};

/* What was read of the file from @at on. */
static inline struct str loader_bytes(const struct loader *l, size_t at)
{
    return (struct str){l->bytes + (at - l->base), l->have - at};
}

/* ---- state_load_end.c ---- */

void loader_init(struct inf_state *state, struct loader *l);

/* The operation for the next call, which must end in time. */
struct state_io *loader_start_io(struct inf_state *state);

/* An operation has ended: returns whether to continue. @what names it for an error. */
bool loader_may_continue(struct inf_state *state, int64_t result, const char *what);

/* Discards because of damage that @state->reason describes. No operation is in flight. */
void loader_discard(struct inf_state *state);

/* The last segment has an incomplete batch: cuts it off, then loader_end(). */
void loader_cut_torn_tail(struct inf_state *state);

/* All files were read. */
void loader_end(struct inf_state *state);

/* ---- state_decode.c ---- */

/* Applies the next record of the segment. Returns whether there may be more: not if bytes are missing, if the
 * rest is torn, or if it is wrong; then *@ret_wrong says why. */
bool segment_decode_next(struct inf_state *state, const char **ret_wrong);

/* ---- state_apply.c ---- */

/* Applies a record of a complete batch. Returns NULL, or what is wrong with it. */
const char *state_apply(struct inf_state *state, const struct record *record, struct place place);

/* The same for an object whose image is not damaged; @hash is that of its key. */
const char *state_apply_checked(struct inf_state *state, const struct record *record,
                                struct place place, uint64_t hash);

/* All records of the batch were applied. */
void state_apply_batch_end(struct inf_state *state);

/* When all records were applied. Returns NULL, or what is wrong. */
const char *state_apply_end(struct inf_state *state);

#endif
