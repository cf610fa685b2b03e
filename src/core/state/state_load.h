/*
 * state_load.h - the loader of a state: state_load.c reads files, state_decode.c the records of a
 * segment, and state_load_end.c draws the conclusions.
 */
#ifndef CORE_STATE_LOAD_H
#define CORE_STATE_LOAD_H

#include "core/state/state_internal.h"
#include "core/state/state_verify.h"

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
    size_t next_image;        /* bytes of `images` before the next one */
    uint64_t total;           /* bytes of segments that were read */
    bool expecting;           /* streams know how many objects to expect */
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

/* ---- state_lend.c ---- */

/* Everything before `at` of the first segment was applied, at least its head. No piece is read. */
void loader_begin_lending(struct inf_state *state);

/* Prepares `work` for the piece that is read next, and takes what the pool has made of it: always before anything
 * else that follows the read. */
void loader_lend(struct inf_state *state);
void loader_take_back(struct inf_state *state);

/* The image of the record at `at`. Returns false if the pool did not check it. The reference to its object goes to the
 * caller. */
bool loader_next_image(struct loader *l, struct checked_image *ret_image);

/* The image @ahead ones after the next one, if it was read. */
bool loader_peek_image(const struct loader *l, size_t ahead, struct checked_image *ret_image);

/* Releases the objects that were not applied. */
void loader_drop_images(struct loader *l);

/* No piece is read. */
void loader_free_work(struct loader *l);

/* ---- state_decode.c ---- */

/* Applies the next record of the segment. Returns whether there may be more: not if bytes are missing, if the
 * rest is torn, or if it is wrong; then *@ret_wrong says why. */
bool segment_decode_next(struct inf_state *state, const char **ret_wrong);

/* ---- state_apply.c ---- */

/* Applies a record of a complete batch. Returns NULL, or what is wrong with it. */
const char *state_apply(struct inf_state *state, const struct record *record, struct place place);

/* The same for an object whose image is not damaged. Takes over the reference to its object, if it is made; then
 * the body of @record is not used. */
const char *state_apply_checked(struct inf_state *state, const struct record *record,
                                struct place place, const struct checked_image *image);

/* The dictionary with this number, in `dictionary` of @ret. Returns NULL, or what is wrong. */
const char *state_find_dictionary(struct inf_state *state, uint32_t number,
                                  struct state_dictionary **ret);

/* Computes the ids of the dictionaries that were found. It is not needed before the end, which it would delay. */
void state_identify_dictionaries(struct inf_state *state);

/* When all records were applied. Returns NULL, or what is wrong. */
const char *state_apply_end(struct inf_state *state);

#endif
