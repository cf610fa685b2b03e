#include "split.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

enum {
    SMALL = 16 * 1024,
    NEAR = 8,
    BY_CHANCE = 2000,
    SEED = 20261115,
};

/* Marks the places at which a large input is cut. */
static void choose_cuts(size_t len, const size_t *edges, size_t n_edges, bool *cut_at)
{
    struct rng rng = {SEED};
    for (size_t i = 0; i < n_edges; i++)
        for (size_t at = edges[i] < NEAR ? 1 : edges[i] - NEAR; at <= edges[i] + NEAR; at++)
            if (at && at < len)
                cut_at[at] = true;
    for (int i = 0; i < BY_CHANCE; i++)
        cut_at[1 + rng_below(&rng, len - 1)] = true;
}

void split_each_near(struct str input, const size_t *edges, size_t n_edges,
                     void (*play)(const void *ctx, struct str input, struct split split),
                     const void *ctx)
{
    bool *cut_at = xcalloc(input.len + 1, sizeof(*cut_at)), all = input.len <= SMALL;
    if (!all)
        choose_cuts(input.len, edges, n_edges, cut_at);
    play(ctx, input, (struct split){0, 0});
    for (size_t at = 1; at < input.len; at++)
        if (all || cut_at[at])
            play(ctx, input, (struct split){at, 0});
    play(ctx, input, (struct split){1, 1});
    free(cut_at);
}

void split_each(struct str input,
                void (*play)(const void *ctx, struct str input, struct split split),
                const void *ctx)
{
    size_t *lines = xcalloc(input.len + 1, sizeof(*lines)), n = 0;
    for (size_t i = 0; i < input.len; i++)
        if (input.at[i] == '\n')
            lines[n++] = i;
    split_each_near(input, lines, n, play, ctx);
    free(lines);
}

bool split_next(struct split *split, struct str *input, struct str *ret_piece)
{
    size_t len = split->first ? split->first : split->piece;
    if (!input->len)
        return false;
    if (!len || len > input->len)
        len = input->len;
    *ret_piece = (struct str){input->at, len};
    input->at += len;
    input->len -= len;
    split->first = 0;
    return true;
}
