/*
 * split.h - the split rule: the result of a parser does not depend on how its input is cut.
 *
 * Short inputs are cut at every byte. Longer ones are cut near the end of every line, where chunks
 * and events end, and at random offsets, the same in each run. Every input is also given byte by
 * byte.
 *
 *                     cut at every byte up to    near a line end    random offsets
 *     make test-full                    16 KB        +-8 bytes             2,000
 *     make test                     512 bytes        +-1 byte                 60
 */
#ifndef TEST_SPLIT_H
#define TEST_SPLIT_H

#include <stdbool.h>

#include "base/str.h"

/* One way to cut an input: @first bytes, then pieces of @piece bytes; 0: all the rest at once. */
struct split {
    size_t first;
    size_t piece;
};

/* Calls @play for each way to cut @input, beginning with the whole in one piece. */
void split_each(struct str input,
                void (*play)(const void *ctx, struct str input, struct split split),
                const void *ctx);

/* The same for an input that is not made of lines: @edges replace the ends of the lines. */
void split_each_near(struct str input, const size_t *edges, size_t n_edges,
                     void (*play)(const void *ctx, struct str input, struct split split),
                     const void *ctx);

/* Takes the next piece from the front of @input; false when nothing is left. */
bool split_next(struct split *split, struct str *input, struct str *ret_piece);

#endif
