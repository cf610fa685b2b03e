/*
 * split.h - the split rule: a parser says the same however its input is cut.
 *
 * Inputs up to 16 KB are cut at every byte. Larger ones near every line's end (chunks and events
 * end there) and at 2,000 places by chance, the same in each run. And every input goes byte by byte
 * once.
 */
#ifndef TEST_SPLIT_H
#define TEST_SPLIT_H

#include <stdbool.h>

#include "base/str.h"

/* One way to give an input: @first bytes, then pieces of @piece bytes; 0: all the rest at once. */
struct split {
    size_t first;
    size_t piece;
};

/* Calls @play for each way to cut @input, beginning with the whole in one piece. */
void split_each(struct str input,
                void (*play)(const void *ctx, struct str input, struct split split),
                const void *ctx);

/* The same for an input whose edges are no lines: @edges are the places that matter. */
void split_each_near(struct str input, const size_t *edges, size_t n_edges,
                     void (*play)(const void *ctx, struct str input, struct split split),
                     const void *ctx);

/* Takes the next piece from the front of @input; false when nothing is left. */
bool split_next(struct split *split, struct str *input, struct str *ret_piece);

#endif
